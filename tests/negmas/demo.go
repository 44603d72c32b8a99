package negmas

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/cli/roundrobin"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// DemoName is the scenario of the recorded sessions of [Demo], and DemoFile their file in testdata.
const (
	DemoName = "demo"
	DemoFile = "demo.json"
)

// Demo is the set of the negotiations of `haggle demo --strategies`, whose terms demo.py reads. NegMAS plays
// the strategies available in both programs; the first party is the buyer.
type Demo struct {
	Escrow       uint64     `json:"escrow"`
	MaxRounds    uint8      `json:"max_rounds"`
	DecayRateBps uint16     `json:"decay_rate_bps"`
	FeeBps       uint16     `json:"fee_bps"`
	Buyer        DemoPrices `json:"buyer"`
	Seller       DemoPrices `json:"seller"`
}

// DemoPrices contains a party's prices, in base units.
type DemoPrices struct {
	Opening uint64 `json:"opening"`
	// Reservation is the buyer's highest price, or what the seller receives at least after the fee.
	Reservation uint64 `json:"reservation"`
}

// NewDemo returns the set with the demonstration's terms.
func NewDemo() Demo {
	t, b, s := roundrobin.Terms, roundrobin.Buyer, roundrobin.Seller
	return Demo{
		Escrow: t.Escrow, MaxRounds: t.MaxRounds, DecayRateBps: t.DecayRateBps, FeeBps: protocol.DefaultProtocolFeeBps,
		Buyer:  DemoPrices{b.Opening, b.Reservation},
		Seller: DemoPrices{s.Opening, s.Reservation},
	}
}

// Lacking explains why NegMAS cannot predict a strategy of the demonstration. It returns "" if it can.
func (Demo) Lacking(name string) string {
	return map[string]string{
		"tit-for-tat": "Faratin's relative tactic. NegMAS' tit-for-tat returns the other side's step in utility instead " +
			"of percent.",
		"nice-tit-for-tat": "NegMAS' agent of this name estimates the Nash point by another opponent model and " +
			"with other constants.",
		"random": "Its offers follow from this repository's random numbers. NegMAS' random negotiator also accepts at " +
			"random.",
	}[name]
}

// Pairs returns the demonstration's negotiations, in order, as pairs of strategies: buyer and seller.
func (Demo) Pairs() (pairs []Session) {
	for _, buyer := range roundrobin.Strategies {
		for _, seller := range roundrobin.Strategies {
			if buyer != seller {
				pairs = append(pairs, Session{DemoName, buyer, seller})
			}
		}
	}
	return pairs
}

// Sessions returns the pairs that NegMAS plays.
func (d Demo) Sessions() (sessions []Session) {
	for _, pair := range d.Pairs() {
		if d.Lacking(pair.First) == "" && d.Lacking(pair.Second) == "" {
			sessions = append(sessions, pair)
		}
	}
	return sessions
}

// Hash returns the SHA-256 of the terms, as hexadecimal digits.
func (d Demo) Hash() (string, error) {
	text, err := json.Marshal(d)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// Predict returns the demonstration's prediction for a pair.
func (d Demo) Predict(pair Session) (Answer, error) {
	return d.predict(pair, func(s bargain.Strategy) bargain.Strategy { return s })
}

// PredictUp is Predict with the price picked by NegMAS' port of GENIUS: the first price reaching the target,
// instead of the nearest price.
func (d Demo) PredictUp(pair Session) (Answer, error) {
	return d.predict(pair, func(s bargain.Strategy) bargain.Strategy {
		composed, is := s.(bargain.BOA)
		if !is {
			return s
		}
		if timed, is := composed.Bidding.(bidding.TimeDependent); is && timed.Pick == bidding.PickNearest {
			timed.Pick = bidding.PickLowest
			composed.Bidding = timed
		}
		return composed
	})
}

func (d Demo) predict(pair Session, change func(bargain.Strategy) bargain.Strategy) (answer Answer, err error) {
	var both [2]bargain.Strategy
	for side, name := range []string{pair.First, pair.Second} {
		entry, err := strategy.Parse(name)
		if err != nil {
			return answer, err
		}
		both[side] = change(entry.Strategy)
	}
	o, err := roundrobin.Predict(d.FeeBps, 0, both[0], both[1])
	if err != nil {
		return answer, err
	}
	if o.Status != protocol.NegotiationStatusSettled.String() {
		return answer, fmt.Errorf("%s and %s: %s without an agreement", pair.First, pair.Second, o.Status)
	}
	// The buyer opens, so each step consists of two offers. The last step can end with an acceptance.
	answer = Answer{Agreement: []string{fmt.Sprint(o.Price)}, Step: len(o.Offers)/2 + 1, Offers: o.Offers}
	share := float64(o.Price) / float64(d.Escrow)
	answer.Utilities = [2]float64{1 - share, share}
	return answer, nil
}
