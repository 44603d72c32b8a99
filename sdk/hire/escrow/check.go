package escrow

import (
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// MismatchError is a difference between a negotiation and the terms that it should settle. The negotiation
// settles other terms, or these are no longer settleable: do not act on it, and do not deliver.
type MismatchError struct {
	// Negotiation identifies the negotiation.
	Negotiation solana.PublicKey
	// Field is the account's field, or "address".
	Field string
	// Have and Want hold the actual and required values.
	Have, Want string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("escrow: negotiation %s: %s is %s instead of %s", e.Negotiation, e.Field, e.Have, e.Want)
}

// comparison compares one field.
type comparison struct {
	field string
	ok    bool
	have  any
	want  any
}

// Check succeeds if the negotiation settles these terms, and returns a [*MismatchError] for the first field
// that differs. It applies in every status: an open negotiation must have time left, an offer and an agreed
// price must equal the terms' price, and a rejected or expired negotiation settles nothing. In settled
// negotiations PaidGross is the paid part of the price. Check trusts the node that returned the snapshot:
// before starting work, the worker verifies the escrow at several nodes with [haggle.Client.VerifySettlement]
// and [haggle.Settlement].Agreed.
func (t Terms) Check(n *haggle.Snapshot) error {
	address, err := t.Address()
	if err != nil {
		return err
	}
	for _, compare := range [][]comparison{t.parties(address, n), t.amounts(n), t.times(n), t.progress(n)} {
		for _, c := range compare {
			if !c.ok {
				return &MismatchError{n.Address, c.field, fmt.Sprint(c.have), fmt.Sprint(c.want)}
			}
		}
	}
	return nil
}

func equal[T comparable](field string, have, want T) comparison {
	return comparison{field, have == want, have, want}
}

func (t Terms) parties(address solana.PublicKey, n *haggle.Snapshot) []comparison {
	return []comparison{
		equal("address", n.Address, address),
		equal("buyer", n.Buyer, t.Seeker),
		equal("seller", n.Seller, t.Worker),
		equal("session_id", n.SessionID, t.Session),
		equal("arbiter", n.Arbiter, t.Arbiter),
		equal("service_hash", hash(n.ServiceHash), hash(t.Service)),
	}
}

// hash is printed in hexadecimal digits.
type hash [32]byte

func (h hash) String() string { return fmt.Sprintf("%x", h[:]) }

func (t Terms) amounts(n *haggle.Snapshot) []comparison {
	return []comparison{
		equal("token_mint", n.TokenMint, t.Mint),
		equal("escrow_amount", n.EscrowAmount, t.Price),
		equal("decay_rate_bps", n.DecayRateBps, 0),
		equal("max_rounds", n.MaxRounds, MaxRounds),
		equal("bond_required", n.BondRequired, 0),
		equal("zopa_enabled", n.ZopaEnabled, false),
		equal("milestone_bps", n.MilestoneBps, [8]uint16{uint16(protocol.BpsDenominator)}),
		{"protocol_fee_bps", n.ProtocolFeeBps <= MaxFeeBps, n.ProtocolFeeBps, atMost(MaxFeeBps)},
	}
}

func atMost(limit any) string  { return fmt.Sprintf("at most %v", limit) }
func atLeast(limit any) string { return fmt.Sprintf("at least %v", limit) }

func (t Terms) times(n *haggle.Snapshot) []comparison {
	const window, global = int64(ResponseWindow / time.Second), int64(MinGlobalDeadline / time.Second)
	// A worker that delivers at the deadline can still claim the milestone, even if the price is agreed late.
	earliest := protocol.EarliestMilestoneDeadline(max(t.deadline(), n.GlobalDeadline), 1, n.ReviewHours)
	latest := earliest + int64(MaxExtraDelivery/time.Second)
	return []comparison{
		{"response_window", n.ResponseWindow >= window, n.ResponseWindow, atLeast(window)},
		{"global_deadline", n.GlobalDeadline-n.CreatedAt >= global, n.GlobalDeadline, atLeast(n.CreatedAt + global)},
		{"review_hours", n.ReviewHours <= ReviewHours, n.ReviewHours, atMost(ReviewHours)},
		{"milestone_deadline", n.MilestoneDeadline >= earliest, n.MilestoneDeadline, atLeast(earliest)},
		{"milestone_deadline", n.MilestoneDeadline <= latest, n.MilestoneDeadline, atMost(latest)},
	}
}

// progress compares status, offer and agreed price.
func (t Terms) progress(n *haggle.Snapshot) []comparison {
	ended := n.Status == protocol.NegotiationStatusRejected || n.Status == protocol.NegotiationStatusExpired
	all := []comparison{
		{"status", !ended, n.Status, "open, Accepted or Settled"},
		{"metadata", n.Metadata == [protocol.MaxMetadataLen]byte{}, fmt.Sprintf("%x", n.Metadata), "zero"},
	}
	switch {
	case n.IsAgreed(), n.IsOver():
		all = append(all, equal("settled_amount", n.SettledAmount, t.Price))
	case n.HasOffer():
		all = append(all, equal("current_offer_amount", n.CurrentOfferAmount, t.Price))
	}
	if n.IsOpen() {
		all = append(all, comparison{"turn_deadline", !n.IsOverdue(n.Time), n.TurnDeadline,
			fmt.Sprintf("after %d, the present", n.Time)})
	}
	return all
}
