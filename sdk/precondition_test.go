package haggle

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

var (
	testBuyer  = solana.PublicKey{1, 1}
	testSeller = solana.PublicKey{2, 2}
)

// seenAt is a negotiation as a party has seen it, changed by change.
func seenAt(change func(*protocol.Negotiation)) *NegotiationAccount {
	seen := &NegotiationAccount{Address: solana.PublicKey{9}, Slot: testSlot, Negotiation: protocol.Negotiation{
		Buyer: testBuyer, Seller: testSeller, Status: protocol.NegotiationStatusCountered, CurrentRound: 3, CurrentOfferAmount: 500_000,
		CurrentOfferBy: testBuyer, OfferSide: protocol.OfferSideBuyer, EscrowAmount: 1_000_000, EffectiveEscrow: 900_000,
		MaxRounds: 10, CreatedAt: 1_700_000_000, Version: protocol.NegotiationVersion, MilestoneBps: [8]uint16{3_000, 3_000, 4_000},
	}}
	if change != nil {
		change(&seen.Negotiation)
	}
	return seen
}

func inStatus(status protocol.NegotiationStatus) func(*protocol.Negotiation) {
	return func(n *protocol.Negotiation) { n.Status = status }
}

func TestActionKnowsWhetherItsPictureIsOldAndWhetherItHasBeenDone(t *testing.T) {
	agreed := func(n *protocol.Negotiation) { n.Status, n.SettledAmount = protocol.NegotiationStatusAccepted, 500_000 }
	claimed := func(n *protocol.Negotiation) { agreed(n); n.MilestonesClaimed = 0b010 }
	disputed := func(n *protocol.Negotiation) { claimed(n); n.MilestonesDisputed = 0b010 }
	settledByAgreement := func(paid uint64) func(*protocol.Negotiation) {
		return func(n *protocol.Negotiation) {
			n.Status, n.MilestonesDecided, n.PaidGross = protocol.NegotiationStatusSettled, 0b111, paid
		}
	}
	zopa := func(n *protocol.Negotiation) {
		n.Status, n.ZopaEnabled, n.CurrentRound, n.CurrentOfferBy = protocol.NegotiationStatusProposed, true, 0, solana.PublicKey{}
	}
	committed := func(n *protocol.Negotiation) {
		zopa(n)
		n.ZopaPhase, n.BuyerCommitment, n.SellerCommitment = protocol.ZopaPhaseBothCommitted, [32]byte{7}, [32]byte{8}
	}
	owed := func(n *protocol.Negotiation) { n.Status, n.ClaimableBuyer = protocol.NegotiationStatusSettled, 250 }
	offered := func(by solana.PublicKey, amount uint64) func(*protocol.Negotiation) {
		return func(n *protocol.Negotiation) {
			n.Status, n.CurrentRound, n.CurrentOfferBy, n.CurrentOfferAmount = protocol.NegotiationStatusCountered, 4, by, amount
		}
	}
	otherTime := func(n *protocol.Negotiation) { n.CreatedAt++ }
	type change = func(*protocol.Negotiation)
	cases := map[string]struct {
		instruction protocol.AnyInstruction
		seen        change
		// same does not matter to the action, moved does, and done shows that it has been done.
		same, moved, done []change
	}{
		"accept_invitation": {&protocol.AcceptInvitation{Seller: testSeller}, inStatus(protocol.NegotiationStatusCreated), nil,
			[]change{otherTime, func(n *protocol.Negotiation) { n.EscrowAmount++ }, inStatus(protocol.NegotiationStatusExpired), inStatus(protocol.NegotiationStatusRejected)},
			[]change{inStatus(protocol.NegotiationStatusProposed), agreed, inStatus(protocol.NegotiationStatusSettled)}},
		"submit_offer": {&protocol.SubmitOffer{Offerer: testSeller, ExpectedRound: 3, Amount: 600_000}, nil,
			[]change{func(n *protocol.Negotiation) { n.PendingExtension = 5 }},
			[]change{otherTime, agreed, offered(testSeller, 600_001), offered(testBuyer, 600_000), inStatus(protocol.NegotiationStatusExpired),
				func(n *protocol.Negotiation) { offered(testSeller, 600_000)(n); n.CurrentRound = 5 },
				func(n *protocol.Negotiation) { offered(testSeller, 600_000)(n); n.Metadata[0] = 1 },
				func(n *protocol.Negotiation) { offered(testSeller, 600_000)(n); n.CreatedAt++ }},
			[]change{offered(testSeller, 600_000)}},
		"accept_offer": {&protocol.AcceptOffer{Acceptor: testSeller, ExpectedRound: 3, ExpectedAmount: 500_000}, nil,
			[]change{func(n *protocol.Negotiation) { n.ClaimableBuyer = 1 }},
			[]change{otherTime, offered(testSeller, 600_000), func(n *protocol.Negotiation) { n.CurrentOfferAmount++ }, func(n *protocol.Negotiation) { n.Metadata[63] = 1 },
				inStatus(protocol.NegotiationStatusRejected), func(n *protocol.Negotiation) { agreed(n); n.SettledAmount++ }, func(n *protocol.Negotiation) { agreed(n); n.CurrentRound++ }},
			[]change{agreed, func(n *protocol.Negotiation) { agreed(n); n.Status = protocol.NegotiationStatusSettled }}},
		"reject_negotiation": {&protocol.RejectNegotiation{Rejector: testSeller, ExpectedRound: 3}, nil, nil,
			[]change{otherTime, offered(testBuyer, 1), agreed, func(n *protocol.Negotiation) { n.Status, n.CurrentRound = protocol.NegotiationStatusRejected, 4 }},
			[]change{inStatus(protocol.NegotiationStatusRejected)}},
		"reject_negotiation before a reveal": {&protocol.RejectNegotiation{Rejector: testSeller}, committed, nil,
			[]change{func(n *protocol.Negotiation) { n.BuyerPrice = 5 }}, nil},
		"expire_negotiation": {&protocol.ExpireNegotiation{}, nil,
			[]change{offered(testSeller, 1)},
			[]change{otherTime, agreed, inStatus(protocol.NegotiationStatusSettled), inStatus(protocol.NegotiationStatusRejected)},
			[]change{inStatus(protocol.NegotiationStatusExpired)}},
		"close_negotiation": {&protocol.CloseNegotiation{}, inStatus(protocol.NegotiationStatusSettled),
			[]change{func(n *protocol.Negotiation) { n.ClaimableBuyer = 7 }}, []change{otherTime, inStatus(protocol.NegotiationStatusCreated)}, nil},
		"claim_payout": {&protocol.ClaimPayout{Party: testBuyer, Amount: 250}, owed,
			[]change{func(n *protocol.Negotiation) { n.ClaimableSeller = 9 }}, []change{otherTime, func(n *protocol.Negotiation) { n.ClaimableBuyer = 251 }},
			[]change{func(n *protocol.Negotiation) { n.ClaimableBuyer = 0 }}},
		"claim_milestone": {&protocol.ClaimMilestone{Index: 1}, agreed,
			[]change{func(n *protocol.Negotiation) { n.MilestonesClaimed = 0b001 }}, []change{otherTime, func(n *protocol.Negotiation) { n.MilestonesDecided = 0b111 }},
			[]change{claimed, disputed, func(n *protocol.Negotiation) { claimed(n); n.MilestonesDecided = 0b010 }}},
		"dispute_milestone": {&protocol.DisputeMilestone{Index: 1}, claimed, nil,
			[]change{otherTime, func(n *protocol.Negotiation) { n.MilestonesDecided = 0b010 }},
			[]change{disputed, func(n *protocol.Negotiation) { disputed(n); n.MilestonesDecided = 0b010 }}},
		"release_milestone": {&protocol.ReleaseMilestone{Index: 1}, claimed,
			[]change{func(n *protocol.Negotiation) { n.MilestonesClaimed = 0b110 }},
			[]change{otherTime, disputed, func(n *protocol.Negotiation) { disputed(n); n.MilestonesDecided = 0b010 },
				settledByAgreement(500_000 - 1)},
			[]change{func(n *protocol.Negotiation) { n.MilestonesDecided = 0b010 }, settledByAgreement(500_000)}},
		"resolve_dispute": {&protocol.ResolveDispute{Index: 1, SellerBps: 5_000}, disputed, nil,
			[]change{otherTime, func(n *protocol.Negotiation) { n.MilestonesDecided = 0b010 }}, nil},
		"settle_deadline": {&protocol.SettleDeadline{}, agreed,
			[]change{claimed, disputed}, []change{otherTime, inStatus(protocol.NegotiationStatusExpired)}, []change{inStatus(protocol.NegotiationStatusSettled)}},
		"settle_by_agreement": {&protocol.SettleByAgreement{SellerBps: 5_000}, claimed,
			[]change{func(n *protocol.Negotiation) { n.MilestonesClaimed = 0b111 }},
			[]change{otherTime, func(n *protocol.Negotiation) { n.MilestonesDecided = 0b001 }, settledByAgreement(250_001)},
			[]change{settledByAgreement(250_000)}},
		"submit_zopa_commitment": {&protocol.SubmitZopaCommitment{Agent: testBuyer, Commitment: [32]byte{7}}, zopa, nil,
			[]change{otherTime, inStatus(protocol.NegotiationStatusExpired), func(n *protocol.Negotiation) {
				n.ZopaPhase, n.BuyerCommitment = protocol.ZopaPhaseBuyerCommitted, [32]byte{6}
			}},
			[]change{func(n *protocol.Negotiation) {
				n.ZopaPhase, n.BuyerCommitment = protocol.ZopaPhaseBuyerCommitted, [32]byte{7}
			}}},
		"reveal_zopa_price": {&protocol.RevealZopaPrice{Agent: testBuyer, Price: 77}, committed, nil,
			[]change{otherTime, func(n *protocol.Negotiation) { n.BuyerPrice = 76 }, inStatus(protocol.NegotiationStatusRejected)},
			[]change{func(n *protocol.Negotiation) { n.BuyerPrice = 77 }}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			seen := seenAt(c.seen)
			action := &Action{instruction: c.instruction, seen: seen, Precondition: preconditionOf(c.instruction, seen)}
			later := func(change change) *NegotiationAccount {
				now := seenAt(c.seen)
				if change != nil {
					change(&now.Negotiation)
				}
				return now
			}
			assert.True(t, action.Precondition.IsMet(later(nil)))
			assert.False(t, action.postcondition(later(nil)))
			for i, change := range c.same {
				assert.True(t, action.Precondition.IsMet(later(change)), "same %d", i)
			}
			for i, change := range c.moved {
				assert.False(t, action.Precondition.IsMet(later(change)), "moved %d", i)
				assert.False(t, action.postcondition(later(change)), "moved %d", i)
			}
			for i, change := range c.done {
				assert.False(t, action.Precondition.IsMet(later(change)), "done %d", i)
				assert.True(t, action.postcondition(later(change)), "done %d", i)
			}
			assert.False(t, action.Precondition.IsMet(nil))
			_, closes := c.instruction.(*protocol.CloseNegotiation)
			assert.Equal(t, closes, action.postcondition(nil))

			// What the caller does with what it has seen changes nothing.
			seen.Status, seen.CurrentRound, seen.CreatedAt = 0, 0, 0
			assert.True(t, action.Precondition.IsMet(later(nil)))

			encoded, err := json.Marshal(action.Precondition)
			require.NoError(t, err)
			var again Precondition
			require.NoError(t, json.Unmarshal(encoded, &again))
			assert.Equal(t, action.Precondition, again)
		})
	}
}

