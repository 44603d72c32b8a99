package scenarios

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/journal"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Everything that an agent sends is in its journal, a dry run says what it will cost, and a durable nonce carries a transaction.
func TestSendingWithAJournal(t *testing.T) {
	scenario(t, "sending_with_a_journal", func(s *stage) {
		book, err := journal.Open(filepath.Join(s.t.TempDir(), "journal"))
		require.NoError(s.t, err)
		defer func() { require.NoError(s.t, book.Close()) }()
		client, err := haggle.NewClient(haggle.Config{Endpoint: s.venue.RPCURL, WSEndpoint: s.venue.WSURL, Journal: book})
		require.NoError(s.t, err)
		defer func() { require.NoError(s.t, client.Close()) }()

		create, err := client.CreateNegotiation(s.ctx, s.terms())
		require.NoError(s.t, err)
		before := s.lamports(s.buyer.PublicKey())
		run, err := create.Simulate(s.ctx)
		require.NoError(s.t, err)
		receipt, err := create.Do(s.ctx, s.buyer)
		require.NoError(s.t, err)
		require.Equal(s.t, run.Fee, receipt.Fee)
		require.InDelta(s.t, run.ComputeUnits, receipt.ComputeUnits, 300)
		require.Len(s.t, run.Events, len(receipt.Events))
		changed := make(map[solana.PublicKey]haggle.BalanceChange)
		for _, change := range run.Changes {
			changed[change.Account] = change
		}
		payer, vault := changed[s.buyer.PublicKey()], changed[create.Vault]
		require.EqualValues(s.t, s.lamports(s.buyer.PublicKey()), payer.LamportsAfter)
		require.EqualValues(s.t, before, payer.LamportsBefore)
		require.EqualValues(s.t, fiveTokens, vault.Tokens.After)
		_, err = create.Do(s.ctx, s.buyer)
		require.ErrorIs(s.t, err, haggle.ErrAlreadyDone)

		nonce, err := client.CreateNonce(s.ctx, haggle.CreateNonceRequest{Payer: s.buyer.PublicKey(), Seed: "offers"})
		require.NoError(s.t, err)
		_, err = nonce.Do(s.ctx, s.buyer)
		require.NoError(s.t, err)
		address, err := haggle.NonceAddress(s.buyer.PublicKey(), "offers")
		require.NoError(s.t, err)
		first, err := client.GetNonce(s.ctx, address)
		require.NoError(s.t, err)

		d := s.dealOf(create)
		s.do(d.takePart(s.seller))
		seen, err := client.GetNegotiation(s.ctx, create.Negotiation)
		require.NoError(s.t, err)
		offer, err := client.Offer(s.ctx, haggle.OfferRequest{Offerer: s.buyer.PublicKey(), Seen: seen, Amount: 2_000_000})
		require.NoError(s.t, err)
		receipt, err = offer.With(haggle.WithNonce(address)).Do(s.ctx, s.buyer)
		require.NoError(s.t, err)
		require.Len(s.t, receipt.Events, 1)
		second, err := client.GetNonce(s.ctx, address)
		require.NoError(s.t, err)
		require.NotEqual(s.t, first.Value, second.Value)
		_, err = offer.Do(s.ctx, s.buyer)
		require.ErrorIs(s.t, err, haggle.ErrAlreadyDone)
		offer, err = client.Offer(s.ctx, haggle.OfferRequest{Offerer: s.buyer.PublicKey(), Seen: seen, Amount: 2_100_000})
		require.NoError(s.t, err)
		_, err = offer.Do(s.ctx, s.buyer)
		require.ErrorIs(s.t, err, protocol.ErrStaleState)

		// A process is killed between writing down a transaction and sending it. Whoever comes after it uses the nonce up, and then
		// it is certain that nothing has come of the transaction and that nothing will.
		reject, err := client.Reject(s.ctx, haggle.RejectRequest{Rejector: s.buyer.PublicKey(), Negotiation: create.Negotiation})
		require.NoError(s.t, err)
		late, err := reject.With(haggle.WithNonce(address)).Transaction(s.ctx)
		require.NoError(s.t, err)
		_, err = late.Sign(func(solana.PublicKey) *solana.PrivateKey { return &s.buyer.private })
		require.NoError(s.t, err)
		encoded, err := late.MarshalBinary()
		require.NoError(s.t, err)
		require.NoError(s.t, book.Begin(s.ctx, haggle.JournalEntry{
			Wallet: s.buyer.PublicKey(), Action: reject.Name, Signature: late.Signatures[0], Blockhash: second.Value, Nonce: address,
			Slot: second.Slot, Transaction: encoded, Begun: time.Now(),
		}))
		advance, err := s.venue.client.AdvanceNonce(s.ctx, second)
		require.NoError(s.t, err)
		_, err = advance.With(haggle.WithCommitment(rpc.CommitmentFinalized)).Do(s.ctx, s.buyer)
		require.NoError(s.t, err)
		recovered, err := client.Recover(s.ctx, s.buyer.PublicKey())
		require.NoError(s.t, err)
		require.Len(s.t, recovered, 1)
		require.Equal(s.t, haggle.OutcomeExpired, recovered[0].Outcome)

		// Who is given such a transaction without knowing how old it is knows less: it may have used the nonce up itself, before the
		// first block that the node has. It is not sent, and does not keep the wallet from anything.
		_, err = client.Submit(s.ctx, late)
		require.Contains(s.t, []haggle.Outcome{haggle.OutcomeExpired, haggle.OutcomeUnknown}, haggle.OutcomeOf(err), "%v", err)

		third, err := client.GetNonce(s.ctx, address)
		require.NoError(s.t, err)
		closing, err := client.CloseNonce(s.ctx, third, s.buyer.PublicKey())
		require.NoError(s.t, err)
		_, err = closing.Do(s.ctx, s.buyer)
		require.NoError(s.t, err)
		_, err = client.GetNonce(s.ctx, address)
		require.ErrorIs(s.t, err, haggle.ErrAccountNotFound)

		left, err := client.Recover(s.ctx, s.buyer.PublicKey())
		require.NoError(s.t, err)
		require.Empty(s.t, left)
		d.offers(3_000_000)
		s.do(d.accept(s.buyer))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 1_802_000, seller: 2_985_000, treasury: 15_000 + 198_000})
	})
}
