package load

import "github.com/haggle-protocol/haggle/sdk/protocol"

// terms are common to all negotiations in a run. Rates are in basis points.
type terms struct {
	decayBps, feeBps uint64
}

// script is a negotiation's course. All figures are computed here from the protocol's document, and not with
// the SDK's functions, so that the chain and the SDK can be compared with them. Amounts are base units of the
// mint.
type script struct {
	escrow uint64
	offers []offer
	// accepted reports whether ender accepts the last offer, submitted by the counterparty. Otherwise ender
	// rejects.
	accepted bool
	ender    protocol.OfferSide
	closer   protocol.OfferSide
}

// offer is a round in a script.
type offer struct {
	side   protocol.OfferSide
	amount uint64
	// effective is the effective escrow after the round's decay.
	effective uint64
}

const (
	// baseEscrow is the smallest escrow. The escrow differs between negotiations, so that their amounts
	// differ.
	baseEscrow = 5_000_000
	// startTokens is each buyer's starting balance, and startLamports each wallet's starting lamports: enough
	// for a negotiation's rent.
	startTokens   = 2 * baseEscrow
	startLamports = 50_000_000

	fewestOffers = 4
	hundred      = 100
	bps          = 10_000
)

// scriptFor returns a negotiation's script. Two thirds contain four offers, the others five. One in four is
// rejected, alternately by either side. Either side closes.
func scriptFor(number int, t terms) script {
	s := script{escrow: baseEscrow + uint64(number), accepted: number%4 != 3,
		closer: protocol.OfferSide(number % 2)}
	rounds := fewestOffers
	if number%3 == 2 {
		rounds++
	}
	effective := s.escrow
	for round := range uint64(rounds) {
		effective = decayed(effective, t.decayBps)
		next := offer{side: protocol.OfferSideBuyer, effective: effective,
			amount: effective * (40 + 4*round) / hundred}
		if round%2 == 1 {
			next.side, next.amount = protocol.OfferSideSeller, effective*(85-4*round)/hundred
		}
		s.offers = append(s.offers, next)
	}
	s.ender = otherSide(s.last().side)
	if !s.accepted && number%8 == 3 {
		s.ender = s.last().side
	}
	return s
}

// decayed returns the effective escrow after another round. The decay is rounded half up.
func decayed(effective, rate uint64) uint64 { return effective - (effective*rate+bps/2)/bps }

func otherSide(side protocol.OfferSide) protocol.OfferSide {
	if side == protocol.OfferSideBuyer {
		return protocol.OfferSideSeller
	}
	return protocol.OfferSideBuyer
}

func (s *script) last() offer { return s.offers[len(s.offers)-1] }

// division divides the escrow when a negotiation ends. The sum of the four amounts is the escrow.
type division struct {
	toSeller, fee, decay, refund uint64
}

func (s *script) division(t terms) division {
	last := s.last()
	d := division{decay: s.escrow - last.effective, refund: last.effective}
	if s.accepted {
		d.fee = last.amount * t.feeBps / bps
		d.toSeller, d.refund = last.amount-d.fee, last.effective-last.amount
	}
	return d
}

// swept returns the rest in the vault, which goes to the treasury.
func (d division) swept() uint64 { return d.fee + d.decay }
