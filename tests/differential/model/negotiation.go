package model

import "crypto/sha256"

// NegotiationSize is a negotiation account's size in bytes.
const NegotiationSize = 512

// Values of Negotiation.Status.
const (
	StatusCreated uint8 = iota
	StatusProposed
	StatusCountered
	StatusAccepted
	StatusSettled
	StatusExpired
	StatusRejected
)

// A negotiation's sides, as in Negotiation.OfferSide.
const (
	Buyer  = 0
	Seller = 1
)

// sideNames contains the names of the sides in outcomes.
var sideNames = [2]string{Buyer: "buyer", Seller: "seller"}

// Values of Negotiation.ZopaPhase.
const (
	ZopaNotStarted uint8 = iota
	ZopaBuyerCommitted
	ZopaBothCommitted
	ZopaRevealed
	ZopaSkipped
)

// Values of Negotiation.BondState.
const (
	BondNone uint8 = iota
	BondHeld
	BondReturned
	BondForfeited
	BondSplit
)

const accountVersion = 1

// Negotiation is a negotiation account; the fields are in byte order. In an array of two, the buyer's value
// comes first.
type Negotiation struct {
	Parties            [2]Address
	SessionID          uint64
	Status             uint8
	CurrentRound       uint8
	CurrentOfferAmount uint64
	CurrentOfferBy     Address
	OfferSide          uint8
	ServiceHash        [32]byte
	EscrowAmount       uint64
	EffectiveEscrow    uint64
	TokenMint          Address
	MaxRounds          uint8
	DecayRateBps       uint16
	ResponseWindow     int64
	GlobalDeadline     int64
	MinOfferBps        uint16
	ProtocolFeeBps     uint16
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
	ReviewHours        uint8
	MilestoneBps       [8]uint16
	MilestonesDecided  uint8
	MilestonesClaimed  uint8
	MilestonesDisputed uint8
	MilestoneDeadline  int64
	Claimable          [2]uint64
	PaidGross          uint64
}

var negotiationDiscriminator = discriminator("account", "Negotiation")

func (n *Negotiation) Bytes() []byte { return encodeAccount(negotiationDiscriminator, n) }

// ReadNegotiation reads the account's data. It returns false for a wrong size or discriminator.
func ReadNegotiation(data []byte) (*Negotiation, bool) {
	n := new(Negotiation)
	if !decodeAccount(data, negotiationDiscriminator, NegotiationSize, n) {
		return nil, false
	}
	return n, true
}

// TermsHash returns the hash expected by accept_invitation: SHA-256 of the account's address and data.
func (n *Negotiation) TermsHash(address Address) [32]byte {
	return sha256.Sum256(append(address[:], n.Bytes()...))
}

// IsOpen reports whether rejection and expiry are still possible.
func (n *Negotiation) IsOpen() bool { return n.Status <= StatusCountered }

// IsOver reports whether only claim_payout and close_negotiation remain.
func (n *Negotiation) IsOver() bool { return n.Status >= StatusSettled }

// IsBargaining reports whether this status allows offers and acceptances.
func (n *Negotiation) IsBargaining() bool {
	return n.Status == StatusProposed || n.Status == StatusCountered
}

// HasOffer reports whether an offer or the midpoint stands.
func (n *Negotiation) HasOffer() bool { return n.CurrentOfferBy != Address{} }

// Turn returns the side to offer next: the buyer first and after the midpoint, then both in turn.
func (n *Negotiation) Turn() int {
	if n.CurrentOfferBy == n.Parties[Buyer] {
		return Seller
	}
	return Buyer
}

// SideOf returns a party's side, and false for other addresses.
func (n *Negotiation) SideOf(address Address) (side int, ok bool) {
	switch address {
	case n.Parties[Buyer]:
		return Buyer, true
	case n.Parties[Seller]:
		return Seller, true
	}
	return 0, false
}

// NextEffectiveEscrow returns the effective escrow if one more round decays it.
func (n *Negotiation) NextEffectiveEscrow() uint64 {
	return n.EffectiveEscrow - roundBps(n.EffectiveEscrow, n.DecayRateBps)
}

// MinOffer returns the smallest offer for an effective escrow.
func (n *Negotiation) MinOffer(effectiveEscrow uint64) uint64 {
	return floorBps(effectiveEscrow, n.MinOfferBps)
}

func (n *Negotiation) decay() uint64 { return n.EscrowAmount - n.EffectiveEscrow }

// fee returns the protocol fee on the gross payments to the seller.
func (n *Negotiation) fee() uint64 { return floorBps(n.PaidGross, n.ProtocolFeeBps) }

// MilestoneCount returns the number of milestones: the non-zero shares that precede the first zero.
func (n *Negotiation) MilestoneCount() uint8 {
	var count uint8
	for count < 8 && n.MilestoneBps[count] != 0 {
		count++
	}
	return count
}

// AllMilestones returns a mask with a bit for each milestone.
func (n *Negotiation) AllMilestones() uint8 { return uint8(1<<n.MilestoneCount() - 1) }

// ReviewWindow returns the buyer's time to release or dispute a claimed milestone, in seconds.
func (n *Negotiation) ReviewWindow() int64 { return int64(n.ReviewHours) * 3_600 }

// ArbiterDeadline is the time when the arbiter loses the right to decide, and settle_deadline may settle a
// negotiation with an open dispute.
func (n *Negotiation) ArbiterDeadline() int64 {
	return n.MilestoneDeadline + max(n.ReviewWindow(), day)
}

// MinMilestoneSpan returns the minimum time from global to milestone deadline, in seconds.
func (n *Negotiation) MinMilestoneSpan() int64 {
	return int64(n.MilestoneCount()) * (n.ReviewWindow() + 60)
}

// UnderReview returns the mask of the milestone that is claimed and neither disputed nor decided: at most one
// bit.
func (n *Negotiation) UnderReview() uint8 {
	return n.MilestonesClaimed &^ n.MilestonesDecided &^ n.MilestonesDisputed
}

// OpenDisputes returns the mask of the milestones waiting for the arbiter.
func (n *Negotiation) OpenDisputes() uint8 { return n.MilestonesDisputed &^ n.MilestonesDecided }

// Tranche returns a milestone's amount: the difference of the floored cumulative shares.
func (n *Negotiation) Tranche(index uint8) uint64 {
	var before uint16
	for _, bps := range n.MilestoneBps[:index] {
		before += bps
	}
	return floorBps(n.SettledAmount, before+n.MilestoneBps[index]) - floorBps(n.SettledAmount, before)
}

// Undecided returns the sum of the tranches that are not decided.
func (n *Negotiation) Undecided() uint64 {
	var sum uint64
	for index := range n.MilestoneCount() {
		if n.MilestonesDecided>>index&1 == 0 {
			sum += n.Tranche(index)
		}
	}
	return sum
}

// isMetadata reports whether metadata is of a known kind: kind 0 is all zeros, 1 contains 50 bytes, 2 contains
// 33 bytes, then zeros.
func isMetadata(metadata [64]byte) bool {
	switch metadata[0] {
	case 0:
		return metadata == [64]byte{}
	case 1:
		return [14]byte(metadata[50:]) == [14]byte{}
	case 2:
		return [31]byte(metadata[33:]) == [31]byte{}
	}
	return false
}
