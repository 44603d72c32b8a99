package policy_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// asking returns a stage that needs approval for everything, and an approval counter. The wallet is the buyer
// in sessions 1 and 2, and the seller in friend's session 3.
func asking(t *testing.T, change ...func(*policy.Config)) (s *stage, asked *int) {
	t.Helper()
	asked = new(int)
	memo := func(accounts []*solana.AccountMeta, data []byte) (policy.Decoded, error) {
		return policy.Decoded{Name: "memo.pay", Spends: []policy.Spend{
			{Mint: mint, Amount: 1_000, Counterparty: accounts[0].PublicKey},
		}}, nil
	}
	s = newStage(t, append([]func(*policy.Config){everythingAllowed, func(c *policy.Config) {
		c.Tokens[otherMint] = c.Tokens[mint]
		c.Decoders = map[solana.PublicKey]policy.Decoder{solana.MemoProgramID: memo}
		c.Approve = func(context.Context, *policy.Request) error { *asked++; return nil }
	}}, change...)...)
	require.NoError(t, s.sign(s.create(friend, 1, 1_000)))
	require.NoError(t, s.sign(s.create(friend, 2, 1_000)))
	address, terms := s.invitation(3, 0)
	s.config.Negotiations = chain{address: terms.Encode()}
	s.restart()
	require.NoError(t, s.sign(s.join(address, terms)))
	return s, asked
}

// An approval covers exactly the effects that were approved. It survives a new blockhash and a lower fee.
func TestApprovalBindsEveryEffect(t *testing.T) {
	type effects struct {
		offer    solana.Instruction
		pay      solana.Instruction
		lamports solana.Instruction
		rest     []solana.Instruction
		budget   []solana.Instruction
	}
	s, asked := asking(t)
	first, second, sold := s.negotiation(s.wallet(), friend, 1), s.negotiation(s.wallet(), friend, 2), s.negotiation(friend, s.wallet(), 3)
	pay := func(mint, to solana.PublicKey, amount uint64) solana.Instruction {
		return transferTokens(s.associated(s.wallet(), mint), mint, to, s.wallet(), amount)
	}
	memo := func(data byte) solana.Instruction {
		return solana.NewInstruction(solana.MemoProgramID, solana.AccountMetaSlice{solana.Meta(friend)}, []byte{data})
	}
	approved := func() effects {
		return effects{
			offer: s.offer(first, 0, 2_000), pay: pay(mint, friend, 2_000), lamports: transferLamports(s.wallet(), friend, 3_000),
			rest:   []solana.Instruction{memo(1), syncNative(s.associated(s.wallet(), solana.WrappedSol))},
			budget: []solana.Instruction{unitLimit(10_000), unitPrice(1_000_000)},
		}
	}
	message := func(e effects) []byte {
		return s.message(append(append(e.budget, e.offer, e.pay, e.lamports), e.rest...)...)
	}
	sign := func(e effects) (again bool) {
		t.Helper()
		*asked = 0
		require.NoError(t, s.signMessage(message(e)))
		return *asked > 0
	}
	require.True(t, sign(approved()))
	s.restart()
	for name, change := range map[string]func(*effects){
		"blockhash": func(*effects) {},
		"lower fee": func(e *effects) { e.budget[1] = unitPrice(500_000) },
		"no budget": func(e *effects) { e.budget = nil },
	} {
		retry := approved()
		change(&retry)
		require.False(t, sign(retry), name)
	}
	for name, change := range map[string]func(*effects){
		"price":                 func(e *effects) { e.offer = s.offer(first, 0, 2_001) },
		"round":                 func(e *effects) { e.offer = s.offer(first, 2, 2_000) },
		"negotiation":           func(e *effects) { e.offer = s.offer(second, 0, 2_000) },
		"side":                  func(e *effects) { e.offer = s.offer(sold, 0, 2_000) },
		"destination":           func(e *effects) { e.pay = pay(mint, thief, 2_000) },
		"amount":                func(e *effects) { e.pay = pay(mint, friend, 2_001) },
		"smaller amount":        func(e *effects) { e.pay = pay(mint, friend, 1_999) },
		"mint":                  func(e *effects) { e.pay = pay(otherMint, friend, 2_000) },
		"source":                func(e *effects) { e.pay = transferTokens(thief, mint, friend, s.wallet(), 2_000) },
		"receiver of lamports":  func(e *effects) { e.lamports = transferLamports(s.wallet(), thief, 3_000) },
		"amount of lamports":    func(e *effects) { e.lamports = transferLamports(s.wallet(), friend, 3_001) },
		"data of a program":     func(e *effects) { e.rest[0] = memo(2) },
		"instruction left out":  func(e *effects) { e.rest = e.rest[:1] },
		"instruction exchanged": func(e *effects) { e.rest[1] = closeAccount(s.associated(s.wallet(), mint), s.wallet(), s.wallet()) },
		"account":               func(e *effects) { e.rest[1] = syncNative(s.associated(s.wallet(), mint)) },
		"further payment":       func(e *effects) { e.rest = append(e.rest, transferLamports(s.wallet(), thief, 1)) },
		"further account": func(e *effects) {
			e.rest = append(e.rest, s.createAssociated(s.wallet(), thief, mint))
		},
		"purpose": func(e *effects) {
			e.lamports = transferLamports(s.wallet(), s.associated(s.wallet(), solana.WrappedSol), 3_000)
			e.rest = []solana.Instruction{e.lamports}
			e.lamports = s.createAssociated(s.wallet(), s.wallet(), solana.WrappedSol)
		},
		"higher fee":      func(e *effects) { e.budget[1] = unitPrice(1_100_000) },
		"higher limit":    func(e *effects) { e.budget[0] = unitLimit(11_000) },
		"fee of default":  func(e *effects) { e.budget = e.budget[1:] },
		"order of effect": func(e *effects) { e.pay, e.lamports = e.lamports, e.pay },
	} {
		another := approved() // replaces the approval of the case before
		another.rest = append(another.rest, memo(3))
		sign(another)
		require.True(t, sign(approved()), name)
		require.False(t, sign(approved()), name)
		changed := approved()
		change(&changed)
		require.True(t, sign(changed), "approved with another %s", name)
	}
}

