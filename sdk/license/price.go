package license

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// The parties of a session.
const (
	client    = 0
	publisher = 1
)

// session is the bargaining over the price with one publisher. Its domain ends at the limit: no strategy can
// propose or accept a higher price.
type session struct {
	negotiator bargain.Negotiator
	issue      *bargain.Issue
	state      bargain.State
	rounds     int
}

// newSession starts a strategy between the opening and the limit. Its random numbers follow from the purchase
// and the publisher, so that a repetition makes the same proposals.
func newSession(
	s bargain.Strategy, opening, limit uint64, rounds int, id, hostname string,
) (*session, error) {
	domain, err := bargain.NewDomain(bargain.Price("price", opening, limit, 1))
	if err != nil {
		return nil, err
	}
	cheap, err := utility.PriceLine(domain, false)
	if err != nil {
		return nil, err
	}
	preferences, err := bargain.NewPreferences(domain, cheap, 0)
	if err != nil {
		return nil, err
	}
	hash := digest(id, hostname, "seed")
	return &session{
		negotiator: s.Start(bargain.Seat{
			Preferences: preferences, Self: client, Parties: 2, Steps: rounds,
			Random: bargain.NewRandom(binary.BigEndian.Uint64(hash[:]), client),
		}),
		issue: domain.Issue(0),
		state: bargain.State{
			Steps: rounds, Offer: bargain.NoOutcome, By: -1, Most: bargain.Outcome(domain.Size() - 1),
		},
		rounds: rounds,
	}, nil
}

// offered records an offer of the publisher. A price above the limit is not an outcome, so the strategy does
// not receive it.
func (s *session) offered(price uint64, acceptable bool) {
	s.state.Offer, s.state.By = bargain.NoOutcome, -1
	if price > s.issue.Amount(s.issue.Count-1) {
		return
	}
	outcome := bargain.Outcome(s.issue.Nearest(max(price, s.issue.First)))
	s.record(publisher, outcome)
	if acceptable {
		s.state.Offer, s.state.By = outcome, publisher
	}
}

func (s *session) record(by int, outcome bargain.Outcome) {
	s.state.History = append(s.state.History, bargain.Offer{
		By: by, Step: s.state.Step, Time: s.state.Time, Outcome: outcome,
	})
}

// respond returns the move of a turn, from 0. Time is 0 at the first proposal and 1 at the last one, and in
// the turn after it, in which the strategy can only accept.
func (s *session) respond(turn int) bargain.Action {
	s.state.Step, s.state.Time = min(turn, s.rounds-1), fixed.One
	if turn < s.rounds-1 {
		s.state.Time = fixed.Ratio(int64(turn), int64(s.rounds)-1)
	}
	s.state.Last = turn >= s.rounds
	action := s.negotiator.Respond(&s.state)
	if action.Move == bargain.MoveOffer {
		s.record(client, action.Outcome)
	}
	return action
}

// digest returns a hash of the parts. Quotes separate them.
func digest(parts ...string) [sha256.Size]byte {
	hash := sha256.New()
	hash.Write([]byte("haggle license"))
	for _, part := range parts {
		fmt.Fprintf(hash, " %q", part)
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// keyOf returns the idempotency key of a step of a purchase.
func keyOf(id, hostname, step string) string {
	hash := digest(id, hostname, step)
	return hex.EncodeToString(hash[:])
}