func TestEmptyExpectationIsAlwaysMet(t *testing.T) {
	assert.True(t, Precondition{}.IsZero())
	assert.True(t, Precondition{}.IsMet(nil))
	assert.True(t, Precondition{}.IsMet(seenAt(nil)))
	assert.True(t, Precondition{Absent: true}.IsMet(nil))
	assert.False(t, Precondition{Absent: true}.IsMet(seenAt(nil)))
}

func TestMilestoneStateIsExpectedAsItWas(t *testing.T) {
	expected := preconditionOf(&protocol.ClaimMilestone{Index: 2}, seenAt(inStatus(protocol.NegotiationStatusAccepted)))
	assert.Equal(t, &ExpectedMilestone{Index: 2, State: protocol.MilestoneStateUnclaimed}, expected.Milestone)
}

// answerOf is an account as a node answers with it.
func answerOf(owner solana.PublicKey, lamports uint64, data []byte) any {
	return object{
		"owner": owner.String(), "lamports": lamports, "executable": false, "rentEpoch": 0,
		"data": []any{base64.StdEncoding.EncodeToString(data), "base64"},
	}
}

func negotiationAnswer(n *NegotiationAccount) any {
	return answerOf(protocol.ProgramID, 4_454_400, n.Negotiation.AppendTo(nil))
}

