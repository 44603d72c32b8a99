package haggle

import (
	"encoding/base64"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

var (
	testBuyer  = solana.PublicKey{1, 1}
	testSeller = solana.PublicKey{2, 2}
)

// snapshotWith returns a party's snapshot of a negotiation, changed by change.
func snapshotWith(change func(*protocol.Negotiation)) *Snapshot {
	snapshot := &Snapshot{Address: solana.PublicKey{9}, Slot: testSlot, Negotiation: protocol.Negotiation{
		Buyer: testBuyer, Seller: testSeller, Status: protocol.NegotiationStatusCountered, CurrentRound: 3,
		CurrentOfferAmount: 500_000,
		CurrentOfferBy:     testBuyer, OfferSide: protocol.OfferSideBuyer, EscrowAmount: 1_000_000,
		EffectiveEscrow: 900_000,
		MaxRounds:       10, CreatedAt: 1_700_000_000, Version: protocol.NegotiationVersion,
		MilestoneBps: [8]uint16{3_000, 3_000, 4_000},
	}}
	if change != nil {
		change(&snapshot.Negotiation)
	}
	return snapshot
}

func inStatus(status protocol.NegotiationStatus) func(*protocol.Negotiation) {
	return func(n *protocol.Negotiation) { n.Status = status }
}

func TestPreconditionsAndPostconditions(t *testing.T) {
	agreed := func(n *protocol.Negotiation) {
		n.Status, n.SettledAmount = protocol.NegotiationStatusAccepted,
			500_000
	}
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
	owed := func(n *protocol.Negotiation) {
		n.Status, n.ClaimableBuyer = protocol.NegotiationStatusSettled,
			250
	}
	offered := func(by solana.PublicKey, amount uint64) func(*protocol.Negotiation) {
		return func(n *protocol.Negotiation) {
			n.Status, n.CurrentRound, n.CurrentOfferBy, n.CurrentOfferAmount = protocol.NegotiationStatusCountered, 4, by, amount
		}
	}
	otherTime := func(n *protocol.Negotiation) { n.CreatedAt++ }
	type change = func(*protocol.Negotiation)
	cases := map[string]struct {
		builder instructionBuilder
		before  change
		// same does not matter to the action, moved does, and done shows that the action is done.
		same, moved, done []change
	}{
		"accept_invitation": {&acceptInvitation{AcceptInvitation: protocol.AcceptInvitation{Seller: testSeller}},
			inStatus(protocol.NegotiationStatusCreated), nil,
			[]change{otherTime, func(n *protocol.Negotiation) { n.EscrowAmount++ },
				inStatus(protocol.NegotiationStatusExpired), inStatus(protocol.NegotiationStatusRejected)},
			[]change{inStatus(protocol.NegotiationStatusProposed), agreed,
				inStatus(protocol.NegotiationStatusSettled)}},
		"submit_offer": {&submitOffer{protocol.SubmitOffer{Offerer: testSeller, Amount: 600_000}, 0}, nil,
			[]change{func(n *protocol.Negotiation) { n.PendingExtension = 5 }},
			[]change{otherTime, agreed, offered(testSeller, 600_001), offered(testBuyer, 600_000),
				inStatus(protocol.NegotiationStatusExpired),
				func(n *protocol.Negotiation) { offered(testSeller, 600_000)(n); n.CurrentRound = 5 },
				func(n *protocol.Negotiation) { offered(testSeller, 600_000)(n); n.Metadata[0] = 1 },
				func(n *protocol.Negotiation) { offered(testSeller, 600_000)(n); n.CreatedAt++ }},
			[]change{offered(testSeller, 600_000)}},
		"accept_offer": {&acceptOffer{protocol.AcceptOffer{Acceptor: testSeller}}, nil,
			[]change{func(n *protocol.Negotiation) { n.ClaimableBuyer = 1 }},
			[]change{otherTime, offered(testSeller, 600_000),
				func(n *protocol.Negotiation) { n.CurrentOfferAmount++ },
				func(n *protocol.Negotiation) { n.Metadata[63] = 1 },
				inStatus(protocol.NegotiationStatusRejected),
				func(n *protocol.Negotiation) { agreed(n); n.SettledAmount++ },
				func(n *protocol.Negotiation) { agreed(n); n.CurrentRound++ }},
			[]change{agreed, func(n *protocol.Negotiation) { agreed(n); n.Status = protocol.NegotiationStatusSettled }}},
		"reject_negotiation": {&reject{protocol.RejectNegotiation{Rejector: testSeller}}, nil, nil,
			[]change{otherTime, offered(testBuyer, 1), agreed,
				func(n *protocol.Negotiation) {
					n.Status, n.CurrentRound = protocol.NegotiationStatusRejected,
						4
				}},
			[]change{inStatus(protocol.NegotiationStatusRejected)}},
		"reject_negotiation before a reveal": {&reject{protocol.RejectNegotiation{Rejector: testSeller}}, committed, nil,
			[]change{func(n *protocol.Negotiation) { n.BuyerPrice = 5 }}, nil},
		"expire_negotiation": {&expire{}, nil,
			[]change{offered(testSeller, 1)},
			[]change{otherTime, agreed, inStatus(protocol.NegotiationStatusSettled),
				inStatus(protocol.NegotiationStatusRejected)},
			[]change{inStatus(protocol.NegotiationStatusExpired)}},
		"close_negotiation": {&closeNegotiation{}, inStatus(protocol.NegotiationStatusSettled),
			[]change{func(n *protocol.Negotiation) { n.ClaimableBuyer = 7 }},
			[]change{otherTime, inStatus(protocol.NegotiationStatusCreated)}, nil},
		"claim_payout": {&claimPayout{protocol.ClaimPayout{Party: testBuyer}}, owed,
			[]change{func(n *protocol.Negotiation) { n.ClaimableSeller = 9 }},
			[]change{otherTime, func(n *protocol.Negotiation) { n.ClaimableBuyer = 251 }},
			[]change{func(n *protocol.Negotiation) { n.ClaimableBuyer = 0 }}},
		"claim_milestone": {&claimMilestone{protocol.ClaimMilestone{Index: 1}}, agreed,
			[]change{func(n *protocol.Negotiation) { n.MilestonesClaimed = 0b001 }},
			[]change{otherTime, func(n *protocol.Negotiation) { n.MilestonesDecided = 0b111 }},
			[]change{claimed, disputed,
				func(n *protocol.Negotiation) { claimed(n); n.MilestonesDecided = 0b010 }}},
		"dispute_milestone": {&disputeMilestone{protocol.DisputeMilestone{Index: 1}}, claimed, nil,
			[]change{otherTime, func(n *protocol.Negotiation) { n.MilestonesDecided = 0b010 }},
			[]change{disputed, func(n *protocol.Negotiation) { disputed(n); n.MilestonesDecided = 0b010 }}},
		"release_milestone": {&releaseMilestone{protocol.ReleaseMilestone{Index: 1}}, claimed,
			[]change{func(n *protocol.Negotiation) { n.MilestonesClaimed = 0b110 }},
			[]change{otherTime, disputed,
				func(n *protocol.Negotiation) { disputed(n); n.MilestonesDecided = 0b010 },
				settledByAgreement(500_000 - 1)},
			[]change{func(n *protocol.Negotiation) { n.MilestonesDecided = 0b010 },
				settledByAgreement(500_000)}},
		"resolve_dispute": {&resolveDispute{protocol.ResolveDispute{Index: 1, SellerBps: 5_000}}, disputed, nil,
			[]change{otherTime, func(n *protocol.Negotiation) { n.MilestonesDecided = 0b010 }}, nil},
		"settle_deadline": {&settleDeadline{}, agreed,
			[]change{claimed, disputed}, []change{otherTime, inStatus(protocol.NegotiationStatusExpired)},
			[]change{inStatus(protocol.NegotiationStatusSettled)}},
		"settle_by_agreement": {&settleByAgreement{SettleByAgreement: protocol.SettleByAgreement{SellerBps: 5_000}}, claimed,
			[]change{func(n *protocol.Negotiation) { n.MilestonesClaimed = 0b111 }},
			[]change{otherTime, func(n *protocol.Negotiation) { n.MilestonesDecided = 0b001 },
				settledByAgreement(250_001)},
			[]change{settledByAgreement(250_000)}},
		"submit_zopa_commitment": {&commitZopa{price: sealedAs(testBuyer, 77)}, zopa, nil,
			[]change{otherTime, inStatus(protocol.NegotiationStatusExpired), func(n *protocol.Negotiation) {
				n.ZopaPhase, n.BuyerCommitment = protocol.ZopaPhaseBuyerCommitted, [32]byte{6}
			}},
			[]change{func(n *protocol.Negotiation) {
				n.ZopaPhase, n.BuyerCommitment = protocol.ZopaPhaseBuyerCommitted, sealedAs(testBuyer,
					77).Commitment()
			}}},
		"reveal_zopa_price": {&revealZopa{price: sealedAs(testBuyer, 77)}, committed, nil,
			[]change{otherTime, func(n *protocol.Negotiation) { n.BuyerPrice = 76 },
				inStatus(protocol.NegotiationStatusRejected)},
			[]change{func(n *protocol.Negotiation) { n.BuyerPrice = 77 }}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			snapshot := snapshotWith(c.before)
			action := &Action{builder: c.builder, snapshot: snapshotWith(c.before),
				precondition: preconditionOf(c.builder.(protocol.AnyInstruction).Effects(), snapshot)}
			later := func(change change) *Snapshot {
				now := snapshotWith(c.before)
				if change != nil {
					change(&now.Negotiation)
				}
				return now
			}
			assert.True(t, action.precondition.isMet(later(nil)))
			assert.False(t, action.isDone(later(nil)))
			for i, change := range c.same {
				assert.True(t, action.precondition.isMet(later(change)), "same %d", i)
			}
			for i, change := range c.moved {
				assert.False(t, action.precondition.isMet(later(change)), "moved %d", i)
				assert.False(t, action.isDone(later(change)), "moved %d", i)
			}
			for i, change := range c.done {
				assert.False(t, action.precondition.isMet(later(change)), "done %d", i)
				assert.True(t, action.isDone(later(change)), "done %d", i)
			}
			assert.False(t, action.precondition.isMet(nil))
			_, closes := c.builder.(*closeNegotiation)
			assert.Equal(t, closes, action.isDone(nil))

			// Later changes of the caller's snapshot have no effect.
			snapshot.Status, snapshot.CurrentRound, snapshot.CreatedAt = 0, 0, 0
			assert.True(t, action.precondition.isMet(later(nil)))

		})
	}
}