// A release names neither mint nor amount: the approval covers those shown to the approver.
func TestApprovalBindsPricesThatTheInstructionDoesNotName(t *testing.T) {
	s, asked := asking(t)
	address := s.negotiation(s.wallet(), friend, 9)
	release := s.build(&protocol.ReleaseMilestone{
		Releaser: s.wallet(), Negotiation: address, SellerTokenAccount: s.associated(friend, mint), TokenMint: mint,
		TokenProgram: solana.TokenProgramID,
	})
	sign := func(settled uint64, paid solana.PublicKey) (again bool) {
		t.Helper()
		n := &protocol.Negotiation{
			Buyer: s.wallet(), Seller: friend, SessionID: 9, TokenMint: paid, Version: protocol.NegotiationVersion,
			Status: protocol.NegotiationStatusAccepted, SettledAmount: settled, MilestoneBps: [8]uint16{10_000}, MilestonesClaimed: 1,
		}
		s.config.Negotiations = chain{address: n.Encode()}
		s.restart()
		*asked = 0
		require.NoError(t, s.sign(release))
		return *asked > 0
	}
	require.True(t, sign(1_000_000, mint))
	require.False(t, sign(1_000_000, mint))
	require.True(t, sign(1_000_001, mint))
	require.False(t, sign(1_000_001, mint))
	require.True(t, sign(1_000_001, otherMint))
}

// A rebuilt creation contains later deadlines. All other terms are part of the approval.
func TestApprovalSurvivesLaterDeadlines(t *testing.T) {
	s, asked := asking(t)
	sign := func(deadline int64, change func(*protocol.CreateNegotiation)) (again bool) {
		t.Helper()
		creation := s.creation(friend, 4, 2_000)
		creation.Params.GlobalDeadline, creation.Params.MilestoneDeadline = deadline, deadline+1
		if change != nil {
			change(creation)
		}
		*asked = 0
		require.NoError(t, s.sign(s.build(creation)))
		return *asked > 0
	}
	require.True(t, sign(1_000, nil))
	require.False(t, sign(2_000, nil))
	require.True(t, sign(2_000, func(c *protocol.CreateNegotiation) { c.Params.MinOfferBps++ }))
	require.True(t, sign(2_000, func(c *protocol.CreateNegotiation) { c.Params.ServiceHash[0]++ }))
	require.True(t, sign(2_000, func(c *protocol.CreateNegotiation) { c.BuyerTokenAccount = thief }))
}

// A committed price is revealed without approval. Nothing beside the reveal is.
func TestOwedRevealApprovesNothingElse(t *testing.T) {
	s, asked := asking(t)
	sealed, commit, reveal := s.sealed(1_000_000)
	s.joinSealed()
	_, err := s.policy.SignMessage(sealing(sealed), s.message(commit))
	require.NoError(t, err)
	*asked = 0
	require.NoError(t, s.sign(unitLimit(1_000), reveal))
	require.Zero(t, *asked)
	require.NoError(t, s.sign(unitLimit(1_000), reveal, transferLamports(s.wallet(), thief, 1_000)))
	require.Equal(t, 1, *asked, "a payment beside the reveal")
	require.NoError(t, s.sign(unitLimit(1_000), reveal, s.createAssociated(s.wallet(), thief, mint)))
	require.Equal(t, 2, *asked, "an account beside the reveal that its owner can close")
	require.NoError(t, s.sign(unitLimit(1_000), reveal, s.offerOn(7, s.negotiation(friend, s.wallet(), 1), 0, 1_000)))
	require.Equal(t, 3, *asked, "a price beside the reveal")
	sold := s.negotiation(friend, s.wallet(), 1)
	require.NoError(t, s.sign(unitLimit(1_000), reveal, s.acceptMidpoint(7, sold, 999_999)))
	require.Equal(t, 4, *asked, "a price below the revealed one")
	require.NoError(t, s.sign(unitLimit(1_000), reveal, s.acceptMidpoint(8, sold, 1_000_001)))
	require.Equal(t, 5, *asked, "another deal")
	require.NoError(t, s.sign(unitLimit(1_000), reveal, s.acceptMidpoint(7, s.negotiation(friend, s.wallet(), 3), 1_000_002)))
	require.Equal(t, 6, *asked, "another negotiation")
	require.NoError(t, s.sign(unitLimit(1_000), s.acceptMidpoint(7, sold, 1_000_003), reveal))
	require.Equal(t, 7, *asked, "an acceptance before the reveal")
	require.NoError(t, s.sign(unitLimit(1_000), reveal, s.acceptMidpoint(7, sold, 1_000_004), transferLamports(s.wallet(), thief, 1_000)))
	require.Equal(t, 8, *asked, "a payment beside both")
}