func TestActionOnAnOldPictureIsNotSigned(t *testing.T) {
	a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
	seen := seenAt(nil)
	offer := func() *Action {
		action, err := a.Offer(t.Context(), OfferRequest{Offerer: a.me.PublicKey(), Seen: seen, Amount: 600_000})
		require.NoError(t, err)
		return action
	}
	now := seenAt(func(n *protocol.Negotiation) { n.CurrentRound, n.CurrentOfferAmount = 5, 700_000 })
	a.node.accounts = map[solana.PublicKey]any{seen.Address: negotiationAnswer(now)}

	_, err := offer().Do(t.Context(), a.me)
	var moved *StateChangedError
	require.ErrorAs(t, err, &moved)
	assert.Same(t, seen, moved.Seen)
	assert.EqualValues(t, 5, moved.Now.CurrentRound)
	assert.Equal(t, seen.Address, moved.Negotiation)
	require.ErrorIs(t, err, protocol.ErrStaleState)
	var refused *protocol.ProgramError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, OutcomeNotSent, OutcomeOf(err))

	// Nor is it shown to a wallet.
	_, err = offer().Transaction(t.Context())
	require.ErrorAs(t, err, &moved)

	a.node.accounts[seen.Address] = nil
	_, err = offer().Do(t.Context(), a.me)
	require.ErrorAs(t, err, &moved)
	assert.Nil(t, moved.Now)
	require.ErrorContains(t, err, "closed")

	now = seenAt(func(n *protocol.Negotiation) {
		n.CurrentRound, n.CurrentOfferAmount, n.CurrentOfferBy, n.OfferSide = 4, 600_000, a.me.PublicKey(), protocol.OfferSideSeller
	})
	a.node.accounts[seen.Address] = negotiationAnswer(now)
	_, err = offer().Do(t.Context(), a.me)
	var done *AlreadyDone
	require.ErrorAs(t, err, &done)
	require.ErrorIs(t, err, ErrAlreadyDone)
	assert.EqualValues(t, 4, done.Now.CurrentRound)
	assert.Equal(t, OutcomeConfirmed, OutcomeOf(err))
	assert.Zero(t, a.journal.begun)
	assert.Zero(t, a.node.called("simulateTransaction"))

	// Its sender can decide not to ask.
	blind := offer()
	blind.Precondition = Precondition{}
	_, err = blind.Do(t.Context(), a.me)
	require.NoError(t, err)
	assert.Equal(t, 1, a.journal.begun)
}

