package mcp

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/mint"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Amount is an amount in a mint or in lamports. It excludes the mint's symbol: the issuer can write any text
// there.
type Amount struct {
	BaseUnits string `json:"base_units" jsonschema:"whole number of the mint's smallest unit"`
	Tokens    string `json:"tokens,omitempty" jsonschema:"the same amount in tokens, with all decimals; missing if they are unknown"`
}

func amountOf(m mint.Mint, units uint64) Amount {
	return Amount{strconv.FormatUint(units, 10), m.Tokens(units).Decimal()}
}

// Offer is a negotiation's current offer.
type Offer struct {
	Amount Amount `json:"amount"`
	By     string `json:"by" jsonschema:"buyer, seller, or midpoint of the reservation prices"`
	Terms  *Terms `json:"terms,omitempty" jsonschema:"terms that an acceptance of the offer accepts too"`
}

// Range is the price range for the next offer.
type Range struct {
	Least Amount `json:"least"`
	Most  Amount `json:"most"`
}

// Terms holds the invitation or offer terms beside the price.
type Terms struct {
	QualityTier    uint8   `json:"quality_tier,omitempty"`
	SLAMillis      uint32  `json:"sla_ms,omitempty" jsonschema:"time to answer in milliseconds"`
	Quantity       uint32  `json:"quantity,omitempty"`
	StrategyHash   string  `json:"strategy_hash,omitempty"`
	BenchmarkPrice *Amount `json:"benchmark_price,omitempty"`
	DocumentHash   string  `json:"document_hash,omitempty" jsonschema:"SHA-256 of the document with all terms"`
}

// State describes a negotiation. Times are Unix seconds of the chain's clock.
type State struct {
	Negotiation string `json:"negotiation" jsonschema:"address"`
	Status      string `json:"status" jsonschema:"created, proposed, countered, accepted, settled, rejected or expired"`
	Role        string `json:"role" jsonschema:"side of this wallet: buyer, seller or none"`
	Buyer       string `json:"buyer"`
	Seller      string `json:"seller"`
	Mint        string `json:"mint"`
	ServiceHash string `json:"service_hash" jsonschema:"SHA-256 of the service's description, in hex"`
	Terms       *Terms `json:"terms,omitempty" jsonschema:"terms of the invitation"`
	Round       uint8  `json:"round" jsonschema:"number of offers that have been made"`
	MaxRounds   uint8  `json:"max_rounds"`
	Offer       *Offer `json:"offer,omitempty"`
	// History is set only in the status of a single negotiation.
	History         *History `json:"history,omitempty" jsonschema:"offers that have been made: only haggle_status with a negotiation returns it"`
	Turn            string   `json:"turn,omitempty" jsonschema:"side whose turn it is"`
	YourTurn        bool     `json:"your_turn"`
	NextOffer       *Range   `json:"next_offer,omitempty" jsonschema:"range of the next offer"`
	Escrow          Amount   `json:"escrow" jsonschema:"deposit of the buyer"`
	EffectiveEscrow Amount   `json:"effective_escrow" jsonschema:"what offers have left of the deposit"`
	Settled         *Amount  `json:"settled,omitempty" jsonschema:"price that was paid, the fee included"`
	Claimable       *Amount  `json:"claimable,omitempty" jsonschema:"amount that this wallet's token account could not receive: haggle_close pays it"`
	Bond            *Amount  `json:"bond,omitempty" jsonschema:"deposit that the terms require of the seller"`
	Comparison      bool     `json:"comparison" jsonschema:"whether the terms require a comparison of reservation prices"`
	Milestones      uint8    `json:"milestones" jsonschema:"number of milestones by which the price is paid; 0 pays at once"`
	DecayRateBps    uint16   `json:"decay_rate_bps" jsonschema:"share of the escrow that each offer costs"`
	ProtocolFeeBps  uint16   `json:"protocol_fee_bps" jsonschema:"fee, of the price"`
	Now             int64    `json:"now"`
	TurnDeadline    int64    `json:"turn_deadline"`
	GlobalDeadline  int64    `json:"global_deadline"`
	Overdue         bool     `json:"overdue" jsonschema:"whether a deadline has passed"`
	Situation       string   `json:"situation"`
}

