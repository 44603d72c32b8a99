package agent

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Decision is an agent's move: an [Offer], [Accept], [Reject] or [Wait]. It is carried out on the turn's
// snapshot only.
type Decision interface {
	// check returns why it cannot be carried out.
	check(turn Turn) error
}

// Offer makes an offer, or a counter-offer.
type Offer struct {
	// Amount is the price in the mint's base units: see [Turn.InRange].
	Amount uint64
	// DeadlineExtension proposes to move the negotiation's deadline: see [haggle.Offer]. It is rounded
	// up to seconds and must not be negative. If zero, nothing is proposed.
	DeadlineExtension time.Duration
	// Terms holds the terms beside the price. If nil, the offer contains none.
	Terms *protocol.Terms
	// Document is the hash of a terms document beside the price: see package terms of bargain. If nil, the
	// offer contains none. Terms and Document exclude each other.
	Document *protocol.TermsDocument
}

// Accept accepts the offer that stands: price, round and metadata match the turn.
type Accept struct{}

// Reject ends the negotiation. A seller that rejects between the buyer's reveal and first offer forfeits the
// bond: see [protocol.Negotiation.RejectionForfeitsBond].
type Reject struct{}

// Wait does nothing until the negotiation changes.
type Wait struct {
	// Until is the time to call the function again although nothing changed, in Unix seconds of the chain's
	// clock. It must be later than Turn.Now. If zero, only the last call follows.
	Until int64
}

// MilestoneMove is an agent's move about milestones: a [ClaimMilestone], [ReleaseMilestone],
// [DisputeMilestone] or [Wait].
type MilestoneMove interface {
	checkMilestone(turn Turn) error
}

// ClaimMilestone claims a milestone as the seller.
type ClaimMilestone struct {
	// Index is the milestone, from 0.
	Index uint8
	// Evidence is the delivery's hash: see [protocol.EvidenceHash]. If zero, the claim states none.
	Evidence [32]byte
}

// ReleaseMilestone pays a claimed milestone as the buyer.
type ReleaseMilestone struct {
	// Index is the milestone, from 0.
	Index uint8
}

// DisputeMilestone disputes a claimed milestone as the buyer: the arbiter then decides it.
type DisputeMilestone struct {
	// Index is the milestone, from 0.
	Index uint8
	// Evidence is the complaint's hash: see [protocol.EvidenceHash]. If zero, the dispute states none.
	Evidence [32]byte
}

// InvalidDecision reports a decision that cannot be carried out. Nothing changed on chain. If the program
// rejects it or would reject it, errors.Is finds the program's code, such as [protocol.ErrOfferTooLow]; if it
// is beyond the agent's own limits, [ErrBeyondLimit].
type InvalidDecision struct {
	// Negotiation is the negotiation's address.
	Negotiation solana.PublicKey
	// Decision is the [Decision] or [MilestoneMove]; nil if there was none.
	Decision any
	// Reason is the rule that it breaks.
	Reason error
}

func (e *InvalidDecision) Error() string {
	if e.Decision == nil {
		return fmt.Sprintf("agent: invalid decision on %s: %v", e.Negotiation, e.Reason)
	}
	return fmt.Sprintf("agent: invalid decision %s on %s: %v", describe(e.Decision), e.Negotiation, e.Reason)
}

// describe returns a decision's type and fields.
func describe(decision any) string { return fmt.Sprintf("%T%+v", decision, decision) }

// Unwrap returns the reason.
func (e *InvalidDecision) Unwrap() error { return e.Reason }

var (
	errNoDecision   = errors.New("no decision and no error")
	errPointer      = errors.New("must be a value of the package's types, not a pointer")
	errNoRoundsLeft = errors.New("no rounds are left: accept or reject at the last call")
)

// validate returns an *InvalidDecision, or nil.
func validate(turn Turn, decision Decision) error {
	reason := errNoDecision
	switch decision.(type) {
	case nil:
	case Offer, Accept, Reject, Wait:
		reason = decision.check(turn)
	default:
		reason = errPointer
	}
	return invalidIf(turn, decision, reason)
}

// validateMilestone returns an *InvalidDecision, or nil.
func validateMilestone(turn Turn, move MilestoneMove) error {
	reason := errNoDecision
	switch move.(type) {
	case nil:
	case ClaimMilestone, ReleaseMilestone, DisputeMilestone, Wait:
		reason = move.checkMilestone(turn)
	default:
		reason = errPointer
	}
	return invalidIf(turn, move, reason)
}

func invalidIf(turn Turn, decision any, reason error) error {
	if reason == nil {
		return nil
	}
	return &InvalidDecision{Negotiation: turn.Negotiation.Address, Decision: decision, Reason: reason}
}

func refused(code protocol.ErrorCode, detail string, values ...any) error {
	return fmt.Errorf("%w: %s", code, fmt.Sprintf(detail, values...))
}

