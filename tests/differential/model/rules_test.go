package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func withoutMilestones(p *NegotiationParams) {
	p.Arbiter, p.MilestoneBps, p.MilestoneDeadline, p.ReviewHours = Address{}, [8]uint16{}, 0, 0
}

func withZopa(p *NegotiationParams) { p.ZopaEnabled = true }

func TestFeeAboveTheMaximumIsStale(t *testing.T) {
	f := newFixture(t, nil)
	create := &CreateNegotiation{Buyer: f.buyer, Seller: f.seller,
		Negotiation: NegotiationAddress(f.buyer, f.seller, 8), BuyerTokenAccount: f.tokens[Buyer],
		TokenMint: f.mint, Config: ConfigAddress(), TokenProgram: tokenProgram, SystemProgram: systemProgram,
		SessionID: 8, Params: NegotiationParams{EscrowAmount: 100_000, MaxRounds: 1, ResponseWindow: 60,
			GlobalDeadline: start + 60, MinOfferBps: 100, MaxFeeBps: 49,
			Decimals: decimals}}
	create.EscrowVault = VaultAddress(create.Negotiation)
	f.play(StaleState, create)
	create.Params.MaxFeeBps = 65_535
	f.play(Success, create)
}

func TestDecimalsOtherThanTheMintsAreRefused(t *testing.T) {
	f := newFixture(t, nil)
	accept := &AcceptInvitation{Seller: f.seller, Negotiation: f.negotiation, EscrowVault: f.vault,
		SellerTokenAccount: f.tokens[Seller], TokenMint: f.mint, TokenProgram: tokenProgram,
		TermsHash: f.state().TermsHash(f.negotiation), Decimals: decimals - 1}
	f.play(StaleState, accept)
	accept.Decimals, accept.TokenMint = decimals, ProgramID
	f.play(ConstraintHasOne, accept)
	accept.TokenMint = f.mint
	f.play(Success, accept)

	create := &CreateNegotiation{Buyer: f.buyer, Seller: f.seller,
		Negotiation: NegotiationAddress(f.buyer, f.seller, 8), BuyerTokenAccount: f.tokens[Buyer],
		TokenMint: f.mint, Config: ConfigAddress(), TokenProgram: tokenProgram, SystemProgram: systemProgram,
		SessionID: 8, Params: NegotiationParams{EscrowAmount: 100_000, MaxRounds: 1, ResponseWindow: 60,
			GlobalDeadline: start + 60, MinOfferBps: 100, MaxFeeBps: 50, Decimals: decimals + 1}}
	create.EscrowVault = VaultAddress(create.Negotiation)
	f.play(InvalidParams, create)
	create.Params.Decimals = decimals
	f.play(Success, create)
}

func TestCreatedAtIsCheckedAfterThePartyAndBeforeTheTurn(t *testing.T) {
	f := newFixture(t, nil)
	f.join()
	offer := &SubmitOffer{Offerer: f.adversary, Negotiation: f.negotiation, CreatedAt: start + 1,
		Amount: 500_000}
	f.play(Unauthorized, offer)
	offer.Offerer = f.seller
	f.play(StaleState, offer)
	offer.CreatedAt = start
	f.play(NotYourTurn, offer)
	offer.Offerer = f.buyer
	f.play(Success, offer)
}

func TestCloseWaitsForTheNextSecond(t *testing.T) {
	f := newFixture(t, nil)
	f.play(Success, f.rejection(f.buyer, Address{}))
	f.play(InvalidState, f.closing(f.adversary))
	f.environment.Now++
	f.play(Success, f.closing(f.adversary))
}

func TestPayoutsToAccountsThatOthersControl(t *testing.T) {
	for _, offset := range []int{delegateOffset, closeAuthorityOffset} {
		f := newFixture(t, withoutMilestones)
		other := Address{11}
		f.openTokens(other, f.buyer, 0)
		f.setOption(other, offset, f.adversary)
		f.setOption(f.tokens[Buyer], offset, f.adversary)
		f.setOption(f.tokens[Seller], offset, f.buyer)
		f.join()
		f.play(Success, &SubmitOffer{Offerer: f.buyer, Negotiation: f.negotiation, CreatedAt: start,
			Amount: 500_000})
		f.play(ConstraintRaw, f.acceptance([2]Address{other, f.tokens[Seller]}))
		before := f.balance(f.tokens[Seller])
		f.play(Success, f.acceptance(f.tokens))
		require.Equal(t, [2]uint64{500_000, 0}, f.state().Claimable, "the buyer does not sign")
		require.Equal(t, before+497_500+1_001, f.balance(f.tokens[Seller]))

		f.environment.Now++
		f.play(PayoutPending, f.closing(f.adversary))
		f.play(PayoutPending, f.closing(f.buyer))
		f.openTokens(f.tokens[Buyer], f.buyer, 0)
		closing := f.closing(f.buyer)
		closing.TreasuryTokenAccount = Address{12}
		f.openTokens(closing.TreasuryTokenAccount, Address{8}, 0)
		f.setOption(closing.TreasuryTokenAccount, offset, f.adversary)
		f.play(PayoutPending, closing)
		f.openTokens(closing.TreasuryTokenAccount, Address{8}, 0)
		f.play(Success, closing)
	}
}

