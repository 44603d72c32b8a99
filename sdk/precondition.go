package haggle

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// precondition is the part of a negotiation's state that an action depends on; fields that are nil do not
// matter. [Action.Do] reads the negotiation again before signing, unless Build read it within newSnapshot,
// and returns a [*StateChangedError] if the precondition is not met.
type precondition struct {
	// absent: nothing exists at the address yet.
	absent bool
	// created is the time of the negotiation's creation, which differs for later negotiations with that
	// address.
	created *int64
	// terms is an invitation's terms hash.
	terms *solana.Hash
	stage *protocol.Stage
	// status is the negotiation's status.
	status *protocol.NegotiationStatus
	// round is the number of offers.
	round *uint8
	// step is the step of the comparison of reservation prices.
	step *protocol.ZopaStep
	// offer and metadata belong to the latest offer.
	offer    *uint64
	metadata *[64]byte
	// decided is the mask of the decided milestones.
	decided   *uint8
	milestone *requiredMilestone
	payout    *requiredPayout
}

type requiredMilestone struct {
	index uint8
	state protocol.MilestoneState
}

// requiredPayout is a party's recorded amount.
type requiredPayout struct {
	party  solana.PublicKey
	amount uint64
}

// isZero reports whether every state meets the precondition.
func (p precondition) isZero() bool { return p == precondition{} }

// isMet reports whether a negotiation meets the precondition; nil is a missing negotiation.
func (p precondition) isMet(now *Snapshot) bool {
	if now == nil {
		return p.absent || p.isZero()
	}
	return !p.absent &&
		isAs(p.created, now.CreatedAt) &&
		(p.terms == nil || *p.terms == termsOf(now)) &&
		isAs(p.stage, now.Stage()) &&
		isAs(p.status, now.Status) &&
		isAs(p.round, now.CurrentRound) &&
		isAs(p.step, now.ZopaStep()) &&
		isAs(p.offer, now.CurrentOfferAmount) &&
		isAs(p.decided, now.MilestonesDecided) &&
		isAs(p.metadata, now.Metadata) &&
		(p.milestone == nil || now.MilestoneState(p.milestone.index) == p.milestone.state) &&
		(p.payout == nil || now.ClaimableOf(p.payout.party) == p.payout.amount)
}

func isAs[T comparable](required *T, actual T) bool { return required == nil || *required == actual }

// termsOf returns a decoded negotiation's terms hash, because callers may make snapshots without Data.
func termsOf(n *Snapshot) solana.Hash {
	return solana.Hash(protocol.TermsHash(n.Address, n.Negotiation.AppendTo(nil)))
}

// preconditionOf returns the precondition for an instruction that is built on a snapshot: the snapshot's
// values of the state that the instruction depends on. The snapshot is nil for a creation.
func preconditionOf(effects protocol.Effects, n *Snapshot) (p precondition) {
	for _, guard := range effects.Guards {
		switch guard.State {
		case protocol.GuardAbsent:
			p.absent = true
		case protocol.GuardCreatedAt:
			p.created = new(n.CreatedAt)
		case protocol.GuardTerms:
			p.terms = new(termsOf(n))
		case protocol.GuardStatus:
			p.status = new(n.Status)
		case protocol.GuardStage:
			p.stage = new(n.Stage())
		case protocol.GuardZopaStep:
			p.step = new(n.ZopaStep())
		case protocol.GuardRound:
			p.round = new(n.CurrentRound)
		case protocol.GuardOffer:
			p.offer = new(n.CurrentOfferAmount)
		case protocol.GuardMetadata:
			p.metadata = new(n.Metadata)
		case protocol.GuardDecided:
			p.decided = new(n.MilestonesDecided)
		case protocol.GuardMilestone:
			p.milestone = &requiredMilestone{index: guard.Milestone, state: n.MilestoneState(guard.Milestone)}
		case protocol.GuardPayout:
			party := effects.Actors[0].Account
			p.payout = &requiredPayout{party: party, amount: n.ClaimableOf(party)}
		default:
			panic(fmt.Sprintf("haggle: guard %d", guard.State))
		}
	}
	return p
}

