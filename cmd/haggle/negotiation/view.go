package negotiation

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// negotiationView describes a negotiation. Times are Unix seconds of the chain's clock, lengths of time are
// seconds.
type negotiationView struct {
	Negotiation     solana.PublicKey `json:"negotiation"`
	Status          string           `json:"status"`
	Buyer           solana.PublicKey `json:"buyer"`
	Seller          solana.PublicKey `json:"seller"`
	SessionID       string           `json:"session_id"`
	Mint            solana.PublicKey `json:"mint"`
	ServiceHash     string           `json:"service_hash"`
	TermsHash       string           `json:"terms_hash,omitempty"`
	Terms           *termsView       `json:"terms,omitempty"`
	Round           uint8            `json:"round"`
	MaxRounds       uint8            `json:"max_rounds"`
	Offer           *offerView       `json:"offer,omitempty"`
	Turn            string           `json:"turn,omitempty"`
	NextOffer       *rangeView       `json:"next_offer,omitempty"`
	Escrow          amount.Tokens    `json:"escrow"`
	EffectiveEscrow amount.Tokens    `json:"effective_escrow"`
	// Price is the agreed price if the negotiation has milestones. Settled is lower if a milestone was
	// refunded or divided.
	Price *amount.Tokens `json:"price,omitempty"`
	// Settled is the amount paid, including the fee.
	Settled         *amount.Tokens  `json:"settled,omitempty"`
	ClaimableBuyer  *amount.Tokens  `json:"claimable_buyer,omitempty"`
	ClaimableSeller *amount.Tokens  `json:"claimable_seller,omitempty"`
	DecayRateBps    uint16          `json:"decay_rate_bps"`
	ProtocolFeeBps  uint16          `json:"protocol_fee_bps"`
	MinOfferBps     uint16          `json:"min_offer_bps"`
	ResponseWindow  int64           `json:"response_window"`
	CreatedAt       int64           `json:"created_at"`
	TurnDeadline    int64           `json:"turn_deadline"`
	GlobalDeadline  int64           `json:"global_deadline"`
	Overdue         bool            `json:"overdue"`
	Situation       string          `json:"situation"`
	Extension       uint32          `json:"pending_extension,omitempty"`
	Bond            *bondView       `json:"bond,omitempty"`
	Zopa            *zopaView       `json:"zopa,omitempty"`
	Milestones      *milestonesView `json:"milestones,omitempty"`

	now int64
}

type offerView struct {
	Amount amount.Tokens `json:"amount"`
	By     string        `json:"by"`
	Terms  *termsView    `json:"terms,omitempty"`
}

type rangeView struct {
	Least amount.Tokens `json:"least"`
	Most  amount.Tokens `json:"most"`
}

// view describes a negotiation at a time of the chain's clock, in Unix seconds.
func view(
	n *haggle.Snapshot, now int64, tokens func(uint64) amount.Tokens, paid payments,
) negotiationView {
	v := negotiationView{
		Negotiation: n.Address, Status: n.Status.String(), Buyer: n.Buyer, Seller: n.Seller,
		SessionID: strconv.FormatUint(n.SessionID, 10), Mint: n.TokenMint, ServiceHash: hex.EncodeToString(n.ServiceHash[:]),
		Round: n.CurrentRound, MaxRounds: n.MaxRounds, Escrow: tokens(n.EscrowAmount), EffectiveEscrow: tokens(n.EffectiveEscrow),
		DecayRateBps: n.DecayRateBps, ProtocolFeeBps: n.ProtocolFeeBps, MinOfferBps: n.MinOfferBps, ResponseWindow: n.ResponseWindow,
		CreatedAt: n.CreatedAt, TurnDeadline: n.TurnDeadline, GlobalDeadline: n.GlobalDeadline, Overdue: n.IsOverdue(now), now: now,
		Situation: n.Describe(), Extension: n.PendingExtension,
		Bond: viewBond(n, tokens), Zopa: viewZopa(n, tokens), Milestones: viewMilestones(n, tokens, paid),
	}
	if n.Status == protocol.NegotiationStatusCreated {
		hash := protocol.TermsHash(n.Address, n.Data)
		v.TermsHash = hex.EncodeToString(hash[:])
		v.Terms = viewTerms(n.Metadata, tokens)
	}
	if n.HasOffer() {
		v.Offer = &offerView{Amount: tokens(n.CurrentOfferAmount), By: offeredBy(n), Terms: viewTerms(n.Metadata, tokens)}
	}
	if n.IsBargaining() {
		v.Turn = format.Side(n.Turn())
		if n.CurrentRound < n.MaxRounds && n.ZopaStep() == protocol.ZopaStepNone {
			least, most := n.OfferRange()
			v.NextOffer = &rangeView{tokens(least), tokens(most)}
		}
	}
	if n.Status == protocol.NegotiationStatusSettled {
		v.Settled = new(tokens(n.PaidGross))
	}
	if n.MilestoneCount() > 0 && n.SettledAmount > 0 {
		v.Price = new(tokens(n.SettledAmount))
	}
	if n.ClaimableBuyer > 0 {
		v.ClaimableBuyer = new(tokens(n.ClaimableBuyer))
	}
	if n.ClaimableSeller > 0 {
		v.ClaimableSeller = new(tokens(n.ClaimableSeller))
	}
	return v
}