func TestRefusalOfWhatHasBeenDoneSaysSo(t *testing.T) {
	a := newAgent(t, nil)
	over := seenAt(inStatus(protocol.NegotiationStatusExpired))
	a.node.accounts = map[solana.PublicKey]any{over.Address: negotiationAnswer(over)}
	a.node.answers["simulateTransaction"] = always(object{"context": object{"slot": testSlot}, "value": object{
		"err": object{"InstructionError": []any{1, object{"Custom": uint32(protocol.ErrInvalidState)}}}, "logs": []string{},
	}})
	action, err := a.actionOn(over, a.me.PublicKey(), &protocol.ExpireNegotiation{
		Negotiation: over.Address, BuyerTokenAccount: solana.PublicKey{3}, TokenMint: solana.PublicKey{4}, TokenProgram: solana.TokenProgramID,
	})
	require.NoError(t, err)
	_, err = action.Do(t.Context(), a.me)
	require.ErrorIs(t, err, ErrAlreadyDone)
	require.ErrorIs(t, err, protocol.ErrInvalidState)

	over.Status = protocol.NegotiationStatusRejected
	a.node.accounts[over.Address] = negotiationAnswer(over)
	action.Precondition = Precondition{Created: &over.CreatedAt}
	_, err = action.Do(t.Context(), a.me)
	require.ErrorIs(t, err, protocol.ErrInvalidState)
	require.NotErrorIs(t, err, ErrAlreadyDone)
}

// A node that is behind what the signer has seen shows an older state, which says nothing.
func TestNodeThatIsBehindIsNotBelieved(t *testing.T) {
	a := newAgent(t, nil)
	seen := seenAt(nil)
	seen.Slot = testSlot + 1
	before := seenAt(func(n *protocol.Negotiation) { n.CurrentRound = 2 })
	a.node.accounts = map[solana.PublicKey]any{seen.Address: negotiationAnswer(before)}
	action, err := a.Offer(t.Context(), OfferRequest{Offerer: a.me.PublicKey(), Seen: seen, Amount: 600_000})
	require.NoError(t, err)
	_, err = action.Do(t.Context(), a.me)
	var moved *StateChangedError
	require.False(t, errors.As(err, &moved))
	require.ErrorContains(t, err, "slot")
	assert.Zero(t, a.journal.begun)
}