// A state that the table names and this package does not know would not be compared.
func TestEveryGuardIsAPrecondition(t *testing.T) {
	for _, instruction := range protocol.Instructions() {
		effects := instruction.Effects()
		required := preconditionOf(effects, snapshotWith(nil))
		assert.Equal(t, len(effects.Guards) == 0, required.isZero(), instruction.InstructionName())
		assert.Equal(t, effects.Idempotency == protocol.IdempotencyAddress, required.absent, instruction.InstructionName())
		onNegotiation := !effects.IsFor(protocol.RoleAuthority)
		assert.Equal(t, onNegotiation && !required.absent, required.created != nil, instruction.InstructionName())
	}
}

func TestEmptyPreconditionIsAlwaysMet(t *testing.T) {
	assert.True(t, precondition{}.isZero())
	assert.True(t, precondition{}.isMet(nil))
	assert.True(t, precondition{}.isMet(snapshotWith(nil)))
	assert.True(t, precondition{absent: true}.isMet(nil))
	assert.False(t, precondition{absent: true}.isMet(snapshotWith(nil)))
}

func TestMilestoneStateIsAPrecondition(t *testing.T) {
	claim := &claimMilestone{protocol.ClaimMilestone{Index: 2}}
	expected := preconditionOf(claim.Effects(), snapshotWith(inStatus(protocol.NegotiationStatusAccepted)))
	assert.Equal(t, &requiredMilestone{index: 2, state: protocol.MilestoneStateUnclaimed}, expected.milestone)
}

