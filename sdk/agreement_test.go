package haggle

import (
	"testing"
	"time"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// agreeing is a pair of parties that have agreed on a price of 1,000,001 in three milestones, the first of
// which is paid.
type agreeing struct {
	*agent
	seller *wallet.Keypair
	n      *Snapshot
}

func newAgreeing(t *testing.T) *agreeing {
	t.Helper()
	s := &agreeing{agent: newAgent(t, nil), seller: newKeypair(t), n: comparing(t)}
	s.n.Buyer, s.n.Seller = s.me.PublicKey(), s.seller.PublicKey()
	s.n.ZopaEnabled, s.n.ZopaPhase, s.n.Status = false, protocol.ZopaPhaseSkipped, protocol.NegotiationStatusAccepted
	s.n.SettledAmount, s.n.MilestoneBps, s.n.ReviewHours = 1_000_001, [8]uint16{3_333, 3_333, 3_334}, 1
	s.n.MilestonesClaimed, s.n.MilestonesDecided, s.n.PaidGross = 1, 1, 333_300
	s.n.ProtocolFeeBps, s.n.BondRequired = 50, 101
	s.node.accounts = map[solana.PublicKey]any{
		s.n.Address:              negotiationAnswer(s.n),
		keptMint:                 storedAccount(solana.TokenProgramID, mintData()),
		solana.SysVarClockPubkey: clockAt(testNow),
	}
	return s
}

// prepare builds the transaction that the buyer pays for and signs.
func (s *agreeing) prepare(t *testing.T, change func(*Split)) *solana.Transaction {
	t.Helper()
	split := Split{SellerBps: 5_000, BondToBuyerBps: 2_500}
	if change != nil {
		change(&split)
	}
	tx, err := s.At(s.n).SettleByAgreement(solana.PublicKey{}, split).Transaction(t.Context())
	require.NoError(t, err)
	require.NoError(t, SignTransaction(t.Context(), tx, s.me))
	return tx
}

func TestAgreementTakesTheDealFromTheSnapshot(t *testing.T) {
	s := newAgreeing(t)
	action, err := s.At(s.n).SettleByAgreement(solana.PublicKey{},
		Split{SellerBps: 5_000, BondToBuyerBps: 2_500, ValidFor: time.Minute}).Build(t.Context())
	require.NoError(t, err)
	mint := &token.Mint{Address: keptMint, TokenProgram: solana.TokenProgramID}
	buyers, err := mint.AssociatedAddress(s.n.Buyer)
	require.NoError(t, err)
	sellers, err := mint.AssociatedAddress(s.n.Seller)
	require.NoError(t, err)
	assert.Equal(t, protocol.SettleByAgreement{
		Buyer: s.n.Buyer, Seller: s.n.Seller, Negotiation: s.n.Address, EscrowVault: vaultOf(t, s.n),
		BuyerTokenAccount:  buyers,
		SellerTokenAccount: sellers, TokenMint: keptMint, TokenProgram: solana.TokenProgramID,
		CreatedAt:       s.n.CreatedAt,
		ExpectedDecided: 1, ValidUntil: testNow + 60, SellerBps: 5_000, BondToBuyerBps: 2_500,
	}, lastInstruction[protocol.SettleByAgreement](t, action))
	assert.Equal(t, s.n.Buyer, action.Payer)
	assert.Len(t, action.Instructions, 2, "the payer's account, which is missing, is created")
	assert.Equal(t, precondition{created: &s.n.CreatedAt, stage: new(protocol.StageAgreed),
		decided: new(uint8(1))}, action.precondition)

	_, err = s.At(s.n).SettleByAgreement(solana.PublicKey{}, Split{ValidFor: -1}).Build(t.Context())
	require.ErrorContains(t, err, "ValidFor")
}

func TestAgreementAmounts(t *testing.T) {
	n := newAgreeing(t).n
	assert.Equal(t, protocol.AgreementAmounts{
		ToSeller: 333_350 - 1_667, Fee: 1_667, ToBuyer: 333_351, BondToBuyer: 25, BondToSeller: 76,
	}, n.AgreementAmounts(5_000, 2_500))
	assert.Equal(t, protocol.AgreementAmounts{ToBuyer: 666_701, BondToSeller: 101}, n.AgreementAmounts(0, 0))
	assert.Equal(t, protocol.AgreementAmounts{ToSeller: 666_701 - 3_334, Fee: 3_334, BondToBuyer: 101},
		n.AgreementAmounts(10_000, 10_000))
	n.BondState = protocol.BondStateForfeited
	assert.Zero(t, n.AgreementAmounts(0, 10_000).BondToBuyer)
}

func TestAgreementIsCompletedByTheOtherParty(t *testing.T) {
	s := newAgreeing(t)
	s.node.answers["getSignatureStatuses"] = executed(testSlot)
	tx := s.prepare(t, nil)
	encoded, err := tx.ToBase64()
	require.NoError(t, err)
	read, err := solana.TransactionFromBase64(encoded)
	require.NoError(t, err)

	agreement, err := s.ReviewAgreement(t.Context(), read, s.seller.PublicKey())
	require.NoError(t, err)
	assert.EqualValues(t, 5_000, agreement.Terms.SellerBps)
	assert.Equal(t, s.n.AgreementAmounts(5_000, 2_500), agreement.Amounts)
	require.ErrorIs(t, SignTransaction(t.Context(), read, newKeypair(t)), transaction.ErrNotASigner)
	_, err = s.Submit(t.Context(), read)
	require.Error(t, err, "the seller has not signed")
	require.NoError(t, SignTransaction(t.Context(), read, s.seller))
	_, err = s.Submit(t.Context(), read)
	require.NoError(t, err)
}

func TestReviewAgreementRefusesOtherTransactions(t *testing.T) {
	s := newAgreeing(t)
	review := func(tx *solana.Transaction, signer solana.PublicKey) error {
		_, err := s.ReviewAgreement(t.Context(), tx, signer)
		return err
	}
	seller := s.seller.PublicKey()
	require.NoError(t, review(s.prepare(t, nil), seller))
	require.ErrorIs(t, review(s.prepare(t, nil), s.n.Buyer), ErrAgreement,
		"the party that pays the fee prepares the transaction")
	require.ErrorIs(t, review(s.prepare(t, nil), protocol.ProgramID), ErrAgreement)
	require.ErrorIs(t, review(new(solana.Transaction), seller), ErrAgreement)

	// with returns the transaction with an additional instruction.
	with := func(extra solana.Instruction) *solana.Transaction {
		action, err := s.At(s.n).SettleByAgreement(solana.PublicKey{}, Split{}).Build(t.Context())
		require.NoError(t, err)
		action.Instructions = append(action.Instructions, extra)
		tx, err := action.Transaction(t.Context())
		require.NoError(t, err)
		return tx
	}
	creation := func(payer solana.PublicKey) solana.Instruction {
		instruction, err := token.CreateAssociated(payer, protocol.ProgramID, keptMint, solana.TokenProgramID)
		require.NoError(t, err)
		return instruction
	}
	offer, err := s.At(s.n).SubmitOffer(seller, Offer{}).Build(t.Context())
	require.NoError(t, err)
	second, err := s.At(s.n).SettleByAgreement(solana.PublicKey{}, Split{}).Build(t.Context())
	require.NoError(t, err)
	require.NoError(t, review(with(creation(s.n.Buyer)), seller))
	for name, extra := range map[string]solana.Instruction{
		"a transfer":                         system.NewTransferInstruction(1, seller, s.n.Buyer).Build(),
		"an account at the signer's expense": creation(seller),
		"another instruction of the program": offer.Instructions[0],
		"a second agreement":                 second.Instructions[len(second.Instructions)-1],
		"the signer's nonce": (&send.Nonce{Address: testNonce,
			Authority: seller}).Advance(),
		"a token instruction": solana.NewInstruction(solana.TokenProgramID, nil,
			[]byte{tokenCloseAccount}),
	} {
		require.ErrorIs(t, review(with(extra), seller), ErrAgreement, name)
	}
	bare, err := s.At(s.n).SettleByAgreement(solana.PublicKey{}, Split{}).Build(t.Context())
	require.NoError(t, err)
	bare.Instructions = bare.Instructions[len(bare.Instructions)-1:]
	tx, err := bare.Transaction(t.Context())
	require.NoError(t, err)
	require.NoError(t, review(tx, seller))
	require.ErrorContains(t, review(tx, tx.Message.AccountKeys[0]), "the fee payer is not the other party")
	damaged := s.prepare(t, nil)
	damaged.Message.Instructions[len(damaged.Message.Instructions)-1].Accounts[2] = 200
	require.ErrorIs(t, review(damaged, seller), ErrAgreement)

	prepared := s.prepare(t, nil)
	for name, c := range map[string]struct {
		change func(*protocol.Negotiation)
		want   error
	}{
		"another deal": {func(n *protocol.Negotiation) { n.CreatedAt++ }, protocol.ErrStaleState},
		"a decided milestone": {func(n *protocol.Negotiation) { n.MilestonesDecided = 0b11 },
			protocol.ErrStaleState},
		"settled": {func(n *protocol.Negotiation) { n.Status = protocol.NegotiationStatusSettled }, protocol.ErrInvalidState},
		"no bond": {func(n *protocol.Negotiation) { n.BondState = protocol.BondStateForfeited },
			protocol.ErrInvalidState},
		"another seller": {func(n *protocol.Negotiation) { n.Seller = protocol.ProgramID },
			ErrAgreement},
	} {
		now := *s.n
		c.change(&now.Negotiation)
		s.node.accounts[s.n.Address] = negotiationAnswer(&now)
		require.ErrorIs(t, review(prepared, seller), c.want, name)
	}
	s.node.accounts[s.n.Address] = negotiationAnswer(s.n)
	s.node.accounts[solana.SysVarClockPubkey] = clockAt(testNow + 3_600)
	require.ErrorIs(t, review(prepared, seller), protocol.ErrExpired)
}
