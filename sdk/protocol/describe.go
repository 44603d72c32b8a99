package protocol

import "fmt"

// Describe describes on a single line whose turn it is or how the negotiation has ended. It does not consider
// the time: see [Negotiation.IsOverdue] and [Negotiation.SettleDueAt].
func (v *Negotiation) Describe() string {
	switch v.Status {
	case NegotiationStatusCreated:
		return "waiting for the seller to accept the invitation"
	case NegotiationStatusProposed, NegotiationStatusCountered:
		return v.describeBargaining()
	case NegotiationStatusAccepted:
		return v.describeMilestones()
	}
	return v.ending() + v.describeOwed()
}

func (v *Negotiation) describeBargaining() string {
	mover := sideName(v.Turn())
	switch step := v.ZopaStep(); {
	case step.IsCommit():
		return fmt.Sprintf("waiting for the %s to commit to its reservation price", mover)
	case step.IsReveal():
		return fmt.Sprintf("waiting for the %s to reveal its reservation price", mover)
	case v.HasMidpoint():
		return "the midpoint of the reservation prices stands: either side may accept it, and the buyer may offer another price"
	case !v.HasOffer():
		return "waiting for the buyer's opening offer"
	case v.RoundsLeft() == 0:
		return fmt.Sprintf("waiting for the %s to accept or reject the last offer", mover)
	}
	return fmt.Sprintf("waiting for the %s to answer the %s's offer", mover, sideName(v.OfferSide))
}

func (v *Negotiation) describeMilestones() string {
	unclaimed, disputed := 0, len(v.OpenDisputes())
	for index := range v.MilestoneCount() {
		if v.MilestoneState(index) == MilestoneStateUnclaimed {
			unclaimed++
		}
	}
	text := "agreed; "
	if index, ok := v.UnderReview(); ok {
		text += fmt.Sprintf("milestone %d is under the buyer's review", index)
	} else if unclaimed > 0 {
		text += "waiting for the seller to claim a milestone"
	} else {
		return text + "waiting for the arbiter to decide" + v.describeOwed()
	}
	if disputed > 0 {
		text += fmt.Sprintf(", and %d for the arbiter to decide", disputed)
	}
	return text + v.describeOwed()
}

func (v *Negotiation) ending() string {
	switch {
	case v.EndedWithoutZone():
		return "ended: the reservation prices left no room for a deal"
	case v.Status == NegotiationStatusSettled:
		return "settled"
	case v.Status == NegotiationStatusExpired:
		return "expired"
	case v.Status == NegotiationStatusRejected:
		return "rejected"
	}
	return v.Status.String()
}

// describeOwed describes the unclaimed payouts.
func (v *Negotiation) describeOwed() string {
	switch {
	case v.ClaimableBuyer > 0 && v.ClaimableSeller > 0:
		return "; both sides have a payout to claim"
	case v.ClaimableBuyer > 0:
		return "; the buyer has a payout to claim"
	case v.ClaimableSeller > 0:
		return "; the seller has a payout to claim"
	}
	return ""
}

func sideName(side OfferSide) string {
	if side == OfferSideBuyer {
		return "buyer"
	}
	return "seller"
}