// answerOf returns an account as contained in a node's response.
func answerOf(owner solana.PublicKey, lamports uint64, data []byte) any {
	return object{
		"owner": owner.String(), "lamports": lamports, "executable": false, "rentEpoch": 0,
		"data": []any{base64.StdEncoding.EncodeToString(data), "base64"},
	}
}

func negotiationAnswer(n *Snapshot) any {
	return answerOf(protocol.ProgramID, protocol.NegotiationRent, n.Negotiation.AppendTo(nil))
}

func TestActionOnAnOldSnapshotIsNotSigned(t *testing.T) {
	a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
	snapshot := snapshotWith(nil)
	offer := func() *Action {
		action, err := a.At(snapshot).SubmitOffer(a.me.PublicKey(), Offer{Amount: 600_000}).Build(t.Context())
		require.NoError(t, err)
		return action
	}
	now := snapshotWith(func(n *protocol.Negotiation) { n.CurrentRound, n.CurrentOfferAmount = 5, 700_000 })
	a.node.accounts = map[solana.PublicKey]any{snapshot.Address: negotiationAnswer(now)}

	_, err := offer().Do(t.Context(), a.me)
	var moved *StateChangedError
	require.ErrorAs(t, err, &moved)
	assert.Same(t, snapshot, moved.Before)
	assert.EqualValues(t, 5, moved.Now.CurrentRound)
	assert.Equal(t, snapshot.Address, moved.Negotiation)
	require.ErrorIs(t, err, protocol.ErrStaleState)
	var refused *protocol.ProgramError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))

	// Nor is it given to a wallet.
	_, err = offer().Transaction(t.Context())
	require.ErrorAs(t, err, &moved)

	a.node.accounts[snapshot.Address] = nil
	_, err = offer().Do(t.Context(), a.me)
	require.ErrorAs(t, err, &moved)
	assert.Nil(t, moved.Now)
	require.ErrorContains(t, err, "closed")

	now = snapshotWith(func(n *protocol.Negotiation) {
		n.CurrentRound, n.CurrentOfferAmount, n.CurrentOfferBy, n.OfferSide = 4, 600_000, a.me.PublicKey(), protocol.OfferSideSeller
	})
	a.node.accounts[snapshot.Address] = negotiationAnswer(now)
	_, err = offer().Do(t.Context(), a.me)
	var done *AlreadyDone
	require.ErrorAs(t, err, &done)
	require.ErrorIs(t, err, ErrAlreadyDone)
	assert.EqualValues(t, 4, done.Now.CurrentRound)
	assert.Equal(t, transaction.Confirmed, transaction.OutcomeOf(err))
	assert.Zero(t, a.journal.begun)
	assert.Zero(t, a.node.called("simulateTransaction"))

	// The sender can turn the check off.
	blind := offer()
	blind.precondition = precondition{}
	_, err = blind.Do(t.Context(), a.me)
	require.NoError(t, err)
	assert.Equal(t, 1, a.journal.begun)
}