// StateChangedError is the error of an action whose precondition is no longer met. Nothing was signed.
// errors.Is finds [protocol.ErrStaleState], the error that the program would or might have returned.
type StateChangedError struct {
	// Action is the instruction's name in the IDL.
	Action string
	// Negotiation is the negotiation's address.
	Negotiation solana.PublicKey
	// Before is the snapshot that the action was built on; nil for a creation.
	Before *Snapshot
	// Now is the negotiation's current state; nil if it is closed.
	Now *Snapshot
}

func (e *StateChangedError) Error() string {
	now := "closed"
	if e.Now != nil {
		now = fmt.Sprintf("%s at round %d, %s", e.Now.Status, e.Now.CurrentRound, e.Now.Describe())
	}
	return fmt.Sprintf("haggle: %s: negotiation %s has changed: %s", e.Action, e.Negotiation, now)
}

// Unwrap returns the program's refusal.
func (e *StateChangedError) Unwrap() error { return protocol.Refusal(protocol.ErrStaleState) }

// ErrAlreadyDone: the action took effect before.
var ErrAlreadyDone = transaction.WithOutcome(errors.New("haggle: the action has been done already"),
	transaction.Confirmed)

// AlreadyDone is the error of an action whose postcondition is met: this very action was sent earlier, or
// another action to the same effect, possibly by another sender. Nothing was signed now. errors.Is finds
// [ErrAlreadyDone].
type AlreadyDone struct {
	// Action is the instruction's name in the IDL.
	Action string
	// Negotiation is the address of the affected negotiation.
	Negotiation solana.PublicKey
	// Now is the negotiation's current state; nil if it is closed or was not read.
	Now *Snapshot
	// Receipt is the receipt of the transaction with the effect; nil unless the journal contains it.
	Receipt *Receipt
	// Refusal is the program's error for the simulated action; nil if it was not simulated.
	Refusal error
}

func (e *AlreadyDone) Error() string {
	return fmt.Sprintf("%v: %s on %s", ErrAlreadyDone, e.Action, e.Negotiation)
}

// Unwrap returns ErrAlreadyDone and the program's refusal.
func (e *AlreadyDone) Unwrap() []error {
	if e.Refusal == nil {
		return []error{ErrAlreadyDone}
	}
	return []error{ErrAlreadyDone, e.Refusal}
}

// TransactionOutcome returns [transaction.Confirmed].
func (e *AlreadyDone) TransactionOutcome() transaction.Outcome { return transaction.Confirmed }

// current reads the negotiation again; it returns nil if there is none. It accepts no response from before
// the slot of the snapshot.
func (a *Action) current(ctx context.Context) (*Snapshot, error) {
	options := &rpc.GetMultipleAccountsOpts{Commitment: a.client.commitment, Encoding: solana.EncodingBase64}
	if a.snapshot != nil {
		options.MinContextSlot = &a.snapshot.Slot
	}
	accounts, slot, err := send.Accounts(ctx, a.client.rpc, options, a.Negotiation)
	if err != nil {
		return nil, err
	}
	if a.snapshot != nil && slot < a.snapshot.Slot {
		return nil, fmt.Errorf("haggle: %s: the node is at slot %d, before the snapshot's slot %d", a.Name,
			slot, a.snapshot.Slot)
	}
	if isMissing(accounts[0]) {
		return nil, nil
	}
	return decodeNegotiation(a.Negotiation, accounts[0], slot)
}

// check reads the negotiation and returns an error if the precondition is not met.
func (a *Action) check(ctx context.Context) error {
	now, err := a.current(ctx)
	if err != nil || a.precondition.isMet(now) {
		return err
	}
	if a.isDone(now) {
		return &AlreadyDone{Action: a.Name, Negotiation: a.Negotiation, Now: now}
	}
	return &StateChangedError{Action: a.Name, Negotiation: a.Negotiation, Before: a.snapshot, Now: now}
}

// isDone reports whether a present or missing negotiation shows that the action took effect.
func (a *Action) isDone(now *Snapshot) bool {
	if now == nil {
		_, closes := a.builder.(*closeNegotiation)
		return closes
	}
	if a.snapshot != nil && a.snapshot.CreatedAt != now.CreatedAt {
		return false // a different negotiation with that address
	}
	return a.builder.postcondition(a.snapshot, now)
}
