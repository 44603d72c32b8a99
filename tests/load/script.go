package load

import "github.com/haggle-protocol/haggle/sdk/protocol"

// terms are the same for all negotiations of a run; rates are in basis points.
type terms struct {
	decayBps, feeBps uint64
}

// A script says how a negotiation goes. Every figure that follows from it is computed here, from the protocol's document and not
// with the SDK's functions, so that the chain and the SDK can be compared with it. Amounts are base units of the mint.
type script struct {
	escrow uint64
	offers []offer
	// accepted says whether the last offer is accepted, by the side that did not make it; otherwise ender rejects.
	accepted bool
	ender    protocol.OfferSide
	closer   protocol.OfferSide
}

// An offer is one of a script's rounds.
type offer struct {
	side   protocol.OfferSide
	amount uint64
	// effective is what the escrow is worth after the round's decay.
	effective uint64
}

const (
	// baseEscrow is the smallest deposit; each negotiation's is another one, so that none can be taken for another.
	baseEscrow = 5_000_000
	// startTokens are what each buyer begins with, and startLamports what each wallet does: enough for the rent of a negotiation.
	startTokens   = 2 * baseEscrow
	startLamports = 50_000_000

	fewestOffers = 4
	hundred      = 100
	bps          = 10_000
)

// scriptFor makes the script of a negotiation. Two thirds have four offers, the others five; one in four is rejected, by either
// side in turn; either side closes.
func scriptFor(number int, t terms) script {
	s := script{escrow: baseEscrow + uint64(number), accepted: number%4 != 3, closer: protocol.OfferSide(number % 2)}
	rounds := fewestOffers
	if number%3 == 2 {
		rounds++
	}
	effective := s.escrow
	for round := range uint64(rounds) {
		effective = decayed(effective, t.decayBps)
		next := offer{side: protocol.OfferSideBuyer, effective: effective, amount: effective * (40 + 4*round) / hundred}
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

// decayed is what an escrow is worth after one more round; the decay is rounded half up.
func decayed(effective, rate uint64) uint64 { return effective - (effective*rate+bps/2)/bps }

func otherSide(side protocol.OfferSide) protocol.OfferSide {
	if side == protocol.OfferSideBuyer {
		return protocol.OfferSideSeller
	}
	return protocol.OfferSideBuyer
}

func (s *script) last() offer { return s.offers[len(s.offers)-1] }

// division is where the escrow of a negotiation that has ended goes; the four amounts add up to it.
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

// swept is what is left in the vault for the treasury.
func (d division) swept() uint64 { return d.fee + d.decay }