// An action whose negotiation Build just read does not read it a second time.
func TestNewSnapshotIsNotReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
		open := snapshotWith(nil)
		a.node.accounts = map[solana.PublicKey]any{open.Address: negotiationAnswer(open)}
		reads := func(wait time.Duration, amount uint64) int {
			before := a.node.called("getMultipleAccounts")
			action, err := a.Negotiation(open.Address).SubmitOffer(a.me.PublicKey(), Offer{Amount: amount}).Build(t.Context())
			require.NoError(t, err)
			time.Sleep(wait)
			_, err = action.Do(t.Context(), a.me)
			require.NoError(t, err)
			return a.node.called("getMultipleAccounts") - before
		}
		once := reads(0, 600_000)
		assert.Equal(t, once+1, reads(newSnapshot+1, 600_001))
	})
}

func TestRefusalOfADoneActionIsAlreadyDone(t *testing.T) {
	a := newAgent(t, nil)
	over := snapshotWith(inStatus(protocol.NegotiationStatusExpired))
	over.TokenMint = keptMint
	a.node.accounts = map[solana.PublicKey]any{
		over.Address: negotiationAnswer(over), keptMint: storedAccount(solana.TokenProgramID, mintData()),
	}
	a.node.answers["simulateTransaction"] = always(object{"context": object{"slot": testSlot},
		"value": object{
			"err":  object{"InstructionError": []any{1, object{"Custom": uint32(protocol.ErrInvalidState)}}},
			"logs": []string{},
		}})
	action, err := a.At(over).Expire(a.me.PublicKey()).Build(t.Context())
	require.NoError(t, err)
	_, err = action.Do(t.Context(), a.me)
	require.ErrorIs(t, err, ErrAlreadyDone)
	require.ErrorIs(t, err, protocol.ErrInvalidState)

	over.Status = protocol.NegotiationStatusRejected
	a.node.accounts[over.Address] = negotiationAnswer(over)
	action.precondition = precondition{created: &over.CreatedAt}
	_, err = action.Do(t.Context(), a.me)
	require.ErrorIs(t, err, protocol.ErrInvalidState)
	require.NotErrorIs(t, err, ErrAlreadyDone)
}

// A node that is behind the signer's snapshot returns an older state, which proves nothing.
func TestStateOfANodeThatIsBehindIsIgnored(t *testing.T) {
	a := newAgent(t, nil)
	snapshot := snapshotWith(nil)
	snapshot.Slot = testSlot + 1
	before := snapshotWith(func(n *protocol.Negotiation) { n.CurrentRound = 2 })
	a.node.accounts = map[solana.PublicKey]any{snapshot.Address: negotiationAnswer(before)}
	action, err := a.At(snapshot).SubmitOffer(a.me.PublicKey(), Offer{Amount: 600_000}).Build(t.Context())
	require.NoError(t, err)
	_, err = action.Do(t.Context(), a.me)
	var moved *StateChangedError
	require.False(t, errors.As(err, &moved))
	require.ErrorContains(t, err, "slot")
	assert.Zero(t, a.journal.begun)
}

// sealedAs returns a party's sealed price in the negotiation of snapshotWith.
func sealedAs(agent solana.PublicKey, price uint64) *protocol.SealedPrice {
	n := snapshotWith(nil)
	return protocol.NewSealedPrice(n.Address, n.CreatedAt, agent, price, [32]byte{1})
}
