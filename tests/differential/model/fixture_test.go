package model

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// fixture is an environment with one negotiation: escrow 1,000,000, fee 50 bps, bond 1,001, ZOPA disabled,
// two milestones of 60 % and 40 %.
type fixture struct {
	*testing.T
	environment                       *Environment
	buyer, seller, arbiter, adversary Address
	negotiation, vault, mint          Address
	tokens                            [2]Address // The parties' associated token accounts.
}

const (
	start    = 1_000_000
	decimals = 6
)

func newFixture(t *testing.T, change func(*NegotiationParams)) *fixture {
	f := &fixture{T: t, buyer: Address{1}, seller: Address{2}, arbiter: Address{3}, adversary: Address{4}}
	f.mint = Address{5}
	mint := make([]byte, mintSize)
	mint[mintDecimalsOffset], mint[mintInitializedOffset] = decimals, 1
	config := &Config{Authority: Address{9}, Treasury: Address{8}, DefaultProtocolFeeBps: 50,
		Bump: configPDA.bump}
	f.environment = &Environment{Now: start, Rent: Rent{Empty: 10, PerByte: 1}, Accounts: map[Address]Account{
		f.buyer:         {Lamports: 1_000_000},
		ConfigAddress(): {Lamports: 1, Owner: ProgramID, Data: config.Bytes()},
		f.mint:          {Lamports: 1, Owner: tokenProgram, Data: mint},
	}}
	for side, party := range []Address{f.buyer, f.seller} {
		f.tokens[side] = AssociatedAddress(party, tokenProgram, f.mint)
		f.openTokens(f.tokens[side], party, 2_000_000)
	}
	f.negotiation = NegotiationAddress(f.buyer, f.seller, 7)
	f.vault = VaultAddress(f.negotiation)
	params := NegotiationParams{EscrowAmount: 1_000_000, MaxRounds: 5, ResponseWindow: 600,
		GlobalDeadline: start + 3_600, MinOfferBps: 1_000, BondRequired: 1_001, Arbiter: f.arbiter,
		MilestoneBps: [8]uint16{6_000, 4_000}, MilestoneDeadline: start + 100*day, ReviewHours: 24,
		MaxFeeBps: 50, Decimals: decimals}
	if change != nil {
		change(&params)
	}
	f.play(Success, &CreateNegotiation{Buyer: f.buyer, Seller: f.seller, Negotiation: f.negotiation,
		EscrowVault: f.vault, BuyerTokenAccount: f.tokens[Buyer], TokenMint: f.mint, Config: ConfigAddress(),
		TokenProgram: tokenProgram, SystemProgram: systemProgram, SessionID: 7, Params: params})
	return f
}

// openTokens adds an owner's token account.
func (f *fixture) openTokens(address, owner Address, amount uint64) {
	data := withUint64(newTokenAccount(f.mint, owner, 0, 0), amountOffset, amount)
	f.environment.Accounts[address] = Account{Lamports: 1, Owner: tokenProgram, Data: data}
}

// setOption sets a token account's delegate or close authority.
func (f *fixture) setOption(address Address, offset int, authority Address) {
	account := f.environment.Accounts[address]
	data := append([]byte(nil), account.Data...)
	data[offset] = 1
	copy(data[offset+4:], authority[:])
	account.Data = data
	f.environment.Accounts[address] = account
}

// play executes an instruction, checks the code, applies all changes and returns event names.
func (f *fixture) play(code Code, instruction AnyInstruction) []string {
	f.Helper()
	result := Execute(f.environment, Encode(instruction))
	require.Equal(f, code, result.Code)
	f.environment.Apply(result)
	var names []string
	for _, event := range result.Events {
		names = append(names, event.Name)
	}
	return names
}

func (f *fixture) state() *Negotiation {
	n, ok := ReadNegotiation(f.environment.Accounts[f.negotiation].Data)
	require.True(f, ok)
	return n
}

func (f *fixture) balance(address Address) uint64 {
	t, _ := ReadTokenAccount(f.environment.Accounts[address])
	return t.Amount
}

