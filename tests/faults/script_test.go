package faults_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ending is a scripted negotiation's ending.
type ending string

const (
	accepted ending = "accepted"
	rejected ending = "rejected"
	// expired: the buyer makes no offer once the seller has accepted the invitation.
	expired ending = "expired"
)

// script defines a negotiation's course. All figures are computed here from the protocol's document, not with
// the SDK's functions. Amounts are in the mint's base units.
type script struct {
	Number int
	Ending ending
	Escrow uint64
	Offers []offer
	// Repetitions lists the moments when the buyer repeats the creation.
	Repetitions []moment
	// Fee is the protocol's part of the price. Swept is the fee and the decay.
	ToSeller, Refund, Swept uint64
}

type offer struct {
	Side      protocol.OfferSide
	Amount    uint64
	Effective uint64
}

const (
	baseEscrow = 5_000_000
	bps        = 10_000
	percent    = 100
)

// terms contains the protocol's rates in basis points.
type terms struct{ DecayBps, FeeBps uint64 }

// scriptFor lets a tenth of all negotiations expire, rejects a quarter of the others, and settles the rest
// after two to six offers. Every creation is repeated after the closing, and many are at other moments, too.
func scriptFor(number int, t terms) script {
	s := script{Number: number, Escrow: baseEscrow + uint64(number), Ending: accepted, Repetitions: []moment{afterClosing}}
	if number%2 == 0 {
		s.Repetitions = append(s.Repetitions, atOnce)
	}
	if number%3 == 0 {
		s.Repetitions = append(s.Repetitions, afterAnswer)
	}
	switch {
	case number%10 == 9:
		s.Ending, s.Refund = expired, s.Escrow
		return s
	case number%4 == 3:
		s.Ending = rejected
	}
	effective := s.Escrow
	for round := range uint64(2 + number%5) {
		effective -= (effective*t.DecayBps + bps/2) / bps
		next := offer{Side: protocol.OfferSideBuyer, Effective: effective, Amount: effective * (40 + 3*round) / percent}
		if round%2 == 1 {
			next.Side, next.Amount = protocol.OfferSideSeller, effective*(85-3*round)/percent
		}
		s.Offers = append(s.Offers, next)
	}
	s.Refund, s.Swept = effective, s.Escrow-effective
	if s.Ending == accepted {
		price := s.last().Amount
		fee := price * t.FeeBps / bps
		s.ToSeller, s.Refund, s.Swept = price-fee, effective-price, s.Swept+fee
	}
	return s
}

func (s *script) last() offer { return s.Offers[len(s.Offers)-1] }

// ender returns the side that responds to the last offer.
func (s *script) ender() protocol.OfferSide {
	if s.last().Side == protocol.OfferSideBuyer {
		return protocol.OfferSideSeller
	}
	return protocol.OfferSideBuyer
}

// decide returns an agent's decision for a turn. The audit finds any deviation from the script.
func (s *script) decide(turn agent.Turn) agent.Decision {
	round := int(turn.Negotiation.CurrentRound)
	switch {
	case s.Ending == expired:
		return agent.Wait{}
	case round < len(s.Offers) && s.Offers[round].Side == turn.Side:
		return agent.Offer{Amount: s.Offers[round].Amount}
	case round < len(s.Offers) || s.ender() != turn.Side:
		return agent.Wait{}
	case s.Ending == accepted:
		return agent.Accept{}
	}
	return agent.Reject{}
}

// service is the traded service.
var service = protocol.ServiceHash("answer a question while the house is on fire")

// Negotiations that shall expire use the shortest turn; the others allow so much time that even slow machines
// do not let them expire.
const (
	shortWindow = time.Minute
	longWindow  = time.Hour
	deadline    = 12 * time.Hour
)

// request returns the creation of the negotiation. The key follows from the negotiation number, so restarted
// processes repeat the same request.
func (s *script) request(mint, buyer, seller solana.PublicKey, t terms) haggle.CreateRequest {
	decay, window := uint16(t.DecayBps), longWindow
	if s.Ending == expired {
		window = shortWindow
	}
	return haggle.CreateRequest{
		Buyer: buyer, Seller: seller, Mint: mint, Decimals: localnet.Decimals,
		EscrowAmount: s.Escrow, ServiceHash: service, Key: s.key(),
		DecayRateBps: &decay, ResponseWindow: window, Deadline: deadline,
	}
}

// key is the idempotency key of the creation.
func (s *script) key() string { return fmt.Sprint("order ", s.Number) }

// session is the session id that the SDK derives from the key.
func (s *script) session() uint64 { return haggle.SessionIDFor(s.key()) }

func isCreation(move string) bool { return strings.HasPrefix(move, creationMove) }

const creationMove = "create "

// moves returns the instructions that the chain must execute, in this order.
func (s *script) moves() []string {
	moves := []string{fmt.Sprint(creationMove, s.Escrow), "accept the invitation"}
	for round, offer := range s.Offers {
		moves = append(moves, fmt.Sprintf("offer %d after round %d", offer.Amount, round))
	}
	switch s.Ending {
	case accepted:
		moves = append(moves, fmt.Sprintf("accept %d after round %d", s.last().Amount, len(s.Offers)))
	case rejected:
		moves = append(moves, fmt.Sprintf("reject after round %d", len(s.Offers)))
	case expired:
		moves = append(moves, "expire")
	}
	return append(moves, "close")
}

// moveOf returns an instruction in the notation of moves.
func moveOf(instruction protocol.AnyInstruction) string {
	switch i := instruction.(type) {
	case *protocol.CreateNegotiation:
		return fmt.Sprint(creationMove, i.Params.EscrowAmount)
	case *protocol.AcceptInvitation:
		return "accept the invitation"
	case *protocol.SubmitOffer:
		return fmt.Sprintf("offer %d after round %d", i.Amount, i.ExpectedRound)
	case *protocol.AcceptOffer:
		return fmt.Sprintf("accept %d after round %d", i.ExpectedAmount, i.ExpectedRound)
	case *protocol.RejectNegotiation:
		return fmt.Sprintf("reject after round %d", i.ExpectedRound)
	case *protocol.ExpireNegotiation:
		return "expire"
	case *protocol.CloseNegotiation:
		return "close"
	}
	return instruction.InstructionName()
}

// movements returns the balance changes for buyer, seller and treasury, in base units.
func (s *script) movements() (buyer, seller, treasury int64) {
	return int64(s.Refund) - int64(s.Escrow), int64(s.ToSeller), int64(s.Swept)
}
