package model

import (
	"crypto/sha256"
)

// Sizes of the protocol's accounts in bytes.
const (
	NegotiationSize = 512
	ConfigSize      = 143
)

// The negotiation's status.
const (
	Created uint8 = iota
	Proposed
	Countered
	Accepted
	Settled
	ExpiredStatus
	Rejected
)

// The sides of a negotiation, as offer_side has them.
const (
	Buyer  = 0
	Seller = 1
)

// How far the comparison of sealed prices is.
const (
	ZopaNotStarted uint8 = iota
	ZopaBuyerCommitted
	ZopaBothCommitted
	ZopaRevealed
	ZopaSkipped
)

// Where the seller's bond is.
const (
	BondNone uint8 = iota
	BondHeld
	BondReturned
	BondForfeited
)

const accountVersion = 1

// Negotiation is the account of a negotiation.
type Negotiation struct {
	Parties            [2]Address // The buyer and the seller.
	SessionID          uint64
	Status             uint8
	Round              uint8
	Offer              uint64
	OfferBy            Address
	OfferSide          uint8
	ServiceHash        [32]byte
	Escrow             uint64
	Effective          uint64
	Mint               Address
	MaxRounds          uint8
	DecayBps           uint16
	Window             int64
	Deadline           int64
	MinOfferBps        uint16
	FeeBps             uint16
	ZopaEnabled        bool
	CreatedAt          int64
	LastOfferAt        int64
	SettledAt          int64
	SettledAmount      uint64
	Commitments        [2][32]byte
	ZopaPhase          uint8
	Metadata           [64]byte
	Bump               uint8
	VaultBump          uint8
	Version            uint8
	TurnDeadline       int64
	PendingExtension   uint32
	BondRequired       uint64
	BondState          uint8
	Prices             [2]uint64
	Arbiter            Address
	MilestoneCount     uint8
	MilestoneBps       [8]uint16
	MilestonesDecided  uint8
	MilestonesClaimed  uint8
	MilestonesDisputed uint8
	MilestoneDeadline  int64
	Claimable          [2]uint64
	PaidGross          uint64
}

// visit visits the fields in the order of the account's bytes.
func (n *Negotiation) visit(field fields) {
	field("buyer", &n.Parties[Buyer])
	field("seller", &n.Parties[Seller])
	field("session_id", &n.SessionID)
	field("status", &n.Status)
	field("current_round", &n.Round)
	field("current_offer_amount", &n.Offer)
	field("current_offer_by", &n.OfferBy)
	field("offer_side", &n.OfferSide)
	field("service_hash", &n.ServiceHash)
	field("escrow_amount", &n.Escrow)
	field("effective_escrow", &n.Effective)
	field("token_mint", &n.Mint)
	field("max_rounds", &n.MaxRounds)
	field("decay_rate_bps", &n.DecayBps)
	field("response_window", &n.Window)
	field("global_deadline", &n.Deadline)
	field("min_offer_bps", &n.MinOfferBps)
	field("protocol_fee_bps", &n.FeeBps)
	field("zopa_enabled", &n.ZopaEnabled)
	field("created_at", &n.CreatedAt)
	field("last_offer_at", &n.LastOfferAt)
	field("settled_at", &n.SettledAt)
	field("settled_amount", &n.SettledAmount)
	field("buyer_commitment", &n.Commitments[Buyer])
	field("seller_commitment", &n.Commitments[Seller])
	field("zopa_phase", &n.ZopaPhase)
	field("metadata", &n.Metadata)
	field("bump", &n.Bump)
	field("vault_bump", &n.VaultBump)
	field("version", &n.Version)
	field("turn_deadline", &n.TurnDeadline)
	field("pending_extension", &n.PendingExtension)
	field("bond_required", &n.BondRequired)
	field("bond_state", &n.BondState)
	field("buyer_price", &n.Prices[Buyer])
	field("seller_price", &n.Prices[Seller])
	field("arbiter", &n.Arbiter)
	field("milestone_count", &n.MilestoneCount)
	field("milestone_bps", &n.MilestoneBps)
	field("milestones_decided", &n.MilestonesDecided)
	field("milestones_claimed", &n.MilestonesClaimed)
	field("milestones_disputed", &n.MilestonesDisputed)
	field("milestone_deadline", &n.MilestoneDeadline)
	field("claimable_buyer", &n.Claimable[Buyer])
	field("claimable_seller", &n.Claimable[Seller])
	field("paid_gross", &n.PaidGross)
}

