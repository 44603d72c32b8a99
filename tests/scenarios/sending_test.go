package scenarios

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// The journal contains every transaction sent by an agent, a dry run reports the cost, and a durable nonce
// extends the lifetime.
func TestSendingWithAJournal(t *testing.T) {
	scenario(t, "sending_with_a_journal", func(s *fixture) {
		book, err := sqlite.Open(s.ctx, filepath.Join(s.t.TempDir(), "state.db"))
		require.NoError(s.t, err)
		defer func() { require.NoError(s.t, book.Close()) }()
		client, err := haggle.NewClient(haggle.Config{Endpoint: s.venue.RPCURL(), WSEndpoint: s.venue.WSURL(), Journal: book})
		require.NoError(s.t, err)
		defer func() { require.NoError(s.t, client.Close()) }()

		create, err := client.CreateNegotiation(s.terms()).Build(s.ctx)
		require.NoError(s.t, err)
		before := s.lamports(s.buyer.PublicKey())
		run, err := create.Simulate(s.ctx)
		require.NoError(s.t, err)
		receipt, err := create.Do(s.ctx, s.buyer)
		require.NoError(s.t, err)
		require.Equal(s.t, run.Fee, receipt.Fee)
		require.InDelta(s.t, run.ComputeUnits, receipt.ComputeUnits, 300)
		require.Len(s.t, run.Events, len(receipt.Events))
		changed := make(map[solana.PublicKey]transaction.BalanceChange)
		for _, change := range run.Changes {
			changed[change.Account] = change
		}
		payer, vault := changed[s.buyer.PublicKey()], changed[create.Creation.EscrowVault]
		require.EqualValues(s.t, s.lamports(s.buyer.PublicKey()), payer.LamportsAfter)
		require.EqualValues(s.t, before, payer.LamportsBefore)
		require.EqualValues(s.t, fiveTokens, vault.Tokens.After)
		_, err = create.Do(s.ctx, s.buyer)
		require.ErrorIs(s.t, err, haggle.ErrAlreadyDone)

		address := s.nonceOf(s.buyer, "offers")
		first, _ := s.nonceValue(address)

		d := s.dealOf(create)
		s.do(d.takePart(s.seller))
		seen, err := client.Negotiation(create.Negotiation).Snapshot(s.ctx)
		require.NoError(s.t, err)
		offer, err := client.At(seen).SubmitOffer(s.buyer.PublicKey(), haggle.Offer{Amount: 2_000_000}).Build(s.ctx)
		require.NoError(s.t, err)
		receipt, err = offer.With(haggle.WithNonce(address)).Do(s.ctx, s.buyer)
		require.NoError(s.t, err)
		require.Len(s.t, receipt.Events, 1)
		second, slot := s.nonceValue(address)
		require.NotEqual(s.t, first, second)
		_, err = offer.Do(s.ctx, s.buyer)
		require.ErrorIs(s.t, err, haggle.ErrAlreadyDone)
		offer, err = client.At(seen).SubmitOffer(s.buyer.PublicKey(), haggle.Offer{Amount: 2_100_000}).Build(s.ctx)
		require.NoError(s.t, err)
		_, err = offer.Do(s.ctx, s.buyer)
		require.ErrorIs(s.t, err, protocol.ErrStaleState)

		// The first process is killed between the authorization in the journal and the sending. The successor
		// advances the nonce; then it is certain that the transaction was not executed and cannot be.
		reject, err := client.Negotiation(create.Negotiation).Reject(s.buyer.PublicKey()).Build(s.ctx)
		require.NoError(s.t, err)
		late, err := reject.With(haggle.WithNonce(address)).Transaction(s.ctx)
		require.NoError(s.t, err)
		_, err = late.Sign(func(solana.PublicKey) *solana.PrivateKey { return &s.buyer.private })
		require.NoError(s.t, err)
		encoded, err := late.MarshalBinary()
		require.NoError(s.t, err)
		killed := book.OpenJournal()
		require.NoError(s.t, killed.Begin(s.ctx, haggle.JournalEntry{
			Wallet: s.buyer.PublicKey(), Action: reject.Name, Signature: late.Signatures[0], Blockhash: second, Nonce: address,
			Slot: slot, Transaction: encoded, Begun: time.Now(),
		}))
		require.NoError(s.t, killed.Authorize(s.ctx, late.Signatures[0]))
		require.NoError(s.t, killed.Close())
		advance := s.venue.client.NewAction("advance_nonce_account", s.buyer.PublicKey(), system.NewAdvanceNonceAccountInstruction(
			address, solana.SysVarRecentBlockHashesPubkey, s.buyer.PublicKey()).Build())
		_, err = advance.With(haggle.WithCommitment(rpc.CommitmentFinalized)).Do(s.ctx, s.buyer)
		require.NoError(s.t, err)
		recovered, err := client.Recover(s.ctx, s.buyer.PublicKey())
		require.NoError(s.t, err)
		require.Len(s.t, recovered, 1)
		require.Equal(s.t, transaction.Expired, recovered[0].Outcome)

		// If a client receives such a transaction but not the age, it cannot be certain: the transaction may
		// have advanced the nonce itself, before the first block known to the node. It is not sent, and does
		// not block the wallet.
		_, err = client.Submit(s.ctx, late)
		require.Contains(s.t, []transaction.Outcome{transaction.Expired, transaction.Unknown}, transaction.OutcomeOf(err), "%v", err)

		left, err := client.Recover(s.ctx, s.buyer.PublicKey())
		require.NoError(s.t, err)
		require.Empty(s.t, left)
		d.offers(3_000_000)
		s.do(d.accept(s.buyer))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 1_802_000, seller: 2_985_000, treasury: 15_000 + 198_000})
	})
}
