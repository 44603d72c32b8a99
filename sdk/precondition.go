package haggle

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Precondition is the part of a negotiation's state that an action depends on; fields that are nil do not matter.
// [Action.Do] reads the negotiation again before anything is signed, and returns a [*StateChangedError] if the
// precondition is not met.
type Precondition struct {
	// Absent: there is nothing at the address yet.
	Absent bool `json:"absent,omitempty"`
	// Created is when the negotiation was created, in Unix seconds: another one at the same address has another time.
	Created *int64 `json:"created,omitempty"`
	// Terms is the [protocol.TermsHash], for an invitation.
	Terms *solana.Hash `json:"terms,omitempty"`
	// Stage is how far the negotiation has come.
	Stage *protocol.Stage `json:"stage,omitempty"`
	// Status is the negotiation's.
	Status *protocol.NegotiationStatus `json:"status,omitempty"`
	// Round is how many offers have been made.
	Round *uint8 `json:"round,omitempty"`
	// Step is the step of the comparison of reservation prices.
	Step *protocol.ZopaStep `json:"step,omitempty"`
	// Offer is the latest offer, in base units of the mint.
	Offer *uint64 `json:"offer,omitempty"`
	// Metadata is what the latest offer says beside its price.
	Metadata []byte `json:"metadata,omitempty"`
	// Decided is the mask of the decided milestones.
	Decided *uint8 `json:"decided,omitempty"`
	// Milestone is the one that the action is about.
	Milestone *ExpectedMilestone `json:"milestone,omitempty"`
	// Payout is what is kept for a party.
	Payout *ExpectedPayout `json:"payout,omitempty"`
}

// ExpectedMilestone is how far a milestone is.
type ExpectedMilestone struct {
	// Index is the milestone, from 0.
	Index uint8 `json:"index"`
	// State is how far it is.
	State protocol.MilestoneState `json:"state"`
}

// ExpectedPayout is what could not be paid to a party.
type ExpectedPayout struct {
	// Party is the buyer or the seller.
	Party solana.PublicKey `json:"party"`
	// Amount is in base units of the mint.
	Amount uint64 `json:"amount"`
}

// IsZero reports whether every state meets the precondition.
func (e Precondition) IsZero() bool {
	return !e.Absent && e.Metadata == nil && e.Created == nil && e.Terms == nil && e.Stage == nil && e.Status == nil &&
		e.Round == nil && e.Step == nil && e.Offer == nil && e.Decided == nil && e.Milestone == nil && e.Payout == nil
}

// IsMet reports whether a negotiation meets the precondition; nil is one that does not exist.
func (e Precondition) IsMet(now *NegotiationAccount) bool {
	if now == nil {
		return e.Absent || e.IsZero()
	}
	return !e.Absent &&
		isAs(e.Created, now.CreatedAt) &&
		(e.Terms == nil || *e.Terms == termsOf(now)) &&
		isAs(e.Stage, now.Stage()) &&
		isAs(e.Status, now.Status) &&
		isAs(e.Round, now.CurrentRound) &&
		isAs(e.Step, now.ZopaStep()) &&
		isAs(e.Offer, now.CurrentOfferAmount) &&
		isAs(e.Decided, now.MilestonesDecided) &&
		(e.Metadata == nil || bytes.Equal(e.Metadata, now.Metadata[:])) &&
		(e.Milestone == nil || now.MilestoneState(e.Milestone.Index) == e.Milestone.State) &&
		(e.Payout == nil || now.ClaimableOf(e.Payout.Party) == e.Payout.Amount)
}

func isAs[T comparable](expected *T, actual T) bool { return expected == nil || *expected == actual }

// termsOf is the terms hash of a negotiation as it has been decoded: a caller may have made one up without Data.
func termsOf(n *NegotiationAccount) solana.Hash {
	return solana.Hash(protocol.TermsHash(n.Address, n.Negotiation.AppendTo(nil)))
}

// preconditionOf returns what an instruction on a negotiation that its signer has seen depends on.
func preconditionOf(instruction protocol.AnyInstruction, seen *NegotiationAccount) Precondition {
	expected := Precondition{Created: new(seen.CreatedAt)}
	switch on := instruction.(type) {
	case *protocol.AcceptInvitation:
		expected.Status, expected.Terms = new(seen.Status), new(termsOf(seen))
	case *protocol.SubmitOffer:
		expected.Status, expected.Round, expected.Step = new(seen.Status), new(seen.CurrentRound), new(seen.ZopaStep())
	case *protocol.AcceptOffer:
		expected.Status, expected.Round, expected.Step = new(seen.Status), new(seen.CurrentRound), new(seen.ZopaStep())
		expected.Offer, expected.Metadata = new(seen.CurrentOfferAmount), bytes.Clone(seen.Metadata[:])
	case *protocol.RejectNegotiation:
		expected.Status, expected.Round, expected.Step = new(seen.Status), new(seen.CurrentRound), new(seen.ZopaStep())
	case *protocol.SubmitZopaCommitment, *protocol.RevealZopaPrice:
		expected.Status, expected.Step = new(seen.Status), new(seen.ZopaStep())
	case *protocol.ClaimMilestone:
		expected.Milestone = milestoneOf(seen, on.Index)
	case *protocol.DisputeMilestone:
		expected.Milestone = milestoneOf(seen, on.Index)
	case *protocol.ReleaseMilestone:
		expected.Milestone = milestoneOf(seen, on.Index)
	case *protocol.ResolveDispute:
		expected.Milestone = milestoneOf(seen, on.Index)
	case *protocol.SettleByAgreement:
		expected.Stage, expected.Decided = new(seen.Stage()), new(seen.MilestonesDecided)
	case *protocol.ClaimPayout:
		expected.Payout = &ExpectedPayout{Party: on.Party, Amount: seen.ClaimableOf(on.Party)}
	default:
		expected.Stage = new(seen.Stage())
	}
	return expected
}

