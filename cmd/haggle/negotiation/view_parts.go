package negotiation

import (
	"fmt"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// bondView describes the seller's bond.
type bondView struct {
	Amount amount.Tokens `json:"amount"`
	State  string        `json:"state"`
}

func viewBond(n *haggle.Snapshot, tokens func(uint64) amount.Tokens) *bondView {
	if n.BondRequired == 0 {
		return nil
	}
	state := strings.ToLower(n.BondState.String())
	if n.BondState == protocol.BondStateNone {
		state = "required"
	}
	return &bondView{tokens(n.BondRequired), state}
}

func (b *bondView) text() string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf("%s, %s", b.Amount, b.State)
}

// zopaView describes the comparison of reservation prices.
type zopaView struct {
	Phase       string         `json:"phase"`
	Next        string         `json:"next,omitempty"`
	BuyerPrice  *amount.Tokens `json:"buyer_price,omitempty"`
	SellerPrice *amount.Tokens `json:"seller_price,omitempty"`
}

func viewZopa(n *haggle.Snapshot, tokens func(uint64) amount.Tokens) *zopaView {
	if !n.ZopaEnabled {
		return nil
	}
	v := &zopaView{Phase: n.ZopaPhase.String()}
	if next := n.ZopaStep(); next != protocol.ZopaStepNone {
		v.Next = next.String()
	}
	if n.BuyerPrice > 0 {
		v.BuyerPrice = new(tokens(n.BuyerPrice))
	}
	if n.SellerPrice > 0 {
		v.SellerPrice = new(tokens(n.SellerPrice))
	}
	return v
}

func (z *zopaView) text() string {
	if z == nil {
		return ""
	}
	parts := []string{"comparison: " + z.Phase}
	if z.Next != "" {
		parts = append(parts, "next: the "+z.Next)
	}
	if z.BuyerPrice != nil {
		parts = append(parts, "buyer "+z.BuyerPrice.String())
	}
	if z.SellerPrice != nil {
		parts = append(parts, "seller "+z.SellerPrice.String())
	}
	return strings.Join(parts, ", ")
}

// milestonesView describes the milestones. Deadlines are Unix seconds.
type milestonesView struct {
	Arbiter        solana.PublicKey `json:"arbiter"`
	Deadline       int64            `json:"deadline"`
	ReviewHours    uint8            `json:"review_hours"`
	ReviewDeadline int64            `json:"review_deadline,omitempty"`
	Paid           amount.Tokens    `json:"paid"`
	Milestones     []milestoneView  `json:"milestones"`
}

type milestoneView struct {
	ShareBps uint16         `json:"share_bps"`
	Amount   *amount.Tokens `json:"amount,omitempty"`
	State    string         `json:"state,omitempty"`
}

func viewMilestones(n *haggle.Snapshot, tokens func(uint64) amount.Tokens) *milestonesView {
	if n.MilestoneCount() == 0 {
		return nil
	}
	v := &milestonesView{Arbiter: n.Arbiter, Deadline: n.MilestoneDeadline, ReviewHours: n.ReviewHours, Paid: tokens(n.PaidGross)}
	if _, underReview := n.UnderReview(); underReview && n.IsAgreed() {
		v.ReviewDeadline = n.TurnDeadline
	}
	for index := range n.MilestoneCount() {
		milestone := milestoneView{ShareBps: n.MilestoneBps[index]}
		if n.SettledAmount > 0 {
			milestone.State = n.MilestoneState(index).String()
			if tranche, err := n.Tranche(index); err == nil {
				milestone.Amount = new(tokens(tranche))
			}
		}
		v.Milestones = append(v.Milestones, milestone)
	}
	return v
}

func (m *milestonesView) text(v negotiationView) string {
	if m == nil {
		return ""
	}
	var lines []string
	for index, milestone := range m.Milestones {
		line := fmt.Sprintf("%d: %s", index, format.Percent(milestone.ShareBps))
		if milestone.Amount != nil {
			line += fmt.Sprintf(", %s, %s", milestone.Amount, milestone.State)
		}
		lines = append(lines, line)
	}
	if m.ReviewDeadline > 0 {
		lines = append(lines, "review ends "+format.Clock(m.ReviewDeadline))
	}
	lines = append(lines, fmt.Sprintf("review %dh each, due %s, arbiter %s", m.ReviewHours, format.Clock(m.Deadline), m.Arbiter))
	return strings.Join(lines, "\n")
}