var negotiationDiscriminator = discriminator("account", "Negotiation")

// Bytes are the account's data.
func (n *Negotiation) Bytes() []byte {
	data := append(make([]byte, 0, NegotiationSize), negotiationDiscriminator...)
	n.visit(func(_ string, field any) { data = appendField(data, field) })
	return data
}

// ReadNegotiation reads an account's data; ok is false when they are not a negotiation's.
func ReadNegotiation(data []byte) (n *Negotiation, ok bool) {
	if len(data) != NegotiationSize || string(data[:8]) != string(negotiationDiscriminator) {
		return nil, false
	}
	n = new(Negotiation)
	rest := reader{data[8:]}
	n.visit(func(_ string, field any) { rest.read(field) })
	return n, true
}

// TermsHash is what a seller who read the account accepts.
func (n *Negotiation) TermsHash(address Address) [32]byte {
	return sha256.Sum256(append(address[:], n.Bytes()...))
}

// IsOpen reports whether the parties still bargain, or could.
func (n *Negotiation) IsOpen() bool { return n.Status <= Countered }

// IsOver reports whether nothing is left but to claim and to close.
func (n *Negotiation) IsOver() bool { return n.Status >= Settled }

// IsBargaining reports whether the seller has accepted the invitation and no end has come.
func (n *Negotiation) IsBargaining() bool { return n.Status == Proposed || n.Status == Countered }

// HasOffer reports whether an offer stands, or the midpoint of sealed prices.
func (n *Negotiation) HasOffer() bool { return n.OfferBy != Address{} }

// Turn is whose offer comes next: the buyer opens, then turns alternate. The midpoint is nobody's offer, and the buyer's turn
// comes after it.
func (n *Negotiation) Turn() int {
	if n.OfferBy == n.Parties[Buyer] {
		return Seller
	}
	return Buyer
}

// SideOf is the side that an address is; ok is false for a stranger.
func (n *Negotiation) SideOf(address Address) (side int, ok bool) {
	switch address {
	case n.Parties[Buyer]:
		return Buyer, true
	case n.Parties[Seller]:
		return Seller, true
	}
	return 0, false
}

// NextEffective is what the escrow is worth once one more offer is made.
func (n *Negotiation) NextEffective() uint64 { return n.Effective - rounded(n.Effective, n.DecayBps) }

// MinOffer is the least offer when the escrow is worth so much.
func (n *Negotiation) MinOffer(effective uint64) uint64 { return floored(effective, n.MinOfferBps) }

func (n *Negotiation) decay() uint64 { return n.Escrow - n.Effective }

func (n *Negotiation) fee() uint64 { return floored(n.PaidGross, n.FeeBps) }

// SealedPricesPending reports whether offers have to wait until sealed prices are revealed.
func (n *Negotiation) SealedPricesPending() bool { return n.ZopaPhase < ZopaRevealed }

// foundNoZone reports whether sealed prices have ended the negotiation.
func (n *Negotiation) foundNoZone() bool {
	return n.Status == Rejected && n.ZopaPhase == ZopaRevealed && n.Prices[Buyer] < n.Prices[Seller]
}

// bondIsForfeit reports whether the seller loses the bond if it ends the negotiation now, or lets it end.
func (n *Negotiation) bondIsForfeit() bool {
	return n.BondState == BondHeld && n.ZopaPhase == ZopaBothCommitted && n.Prices[Buyer] != 0
}

// Review is how long a claimed milestone can be disputed, in seconds.
func (n *Negotiation) Review() int64 { return max(n.Window, 3_600) }

// Slot are the milestones that are claimed and neither disputed nor decided: at most one bit.
func (n *Negotiation) Slot() uint8 {
	return n.MilestonesClaimed &^ n.MilestonesDecided &^ n.MilestonesDisputed
}

// OpenDisputes are the milestones that wait for the arbiter, as bits.
func (n *Negotiation) OpenDisputes() uint8 { return n.MilestonesDisputed &^ n.MilestonesDecided }

// AllMilestones has a bit for each milestone.
func (n *Negotiation) AllMilestones() uint8 { return uint8(1<<n.MilestoneCount - 1) }