// text describes the negotiation for people.
func (v negotiationView) text() string {
	rows := format.Rows{
		{"buyer", v.Buyer.String()},
		{"seller", v.Seller.String()},
		{"mint", v.Mint.String()},
		{"service", v.ServiceHash},
		{"terms", v.TermsHash + v.Terms.text()},
		{"escrow", v.escrowText()},
		{"round", fmt.Sprintf("%d of %d", v.Round, v.MaxRounds)},
		{"offer", v.offerText()},
		{"turn", v.turnText()},
		{"next offer", v.nextOfferText()},
		{"extension", v.extensionText()},
		{"bond", v.Bond.text()},
		{"prices", v.Zopa.text()},
		{"milestones", v.Milestones.text(v)},
		{"price", optional(v.Price)},
		{"settled for", optional(v.Settled)},
		{"owed to buyer", optional(v.ClaimableBuyer)},
		{"owed to seller", optional(v.ClaimableSeller)},
		{"fee", format.Percent(v.ProtocolFeeBps) + " of the price"},
		{"ends", v.endText()},
	}
	return fmt.Sprintf("%s  %s: %s\n%s", v.Negotiation, v.Status, v.Situation, rows.String())
}

func (v negotiationView) escrowText() string {
	if v.endText() == "" {
		return fmt.Sprintf("%s, of which %s remained at the end", v.Escrow, v.EffectiveEscrow)
	}
	return fmt.Sprintf("%s, now worth %s (%s per round decays)", v.Escrow, v.EffectiveEscrow, format.Percent(v.DecayRateBps))
}

func (v negotiationView) offerText() string {
	if v.Offer == nil {
		return ""
	}
	if v.Offer.By == midpoint {
		return fmt.Sprintf("%s, the midpoint of the reservation prices: either side can accept it", v.Offer.Amount)
	}
	return fmt.Sprintf("%s by the %s%s", v.Offer.Amount, v.Offer.By, v.Offer.Terms.text())
}

func (v negotiationView) turnText() string {
	if v.Turn == "" {
		return ""
	}
	return fmt.Sprintf("%s, until %s", v.Turn, v.when(v.TurnDeadline))
}

func (v negotiationView) nextOfferText() string {
	if v.NextOffer == nil {
		return ""
	}
	return fmt.Sprintf("from %s to %s", v.NextOffer.Least, v.NextOffer.Most)
}

func (v negotiationView) extensionText() string {
	if v.Extension == 0 {
		return ""
	}
	return duration.Format(time.Duration(v.Extension)*time.Second) + " proposed with the latest offer"
}

// midpoint stands for the offer side if the price is the midpoint of the reservation prices.
const midpoint = "midpoint"

// offeredBy returns a side, or midpoint.
func offeredBy(n *haggle.Snapshot) string {
	if n.HasMidpoint() {
		return midpoint
	}
	return format.Side(n.OfferSide)
}

func (v negotiationView) endText() string {
	switch v.Status {
	case protocol.NegotiationStatusCreated.String(), protocol.NegotiationStatusProposed.String(), protocol.NegotiationStatusCountered.String():
		return v.when(v.GlobalDeadline)
	}
	return ""
}

// when formats a time and the distance from the view's time.
func (v negotiationView) when(second int64) string {
	text := format.When(second, v.now)
	if second <= v.now {
		text += ": the negotiation can be expired"
	}
	return text
}

func optional(tokens *amount.Tokens) string {
	if tokens == nil {
		return ""
	}
	return tokens.String()
}

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
	// NashPrice is the Nash solution price for linear utilities: the midpoint of the two prices, rounded
	// down. It is missing until both prices are revealed, and if the buyer's is lower than the seller's.
	NashPrice *amount.Tokens `json:"nash_price,omitempty"`
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
	if v.BuyerPrice != nil && v.SellerPrice != nil {
		if nash, ok := protocol.NashBenchmark(n.BuyerPrice, n.SellerPrice); ok {
			v.NashPrice = new(tokens(nash))
		}
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
	if z.NashPrice != nil {
		parts = append(parts, "Nash price "+z.NashPrice.String())
	}
	return strings.Join(parts, ", ")
}