func (o Offer) check(turn Turn) error {
	n := turn.Negotiation
	if o.Terms != nil && o.Document != nil {
		return refused(protocol.ErrInvalidParams, "both Terms and Document are given")
	}
	if n.Turn() != turn.Side {
		return refused(protocol.ErrNotYourTurn, "the next offer is the other side's")
	}
	if n.RoundsLeft() == 0 {
		return refused(protocol.ErrMaxRoundsReached, "%d offers have been made: accept or reject", n.CurrentRound)
	}
	if least, most := n.OfferRange(); o.Amount < least {
		return amount.Errorf(n.TokenMint, "%w: %v, at least %v", protocol.ErrOfferTooLow, amount.Units(o.Amount),
			amount.Units(least))
	} else if o.Amount > most {
		return amount.Errorf(n.TokenMint, "%w: %v, at most %v", protocol.ErrOfferExceedsEscrow,
			amount.Units(o.Amount), amount.Units(most))
	}
	if err := turn.Limits.check(n, turn.Side, o.Amount, n.DecayAfterRound()); err != nil {
		return err
	}
	return o.checkExtension(n)
}

// checkExtension returns why the deadline cannot be extended, if the extension would be applied now.
func (o Offer) checkExtension(n *haggle.Snapshot) error {
	seconds := int64((o.DeadlineExtension + time.Second - 1) / time.Second)
	if o.DeadlineExtension < 0 || seconds > math.MaxUint32 {
		return refused(protocol.ErrInvalidParams, "the deadline cannot be extended by %s", o.DeadlineExtension)
	}
	if seconds == 0 || n.PendingExtension == 0 {
		return nil
	}
	moved := n.GlobalDeadline + min(seconds, int64(n.PendingExtension))
	if latest := n.CreatedAt + protocol.MaxDeadlineSeconds; moved > latest {
		return refused(protocol.ErrInvalidParams, "the deadline would be %d, at most %d", moved, latest)
	}
	count := n.MilestoneCount()
	if count == 0 {
		return nil
	}
	if latest := n.LatestClaim(count); moved > latest {
		return refused(protocol.ErrInvalidParams,
			"the deadline would be %d, at most %d to leave the milestones their time", moved, latest)
	}
	return nil
}

func (o Offer) offer() haggle.Offer {
	offer := haggle.Offer{Amount: o.Amount, DeadlineExtension: o.DeadlineExtension}
	if o.Terms != nil {
		offer.Metadata = o.Terms.Metadata()
	}
	if o.Document != nil {
		offer.Metadata = o.Document.Metadata()
	}
	return offer
}

func (Accept) check(turn Turn) error {
	if !turn.Negotiation.HasOffer() {
		return refused(protocol.ErrInvalidState, "there is no offer")
	}
	if !turn.CanAccept() {
		return refused(protocol.ErrNotYourTurn, "the standing offer is the agent's own")
	}
	n := turn.Negotiation
	return turn.Limits.check(n, turn.Side, n.CurrentOfferAmount, n.Decay())
}

func (Reject) check(Turn) error { return nil }

func (w Wait) check(turn Turn) error {
	if turn.LastCall && turn.Negotiation.RoundsLeft() == 0 {
		return errNoRoundsLeft
	}
	return w.checkMilestone(turn)
}

func (w Wait) checkMilestone(turn Turn) error {
	if w.Until != 0 && w.Until <= turn.Now {
		return fmt.Errorf("the time %d of Until must be later than %d", w.Until, turn.Now)
	}
	return nil
}

func (c ClaimMilestone) checkMilestone(turn Turn) error {
	if turn.Side != protocol.OfferSideSeller {
		return refused(protocol.ErrUnauthorized, "only the seller claims")
	}
	return stateOf(turn, c.Index, protocol.MilestoneStateUnclaimed)
}

func (r ReleaseMilestone) checkMilestone(turn Turn) error {
	if turn.Side != protocol.OfferSideBuyer {
		return refused(protocol.ErrUnauthorized, "only the buyer releases before the review window is over")
	}
	return stateOf(turn, r.Index, protocol.MilestoneStateUnderReview)
}

func (d DisputeMilestone) checkMilestone(turn Turn) error {
	if turn.Side != protocol.OfferSideBuyer {
		return refused(protocol.ErrUnauthorized, "only the buyer disputes")
	}
	return stateOf(turn, d.Index, protocol.MilestoneStateUnderReview)
}

func stateOf(turn Turn, index uint8, wanted protocol.MilestoneState) error {
	n := turn.Negotiation
	if index >= n.MilestoneCount() {
		return refused(protocol.ErrInvalidParams, "there is no milestone %d among %d", index, n.MilestoneCount())
	}
	if state := n.MilestoneState(index); state != wanted {
		return refused(protocol.ErrInvalidState, "milestone %d is %s", index, state)
	}
	return nil
}
