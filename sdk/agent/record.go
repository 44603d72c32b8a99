package agent

import (
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Record is a [Player] decision, with the state that it follows from and the reason. Amounts are base units
// of the mint. JSON encodes them as text, because other languages round large numbers.
type Record struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	// Side is "buyer" or "seller".
	Side string `json:"side"`
	// Strategy is [Player].Name.
	Strategy string `json:"strategy"`
	// Time is the chain's time in Unix seconds, and Deadline the end of the time to answer.
	Time     int64 `json:"time"`
	Deadline int64 `json:"deadline"`
	// Round is the number of offers so far, and MaxRounds the number of offers that can be made.
	Round     uint8 `json:"round"`
	MaxRounds uint8 `json:"max_rounds"`
	// Standing is the counterparty's price that can be accepted; 0 if there is none.
	Standing uint64 `json:"standing,string"`
	// Escrow is the effective escrow.
	Escrow uint64 `json:"effective_escrow,string"`
	// Previous is the side's own latest price; 0 if it made no offer.
	Previous uint64 `json:"previous,string"`
	// Least and Most limit the next offer.
	Least uint64 `json:"least,string"`
	Most  uint64 `json:"most,string"`
	// Move is "offer", "accept" or "end".
	Move string `json:"move"`
	// Price is the offered or accepted price; 0 for "end".
	Price uint64 `json:"price,string"`
	// Reason is the strategy's reason for the move: see [bargain.Action]. For an offer about a price alone it
	// adds the change since the previous offer: "first offer", "concedes", "repeats" or "demands more".
	Reason string `json:"reason"`
	// Values are nil if the escrow does not cover a seller's reservation price.
	Values *Values `json:"values,omitempty"`
}

// Values are numbers that let a reader check the reason. Utilities are the side's own; with a price alone
// they are 1 for the best price of the whole escrow and 0 for the worst.
type Values struct {
	// Time is the strategy's time, not the chain's: 0 for the side's first offer, and 1 for the last.
	Time fixed.Number `json:"strategy_time"`
	// Utility is the offered or accepted outcome's utility; nil for "end".
	Utility *fixed.Number `json:"utility,omitempty"`
	// Standing is the standing offer's utility; nil if there is none that can be accepted.
	Standing *fixed.Number `json:"standing_utility,omitempty"`
	// Reservation is the reservation value: the utility of no agreement.
	Reservation fixed.Number `json:"reservation_value"`
}

// NewRecord returns the record of a move, without Values. Strategy is the strategy's name, and price the
// offered price.
func NewRecord(turn Turn, strategy string, action bargain.Action, price uint64) Record {
	n := turn.Negotiation
	record := Record{
		Negotiation: n.Address, Side: strings.ToLower(turn.Side.String()), Strategy: strategy, Time: turn.Now,
		Deadline: turn.Deadline, Round: n.CurrentRound, MaxRounds: n.MaxRounds, Standing: turn.Standing(),
		Escrow: n.EffectiveEscrow, Move: action.Move.String(), Reason: action.Reason,
	}
	record.Least, record.Most = n.OfferRange()
	if own, made := turn.Own(); made {
		record.Previous = own.Amount
	}
	switch action.Move {
	case bargain.MoveAccept:
		record.Price = record.Standing
	case bargain.MoveOffer:
		record.Price = price
	}
	return record
}

// NewValues returns a move's values. [bargain.NoOutcome] is none.
func NewValues(turn Turn, p *bargain.Preferences, moved, standing bargain.Outcome) *Values {
	utility := func(o bargain.Outcome) *fixed.Number {
		if o == bargain.NoOutcome {
			return nil
		}
		return new(p.Of(o))
	}
	n := turn.Negotiation
	return &Values{
		Time:    bargain.TurnTime(int(turn.Side), int(n.MaxRounds), int(n.CurrentRound)),
		Utility: utility(moved), Standing: utility(standing), Reservation: p.Reservation(),
	}
}

// record returns a move's record. The price is the offered price. If there are no preferences, Values is nil.
func (p Player) record(
	turn Turn, action bargain.Action, price uint64, preferences *bargain.Preferences,
) Record {
	record := NewRecord(turn, p.Name, action, price)
	if action.Move == bargain.MoveOffer {
		record.Reason += ": " + change(turn.Side, record.Previous, price)
	}
	if preferences == nil {
		return record
	}
	outcome := func(price uint64) bargain.Outcome {
		if price == 0 {
			return bargain.NoOutcome
		}
		return bargain.Outcome(preferences.Domain().Issue(0).Nearest(price))
	}
	record.Values = NewValues(turn, preferences, outcome(record.Price), outcome(record.Standing))
	return record
}

// change returns how an offer differs from the side's previous offer.
func change(side protocol.OfferSide, previous, price uint64) string {
	switch {
	case previous == 0:
		return "first offer"
	case previous == price:
		return "repeats"
	case (price > previous) == (side == protocol.OfferSideBuyer):
		return "concedes"
	}
	return "demands more"
}