func TestAnUndeclaredSignerDoesNotAllowADelegate(t *testing.T) {
	f := newFixture(t, nil)
	f.agree()
	f.claim(0)
	f.setOption(f.tokens[Seller], delegateOffset, f.adversary)
	release := Encode(f.release(f.buyer, 0, f.tokens[Seller]))
	feePayer := release.Accounts[0]
	feePayer.PublicKey = f.seller
	release.Accounts = append(release.Accounts, feePayer)
	f.environment.Apply(Execute(f.environment, release))
	require.Equal(t, uint64(298_500), f.state().Claimable[Seller])

	f.claim(1)
	f.environment.Now += day
	f.play(Success, f.release(f.seller, 1, f.tokens[Seller]))
	require.Equal(t, uint64(298_500), f.state().Claimable[Seller], "the seller is the only signer")
}

func TestBondOfRefusedTranches(t *testing.T) {
	for name, c := range map[string]struct {
		sellerBps uint16
		toBuyer   uint64
		state     uint8
	}{
		"refused":   {0, 600, BondSplit}, // floor(1,001 * 60 %)
		"split":     {5_000, 300, BondSplit},
		"confirmed": {10_000, 0, BondReturned},
	} {
		f := newFixture(t, nil)
		f.agree()
		f.claim(0)
		f.dispute(0)
		f.play(Success, f.resolution(0, c.sellerBps))
		f.claim(1)
		release := f.release(f.buyer, 1, f.tokens[Seller])
		if c.toBuyer > 0 {
			f.play(AccountNotEnoughKeys, release)
		}
		release.BuyerTokenAccount = f.tokens[Buyer]
		before := f.balance(f.tokens[Buyer])
		events := f.play(Success, release)
		require.Equal(t, c.state, f.state().BondState, name)
		require.Equal(t, before+c.toBuyer, f.balance(f.tokens[Buyer]), name)
		if c.toBuyer > 0 {
			require.Equal(t, []string{"MilestoneReleased", "NegotiationSettled", "BondSettled",
				"BondSettled"}, events, name)
		}
	}
}

func TestASilentArbiterCostsNoBond(t *testing.T) {
	f := newFixture(t, nil)
	f.agree()
	f.claim(0)
	f.dispute(0)
	f.claim(1)
	f.dispute(1)
	f.environment.Now = start + 101*day - 1
	f.play(InvalidState, f.deadlineSettlement())
	f.environment.Now++
	f.play(Expired, f.resolution(0, 0))
	f.play(Success, f.deadlineSettlement())
	require.Equal(t, BondReturned, f.state().BondState)
	require.Equal(t, uint64(250_000), f.state().PaidGross)
}

func TestSettleByAgreement(t *testing.T) {
	f := newFixture(t, nil)
	f.agree()
	f.claim(0)
	f.play(Success, f.release(f.buyer, 0, f.tokens[Seller]))
	for name, c := range map[string]struct {
		change func(*SettleByAgreement)
		code   Code
	}{
		"seller share above 100 %": {func(a *SettleByAgreement) { a.SellerBps = 10_001 }, InvalidParams},
		"bond share above 100 %":   {func(a *SettleByAgreement) { a.BondToBuyerBps = 10_001 }, InvalidParams},
		"no longer valid": {func(a *SettleByAgreement) { a.ValidUntil = f.environment.Now },
			Expired},
		"other negotiation": {func(a *SettleByAgreement) { a.CreatedAt-- }, StaleState},
		"other decisions":   {func(a *SettleByAgreement) { a.ExpectedDecided = 0 }, StaleState},
		"other seller":      {func(a *SettleByAgreement) { a.Seller = f.adversary }, ConstraintHasOne},
		"parties exchanged": {func(a *SettleByAgreement) { a.Buyer, a.Seller = f.seller, f.buyer },
			ConstraintHasOne},
		"late, and another deal": {func(a *SettleByAgreement) {
			a.CreatedAt, a.ValidUntil = 0, 0
		}, Expired},
	} {
		a := f.agreement(5_000, 1)
		c.change(a)
		require.Equal(t, c.code, Execute(f.environment, Encode(a)).Code, name)
	}

	f.environment.Now = start + 200*day
	f.setOption(f.tokens[Buyer], delegateOffset, f.adversary)
	before := [2]uint64{f.balance(f.tokens[Buyer]), f.balance(f.tokens[Seller])}
	events := f.play(Success, f.agreement(3_333, 2_500))
	require.Equal(t, []string{"AgreementSettled", "NegotiationSettled", "BondSettled", "BondSettled",
		"PayoutRecorded"}, events)
	n := f.state()
	require.Equal(t, []any{StatusSettled, uint8(3), BondSplit, uint64(300_000 + 66_660)},
		[]any{n.Status, n.MilestonesDecided, n.BondState, n.PaidGross})
	// The fee is 50 bps of 366,660, including 1,500 paid with the first tranche.
	require.Equal(t, before[Buyer], f.balance(f.tokens[Buyer]),
		"an account with a delegate is not paid if both parties sign")
	require.Equal(t, [2]uint64{133_340 + 250, 0}, n.Claimable)
	require.Equal(t, before[Seller]+66_660-333+751, f.balance(f.tokens[Seller]))
	f.play(InvalidState, f.agreement(0, 0))
}

