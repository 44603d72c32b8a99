package negotiation

import (
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
)

// milestonesView describes the milestones. Deadlines are Unix seconds.
type milestonesView struct {
	Arbiter     solana.PublicKey `json:"arbiter"`
	Deadline    int64            `json:"deadline"`
	ReviewHours uint8            `json:"review_hours"`
	// ReviewDeadline ends the claimed milestone's review.
	ReviewDeadline int64 `json:"review_deadline,omitempty"`
	// Paid is the total paid for all milestones, including the fee.
	Paid       amount.Tokens   `json:"paid"`
	Milestones []milestoneView `json:"milestones"`
	// Agreement is the amount paid for the milestones in state "settled by agreement", including the fee.
	Agreement *amount.Tokens `json:"agreement,omitempty"`
}

// milestoneView describes a milestone. Indexes start at 0.
type milestoneView struct {
	Index    uint8  `json:"index"`
	ShareBps uint16 `json:"share_bps"`
	// Amount is the tranche: the milestone's part of the price.
	Amount *amount.Tokens `json:"amount,omitempty"`
	// State is "unclaimed", "under review", "disputed", "paid", "paid in part", "refunded", "settled by
	// agreement", or "decided" if the node does not return the history.
	State string `json:"state,omitempty"`
	// Paid is the part of the tranche paid, including the fee. The rest is back with the buyer.
	Paid *amount.Tokens `json:"paid,omitempty"`
}

func viewMilestones(n *haggle.Snapshot, tokens func(uint64) amount.Tokens, paid payments) *milestonesView {
	if n.MilestoneCount() == 0 {
		return nil
	}
	v := &milestonesView{Arbiter: n.Arbiter, Deadline: n.MilestoneDeadline, ReviewHours: n.ReviewHours, Paid: tokens(n.PaidGross)}
	if _, underReview := n.UnderReview(); underReview && n.IsAgreed() {
		v.ReviewDeadline = n.TurnDeadline
	}
	if len(paid.byAgreement) > 0 {
		v.Agreement = new(tokens(paid.agreement))
	}
	for index := range n.MilestoneCount() {
		v.Milestones = append(v.Milestones, viewMilestone(n, index, tokens, paid))
	}
	return v
}

func viewMilestone(
	n *haggle.Snapshot, index uint8, tokens func(uint64) amount.Tokens, paid payments,
) milestoneView {
	v := milestoneView{Index: index, ShareBps: n.MilestoneBps[index]}
	if n.SettledAmount == 0 {
		return v
	}
	tranche := trancheOf(n, index)
	v.Amount, v.State = new(tokens(tranche)), n.MilestoneState(index).String()
	units, known := paid.of[index]
	switch {
	case paid.byAgreement[index]:
		v.State = "settled by agreement"
		return v
	case !known:
		return v
	case units == tranche:
		v.State = "paid"
	case units == 0:
		v.State = "refunded"
	default:
		v.State = "paid in part"
	}
	v.Paid = new(tokens(units))
	return v
}

func (m *milestonesView) text(v negotiationView) string {
	if m == nil {
		return ""
	}
	var rows [][]string
	for _, milestone := range m.Milestones {
		rows = append(rows, []string{
			fmt.Sprint(milestone.Index), format.Percent(milestone.ShareBps), optional(milestone.Amount), milestone.State,
			optional(milestone.Paid),
		})
	}
	header := []string{"INDEX", "SHARE"}
	if m.Milestones[0].Amount != nil {
		header = append(header, "TRANCHE", "STATE", "PAID")
	}
	text := format.Table(header, rows)
	if v.Price != nil {
		text += fmt.Sprintf("\npaid %s of %s", m.Paid, v.Price)
	}
	if m.Agreement != nil {
		text += fmt.Sprintf(", of which %s by agreement", m.Agreement)
	}
	if m.ReviewDeadline > 0 {
		text += "\nreview ends " + format.When(m.ReviewDeadline, v.now)
	}
	return text + fmt.Sprintf("\nreview %dh each, due %s\narbiter %s", m.ReviewHours, format.When(m.Deadline, v.now), m.Arbiter)
}