// join plays accept_invitation.
func (f *fixture) join() {
	f.play(Success, &AcceptInvitation{Seller: f.seller, Negotiation: f.negotiation, EscrowVault: f.vault,
		SellerTokenAccount: f.tokens[Seller], TokenMint: f.mint, TokenProgram: tokenProgram,
		TermsHash: f.state().TermsHash(f.negotiation), Decimals: decimals})
}

// agree plays accept_invitation, an offer of 500,000 and accept_offer.
func (f *fixture) agree() {
	f.join()
	f.play(Success, &SubmitOffer{Offerer: f.buyer, Negotiation: f.negotiation, CreatedAt: start,
		Amount: 500_000})
	f.play(Success, f.acceptance(f.tokens))
}

func (f *fixture) acceptance(tokens [2]Address) *AcceptOffer {
	return &AcceptOffer{Acceptor: f.seller, Negotiation: f.negotiation, EscrowVault: f.vault,
		BuyerTokenAccount: tokens[Buyer], SellerTokenAccount: tokens[Seller], TokenMint: f.mint,
		TokenProgram: tokenProgram, CreatedAt: start, ExpectedRound: 1, ExpectedAmount: 500_000}
}

func (f *fixture) rejection(rejector, sellerTokens Address) *RejectNegotiation {
	return &RejectNegotiation{Rejector: rejector, Negotiation: f.negotiation, EscrowVault: f.vault,
		BuyerTokenAccount: f.tokens[Buyer], SellerTokenAccount: sellerTokens, TokenMint: f.mint,
		TokenProgram: tokenProgram, CreatedAt: start, ExpectedRound: f.state().CurrentRound}
}

func (f *fixture) closing(closer Address) *CloseNegotiation {
	return &CloseNegotiation{Closer: closer, Negotiation: f.negotiation, EscrowVault: f.vault,
		Config: ConfigAddress(), Buyer: f.buyer, BuyerTokenAccount: f.tokens[Buyer],
		SellerTokenAccount: f.tokens[Seller], TokenMint: f.mint, TokenProgram: tokenProgram}
}

func (f *fixture) claim(index uint8) {
	f.play(Success, &ClaimMilestone{Seller: f.seller, Negotiation: f.negotiation, CreatedAt: start,
		Index: index})
}

func (f *fixture) dispute(index uint8) {
	f.play(Success, &DisputeMilestone{Buyer: f.buyer, Negotiation: f.negotiation, CreatedAt: start,
		Index: index})
}

func (f *fixture) release(releaser Address, index uint8, tokens Address) *ReleaseMilestone {
	return &ReleaseMilestone{Releaser: releaser, Negotiation: f.negotiation, EscrowVault: f.vault,
		SellerTokenAccount: tokens, TokenMint: f.mint, TokenProgram: tokenProgram, CreatedAt: start,
		Index: index}
}

func (f *fixture) resolution(index uint8, sellerBps uint16) *ResolveDispute {
	return &ResolveDispute{Arbiter: f.arbiter, Negotiation: f.negotiation, EscrowVault: f.vault,
		BuyerTokenAccount: f.tokens[Buyer], SellerTokenAccount: f.tokens[Seller], TokenMint: f.mint,
		TokenProgram: tokenProgram, CreatedAt: start, Index: index, SellerBps: sellerBps}
}

func (f *fixture) deadlineSettlement() *SettleDeadline {
	return &SettleDeadline{Negotiation: f.negotiation, EscrowVault: f.vault,
		BuyerTokenAccount: f.tokens[Buyer], SellerTokenAccount: f.tokens[Seller], TokenMint: f.mint,
		TokenProgram: tokenProgram}
}

func (f *fixture) agreement(sellerBps, bondToBuyerBps uint16) *SettleByAgreement {
	return &SettleByAgreement{Buyer: f.buyer, Seller: f.seller, Negotiation: f.negotiation,
		EscrowVault: f.vault, BuyerTokenAccount: f.tokens[Buyer], SellerTokenAccount: f.tokens[Seller],
		TokenMint: f.mint, TokenProgram: tokenProgram, CreatedAt: start,
		ExpectedDecided: f.state().MilestonesDecided, ValidUntil: f.environment.Now + 1, SellerBps: sellerBps,
		BondToBuyerBps: bondToBuyerBps}
}