func milestoneOf(seen *NegotiationAccount, index uint8) *ExpectedMilestone {
	return &ExpectedMilestone{Index: index, State: seen.MilestoneState(index)}
}

// StateChangedError is the error of an action whose precondition is no longer met. Nothing has been signed. errors.Is
// finds [protocol.ErrStaleState], with which the program would have refused the action or might have.
type StateChangedError struct {
	// Action is the instruction's name in the IDL.
	Action string
	// Negotiation is the negotiation's address.
	Negotiation solana.PublicKey
	// Seen is the negotiation that the action was built on; nil for one that was to be created.
	Seen *NegotiationAccount
	// Now is the negotiation as the chain has it; nil if it has been closed.
	Now *NegotiationAccount
}

func (e *StateChangedError) Error() string {
	now := "closed"
	if e.Now != nil {
		now = fmt.Sprintf("%s at round %d, %s", e.Now.Status, e.Now.CurrentRound, e.Now.Situation())
	}
	return fmt.Sprintf("haggle: %s: negotiation %s has changed: %s", e.Action, e.Negotiation, now)
}

// Unwrap is the program's refusal.
func (e *StateChangedError) Unwrap() error { return protocol.Refusal(protocol.ErrStaleState) }

// ErrAlreadyDone: the action has taken effect before.
var ErrAlreadyDone = errors.New("haggle: the action has been done already")

// AlreadyDone is the error of an action whose postcondition is met: this very action was sent earlier, or another one
// with the same effect, which others can send, too. Nothing has been signed now. errors.Is finds [ErrAlreadyDone].
type AlreadyDone struct {
	// Action is the instruction's name in the IDL.
	Action string
	// Negotiation is the address of the one that it has been done on. That of a negotiation that was to be created can be another
	// one than the new action's, whose session id is another one.
	Negotiation solana.PublicKey
	// Now is the negotiation as the chain has it; nil if it has been closed, or has not been looked at.
	Now *NegotiationAccount
	// Receipt is that of the transaction that has done it; nil unless the journal knows it.
	Receipt *Receipt
	// Refusal is what the program has answered the simulated action with; nil if it has not been asked.
	Refusal error
}

func (e *AlreadyDone) Error() string {
	return fmt.Sprintf("%v: %s on %s", ErrAlreadyDone, e.Action, e.Negotiation)
}

// Unwrap is ErrAlreadyDone, and the program's refusal.
func (e *AlreadyDone) Unwrap() []error {
	if e.Refusal == nil {
		return []error{ErrAlreadyDone}
	}
	return []error{ErrAlreadyDone, e.Refusal}
}

// look reads the negotiation again; it returns nil if there is none. An answer from before the slot of the snapshot is
// not accepted.
func (a *Action) look(ctx context.Context) (*NegotiationAccount, error) {
	options := &rpc.GetMultipleAccountsOpts{Commitment: a.client.commitment, Encoding: solana.EncodingBase64}
	if a.seen != nil {
		options.MinContextSlot = &a.seen.Slot
	}
	accounts, slot, err := accountsAt(ctx, a.client.rpc, options, a.Negotiation)
	if err != nil {
		return nil, err
	}
	if a.seen != nil && slot < a.seen.Slot {
		return nil, fmt.Errorf("haggle: %s: the node is at slot %d, and the negotiation was seen at slot %d", a.Name, slot, a.seen.Slot)
	}
	if isMissing(accounts[0]) {
		return nil, nil
	}
	return decodeNegotiation(a.Negotiation, accounts[0], slot)
}

// check reads the negotiation and returns an error if the precondition is not met.
func (a *Action) check(ctx context.Context) error {
	if a.Precondition.IsZero() {
		return nil
	}
	now, err := a.look(ctx)
	if err != nil || a.Precondition.IsMet(now) {
		return err
	}
	if a.postcondition(now) {
		return &AlreadyDone{Action: a.Name, Negotiation: a.Negotiation, Now: now}
	}
	return &StateChangedError{Action: a.Name, Negotiation: a.Negotiation, Seen: a.seen, Now: now}
}