// stateOf describes a wallet's negotiation, at a time of the chain's clock.
func (s *server) stateOf(n *haggle.Snapshot, m mint.Mint, now int64) *State {
	units := func(units uint64) *Amount { return new(amountOf(m, units)) }
	v := &State{
		Negotiation: n.Address.String(), Status: strings.ToLower(n.Status.String()), Role: "none",
		Buyer: n.Buyer.String(), Seller: n.Seller.String(), Mint: n.TokenMint.String(),
		ServiceHash: hex.EncodeToString(n.ServiceHash[:]), Round: n.CurrentRound, MaxRounds: n.MaxRounds,
		Escrow: amountOf(m, n.EscrowAmount), EffectiveEscrow: amountOf(m, n.EffectiveEscrow),
		Comparison: n.ZopaEnabled, Milestones: n.MilestoneCount(), DecayRateBps: n.DecayRateBps,
		ProtocolFeeBps: n.ProtocolFeeBps, Now: now, TurnDeadline: n.TurnDeadline,
		GlobalDeadline: n.GlobalDeadline, Overdue: n.IsOpen() && n.IsOverdue(now), Situation: n.Describe(),
	}
	side, party := n.SideOf(s.me())
	if party {
		v.Role = format.Side(side)
	}
	if claimable := n.ClaimableOf(s.me()); claimable > 0 {
		v.Claimable = units(claimable)
	}
	if n.BondRequired > 0 {
		v.Bond = units(n.BondRequired)
	}
	switch {
	case n.Status == protocol.NegotiationStatusCreated:
		v.Terms = termsOf(n.Metadata, m)
	case n.HasOffer():
		v.Offer = &Offer{amountOf(m, n.CurrentOfferAmount), format.Side(n.OfferSide), termsOf(n.Metadata, m)}
		if n.HasMidpoint() {
			v.Offer.By = "midpoint"
		}
	}
	if n.IsBargaining() {
		v.Turn = format.Side(n.Turn())
		v.YourTurn = party && side == n.Turn()
		if n.RoundsLeft() > 0 && n.ZopaStep() == protocol.ZopaStepNone {
			least, most := n.OfferRange()
			v.NextOffer = &Range{amountOf(m, least), amountOf(m, most)}
		}
	}
	if n.Status == protocol.NegotiationStatusCreated && s.me() == n.Seller {
		v.Turn, v.YourTurn = format.Side(side), true
	}
	if n.Status == protocol.NegotiationStatusSettled {
		v.Settled = units(n.PaidGross)
	}
	return v
}

// termsOf returns nil for metadata without terms.
func termsOf(metadata [protocol.MaxMetadataLen]byte, m mint.Mint) *Terms {
	decoded, err := protocol.DecodeMetadata(metadata)
	switch {
	case err != nil:
		return nil
	case decoded.Document != nil:
		return &Terms{DocumentHash: hex.EncodeToString(decoded.Document[:])}
	case decoded.Terms == nil:
		return nil
	}
	terms := &Terms{
		QualityTier: decoded.Terms.QualityTier, SLAMillis: decoded.Terms.SLAMillis,
		Quantity:     decoded.Terms.Quantity,
		StrategyHash: hex.EncodeToString(decoded.Terms.StrategyHash[:]),
	}
	if price := decoded.Terms.BenchmarkPrice; price > 0 {
		terms.BenchmarkPrice = new(amountOf(m, price))
	}
	return terms
}

// nextStep returns the step to continue the negotiation with, using tool names.
func nextStep(v *State) string {
	ended := v.Status == "settled" || v.Status == "rejected" || v.Status == "expired"
	switch {
	case v.Role == "none":
		return "this wallet is not a party"
	case ended && v.Claimable != nil:
		return "it has ended: haggle_close pays the claimable amount to you"
	case ended && v.Role == "buyer":
		return "it has ended: haggle_close returns the rent of its accounts to you"
	case ended:
		return "it has ended, and nothing is left to do"
	case v.Overdue:
		return "a deadline has passed: haggle_expire returns the rest of the escrow to the buyer"
	case v.Status == "accepted":
		return "the price is agreed and paid by milestones: use the command haggle milestone"
	case v.YourTurn && v.Status == "created":
		return `haggle_accept with "what": "invitation" and the service that you sell, or haggle_reject`
	case v.Status == "created":
		return "the seller has not accepted the invitation: haggle_status with wait_seconds"
	case v.Comparison && v.Offer == nil && v.NextOffer == nil:
		return "reservation prices come first: use the command haggle zopa; the seller's reveal accepts the midpoint"
	case v.YourTurn && v.Offer == nil:
		return "haggle_offer within next_offer, with round 1"
	case v.YourTurn && v.NextOffer == nil:
		return "no round is left: haggle_accept with \"what\": \"offer\", or haggle_reject"
	case v.YourTurn:
		return `haggle_offer within next_offer, haggle_accept with "what": "offer", or haggle_reject`
	}
	return "it is the other side's turn: haggle_status with wait_seconds"
}
