package negotiation

import (
	"encoding/hex"
	"fmt"
	"math/bits"
	"reflect"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/result"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// deal holds the negotiation values needed in event texts.
type deal struct {
	buyer, seller, mint solana.PublicKey
	// window is the response window in seconds, and deadline the global deadline in Unix seconds.
	window, deadline int64
	tokens           func(uint64) amount.Tokens
}

func dealOf(n *haggle.Snapshot) *deal {
	return &deal{
		buyer: n.Buyer, seller: n.Seller, mint: n.TokenMint, window: n.ResponseWindow, deadline: n.GlobalDeadline,
	}
}

func createdDeal(e *protocol.NegotiationCreated) *deal {
	return &deal{
		buyer: e.Buyer, seller: e.Seller, mint: e.TokenMint, window: e.ResponseWindow, deadline: e.GlobalDeadline,
	}
}

// baseUnits formats amounts for an unknown mint.
func baseUnits(units uint64) amount.Tokens {
	return amount.Tokens{Units: units, Symbol: "base units"}
}

// timeOf returns an event's time in Unix seconds.
func timeOf(event protocol.Event) (second int64, timed bool) {
	field := reflect.ValueOf(event).Elem().FieldByName("Timestamp")
	if !field.IsValid() {
		return 0, false
	}
	return field.Int(), true
}

// text describes an event for people, with the same names as every other output.
func (d *deal) text(event protocol.Event) string {
	switch e := event.(type) {
	case *protocol.NegotiationCreated:
		return fmt.Sprintf("created: %s in escrow, %d rounds, %s left",
			d.tokens(e.EscrowAmount), e.MaxRounds, format.Coarse(e.GlobalDeadline-e.Timestamp))
	case *protocol.InvitationAccepted:
		return result.Of("accept_invitation") + d.left(e.TurnDeadline-e.Timestamp)
	case *protocol.ZopaCommitted:
		return result.Of("submit_zopa_commitment") + " by the " + d.party(e.Agent)
	case *protocol.ZopaRevealed:
		text := fmt.Sprintf("%s: %s by the %s",
			result.Of("reveal_zopa_price"), d.tokens(e.Price), d.party(e.Agent))
		if e.Midpoint > 0 {
			text += fmt.Sprintf("; the midpoint is %s", d.tokens(e.Midpoint))
		}
		return text
	case *protocol.OfferSubmitted:
		return d.offerText(e)
	case *protocol.OfferAccepted:
		return fmt.Sprintf("offer accepted: %s in round %d, by the %s",
			d.tokens(e.Amount), e.Round, d.party(e.AcceptedBy))
	case *protocol.BondSettled:
		return fmt.Sprintf("bond settled: %s to the %s (%s)", d.tokens(e.Amount), d.party(e.To), bondReasons[e.Reason])
	case *protocol.NegotiationSettled:
		return fmt.Sprintf("settled: %s (fee %s, decay %s)",
			d.tokens(e.SettledAmount), d.tokens(e.ProtocolFee), d.tokens(e.EscrowDecayTotal))
	case *protocol.NegotiationRejected:
		if e.RejectedBy == e.NegotiationID {
			return fmt.Sprintf("ended without a zone of agreement: %s back to the buyer",
				d.tokens(e.RefundAmount))
		}
		return fmt.Sprintf("rejected by the %s: %s back to the buyer",
			d.party(e.RejectedBy), d.tokens(e.RefundAmount))
	case *protocol.NegotiationExpired:
		return fmt.Sprintf("expired: %s back to the buyer", d.tokens(e.RefundAmount))
	case *protocol.PayoutRecorded:
		return fmt.Sprintf("payout recorded: %s for the %s, whose token account could not receive it",
			d.tokens(e.Amount), d.party(e.Party))
	case *protocol.PayoutClaimed:
		return fmt.Sprintf("payout claimed: %s by the %s", d.tokens(e.Amount), d.party(e.Party))
	case *protocol.NegotiationClosed:
		return fmt.Sprintf("closed: %s to the treasury", d.tokens(e.Swept))
	}
	return d.milestoneText(event)
}

// offerText describes a bid of the buyer or an ask of the seller.
func (d *deal) offerText(e *protocol.OfferSubmitted) string {
	verb := map[solana.PublicKey]string{d.buyer: "buyer bids", d.seller: "seller asks"}[e.Offerer]
	if verb == "" {
		verb = format.Short(e.Offerer) + " offers"
	}
	left := ""
	if d.window > 0 {
		left = d.left(min(d.window, d.deadline-e.Timestamp))
	}
	return fmt.Sprintf("round %d: %s %s%s; escrow worth %s",
		e.Round, verb, d.tokens(e.Amount), left, d.tokens(e.EffectiveEscrow))
}

func (d *deal) milestoneText(event protocol.Event) string {
	switch e := event.(type) {
	case *protocol.MilestoneClaimed:
		return fmt.Sprintf("milestone claimed: %d, %s to review%s",
			e.Index, format.Coarse(e.ReviewDeadline-e.Timestamp), evidenceText(e.Evidence))
	case *protocol.MilestoneReleased:
		return fmt.Sprintf("milestone released: %d, %s to the seller (fee %s)",
			e.Index, d.tokens(e.SellerAmount), d.tokens(e.Fee))
	case *protocol.MilestoneDisputed:
		return fmt.Sprintf("milestone disputed: %d%s", e.Index, evidenceText(e.Evidence))
	case *protocol.DisputeResolved:
		return fmt.Sprintf("dispute resolved: milestone %d, %s to the seller (fee %s), %s to the buyer",
			e.Index, d.tokens(e.SellerAmount), d.tokens(e.Fee), d.tokens(e.BuyerAmount))
	case *protocol.DeadlineSettled:
		return fmt.Sprintf("settled at the deadline: milestones%s; %s to the seller (fee %s), %s to the buyer",
			masksText(e), d.tokens(e.SellerAmount), d.tokens(e.Fee), d.tokens(e.BuyerAmount))
	case *protocol.AgreementSettled:
		return fmt.Sprintf("settled by agreement: %s to the seller (fee %s), %s to the buyer, %s of the bond to the buyer",
			d.tokens(e.SellerAmount), d.tokens(e.Fee), d.tokens(e.BuyerAmount), d.tokens(e.BondToBuyer))
	}
	return event.EventName()
}

// masksText lists the milestones by outcome: " 0, 2 paid, 1 refunded".
func masksText(e *protocol.DeadlineSettled) string {
	text := ""
	for _, group := range []struct {
		mask    uint8
		outcome string
	}{{e.Released, "paid"}, {e.Split, "halved"}, {e.Refunded, "refunded"}} {
		if group.mask == 0 {
			continue
		}
		if text != "" {
			text += ","
		}
		separator := " "
		for mask := group.mask; mask != 0; mask &= mask - 1 {
			text += fmt.Sprint(separator, bits.TrailingZeros8(mask))
			separator = ", "
		}
		text += " " + group.outcome
	}
	return text
}

// left returns a comma and the time left to respond.
func (d *deal) left(seconds int64) string { return ", " + format.Coarse(max(seconds, 0)) + " left" }

// party returns "buyer" or "seller". It shortens other addresses.
func (d *deal) party(address solana.PublicKey) string {
	switch address {
	case d.buyer:
		return "buyer"
	case d.seller:
		return "seller"
	}
	return "account " + format.Short(address)
}

// evidenceText returns the evidence hash as text. Zeros mean no evidence.
func evidenceText(evidence [32]byte) string {
	if evidence == [32]byte{} {
		return ""
	}
	return ", evidence " + hex.EncodeToString(evidence[:])
}

// bondReasons describes the reasons for bond payments.
var bondReasons = map[protocol.BondReason]string{
	protocol.BondReasonSettlement: "the price is settled", protocol.BondReasonNoDeal: "no deal: each side bears its delay",
	protocol.BondReasonForfeit: "forfeited", protocol.BondReasonAgreement: "by agreement",
}