func TestAnAgreementWithoutABond(t *testing.T) {
	f := newFixture(t, func(p *NegotiationParams) { p.BondRequired = 0 })
	f.play(InvalidState, f.agreement(0, 0))
	f.agree()
	f.play(InvalidState, f.agreement(0, 1))
	require.Equal(t, []string{"AgreementSettled", "NegotiationSettled"}, f.play(Success, f.agreement(0, 0)))
	require.Equal(t, BondNone, f.state().BondState)
}

// zopa plays accept_invitation, both commitments and both reveals.
func (f *fixture) zopa(prices [2]uint64) {
	f.join()
	var nonce [32]byte
	for side, party := range []Address{f.buyer, f.seller} {
		commitment := Commitment(f.negotiation, start, party, prices[side], nonce)
		f.play(Success, &SubmitZopaCommitment{Agent: party, Negotiation: f.negotiation, CreatedAt: start,
			Commitment: commitment})
	}
	for side, party := range []Address{f.buyer, f.seller} {
		f.play(Success, &RevealZopaPrice{Agent: party, Negotiation: f.negotiation, CreatedAt: start,
			Price: prices[side], Nonce: nonce})
	}
}

func TestARejectingSellerNamesItsAccountBeforeTheDeposit(t *testing.T) {
	f := newFixture(t, nil)
	f.play(AccountNotEnoughKeys, f.rejection(f.seller, Address{}))
	f.play(Success, f.rejection(f.seller, f.tokens[Seller]))

	f = newFixture(t, nil)
	f.play(Success, f.rejection(f.buyer, Address{}))

	f = newFixture(t, func(p *NegotiationParams) { p.BondRequired = 0 })
	f.play(Success, f.rejection(f.seller, Address{}))
}

func TestRejectingTheMidpointForfeitsTheSellersBond(t *testing.T) {
	f := newFixture(t, withZopa)
	f.zopa([2]uint64{600_000, 400_000})
	f.play(StaleState, f.rejection(f.seller, f.tokens[Seller]))
	f.play(Success, f.rejection(f.seller, Address{}))
	require.Equal(t, BondForfeited, f.state().BondState)

	f = newFixture(t, withZopa)
	f.zopa([2]uint64{600_000, 400_000})
	f.play(Success, f.rejection(f.buyer, f.tokens[Seller]))
	require.Equal(t, BondReturned, f.state().BondState)

	f = newFixture(t, withZopa)
	f.zopa([2]uint64{600_000, 400_000})
	f.play(Success, &SubmitOffer{Offerer: f.buyer, Negotiation: f.negotiation, CreatedAt: start,
		Amount: 500_000})
	f.play(Success, f.rejection(f.seller, f.tokens[Seller]))
	require.Equal(t, BondReturned, f.state().BondState)
}

func TestRangeOfRevealedPrices(t *testing.T) {
	f := newFixture(t, withZopa)
	f.join()
	for _, party := range []Address{f.buyer, f.seller} {
		f.play(Success, &SubmitZopaCommitment{Agent: party, Negotiation: f.negotiation, CreatedAt: start,
			Commitment: Commitment(f.negotiation, start, party, 100_000, [32]byte{})})
	}
	reveal := &RevealZopaPrice{Agent: f.buyer, Negotiation: f.negotiation, CreatedAt: start, Price: 99_999}
	f.play(InvalidParams, reveal)
	reveal.Price = 1_000_001
	f.play(InvalidParams, reveal)
	reveal.Price = 100_001
	f.play(ZopaCommitmentMismatch, reveal)
	reveal.Price = 100_000
	f.play(Success, reveal)
}