// The acceptance of the midpoint beside the reveal is at least the price that the policy allowed when the
// wallet committed to it.
func TestOwedRevealAcceptsTheMidpoint(t *testing.T) {
	s, asked := asking(t)
	sealed, commit, reveal := s.sealed(1_000_000)
	s.joinSealed()
	_, err := s.policy.SignMessage(sealing(sealed), s.message(commit))
	require.NoError(t, err)
	*asked = 0
	sold := s.negotiation(friend, s.wallet(), 1)
	own := s.createAssociated(s.wallet(), s.wallet(), mint)
	for _, midpoint := range []uint64{1_000_000, 1_500_000} {
		require.NoError(t, s.sign(unitLimit(1_000), own, reveal, s.acceptMidpoint(7, sold, midpoint)))
	}
	require.Zero(t, *asked)

	// It stays an acceptance: it must be allowed, pay the wallet, and keep to the limits on prices.
	stranger := s.build(&protocol.AcceptOffer{
		Acceptor: s.wallet(), Negotiation: sold, CreatedAt: 7, BuyerTokenAccount: s.associated(friend, mint),
		SellerTokenAccount: s.associated(thief, mint), TokenMint: mint, TokenProgram: solana.TokenProgramID,
		ExpectedAmount: 1_500_000,
	})
	s.denied(policy.RuleDestination, reveal, stranger)
	limits := s.config.Tokens[mint]
	limits.MinPrice = 1_500_001
	s.config.Tokens[mint] = limits
	s.restart()
	s.denied(policy.RuleMinPrice, reveal, s.acceptMidpoint(7, sold, 1_500_000))
	s.config.Instructions = []string{policy.ComputeBudget}
	s.restart()
	s.denied(policy.RuleInstruction, reveal, s.acceptMidpoint(7, sold, 1_500_001))
	require.NoError(t, s.sign(unitLimit(1_000), reveal))
}

// An unrecorded negotiation is read: the midpoint follows from the buyer's revealed price.
func TestMidpointOfAnUnknownNegotiationIsChecked(t *testing.T) {
	s := newStage(t)
	address, n := s.invitation(1, 100_000)
	n.CreatedAt, n.ZopaEnabled, n.ZopaPhase = 7, true, protocol.ZopaPhaseBothCommitted
	n.Status, n.BuyerPrice = protocol.NegotiationStatusProposed, 2_000_001
	s.config.Negotiations = chain{address: n.Encode()}
	s.restart()
	reveal := s.build(&protocol.RevealZopaPrice{Agent: s.wallet(), Negotiation: address, CreatedAt: 7, Price: 1_000_000})
	require.NoError(t, s.sign(reveal, s.acceptMidpoint(7, address, 1_500_000)))
	s.denied(policy.RuleNegotiation, reveal, s.acceptMidpoint(7, address, 1_500_001))
	s.denied(policy.RuleNegotiation, s.acceptMidpoint(7, address, 1_500_000))
	s.denied(policy.RuleNegotiation, s.acceptMidpoint(7, address, 1_500_000), reveal)
}

// A decoder may know amounts and receivers that the instruction does not name.
func TestApprovalBindsSpendsOfDecoders(t *testing.T) {
	s, asked := asking(t)
	amount, receiver := uint64(1_000), friend
	s.config.Decoders = map[solana.PublicKey]policy.Decoder{solana.MemoProgramID: func([]*solana.AccountMeta, []byte) (policy.Decoded, error) {
		return policy.Decoded{Name: "memo.pay", Spends: []policy.Spend{{Mint: mint, Amount: amount, Counterparty: receiver}}}, nil
	}}
	s.restart()
	pay := solana.NewInstruction(solana.MemoProgramID, nil, binary.LittleEndian.AppendUint64(nil, 1))
	offer := s.offer(s.negotiation(s.wallet(), friend, 1), 0, 2_000)
	for i, change := range []func(){func() {}, func() { amount++ }, func() { receiver = thief }} {
		change()
		*asked = 0
		require.NoError(t, s.sign(offer, pay))
		require.Equal(t, 1, *asked, i)
		require.NoError(t, s.sign(offer, pay))
		require.Equal(t, 1, *asked, i)
	}
}
