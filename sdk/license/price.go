package license

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// session is the bargaining over the price with one publisher. The domain ends at the limit: no strategy can
// propose or accept a higher price.
type session struct {
	course *bargain.Course
	issue  *bargain.Issue
	rounds int
}

// newSession starts a strategy between the opening and the limit. Random numbers follow from the purchase and
// the publisher, so repetitions make the same proposals.
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
	// The client opens, and can propose in each round. After the last round it can only accept.
	course := bargain.NewCourse(s, preferences, 0, 2*rounds, 0, binary.BigEndian.Uint64(hash[:]))
	return &session{course: course, issue: domain.Issue(0), rounds: rounds}, nil
}

// offered adds an offer of the publisher. A price above the limit is not an outcome, so the strategy does not
// receive it.
func (s *session) offered(price uint64, acceptable bool) {
	outcome := bargain.NoOutcome
	if price <= s.issue.Amount(s.issue.Count-1) {
		outcome = bargain.Outcome(s.issue.Nearest(price))
	}
	s.course.Observe(outcome)
	if !acceptable {
		s.course.Stand(bargain.NoOutcome)
	}
}

// proposed adds an earlier proposal of the client, at the nearest price that the strategy can propose. The
// strategy moves first, because random numbers depend on the move count.
func (s *session) proposed(price uint64) {
	_ = s.course.Respond(0, math.MaxUint64)
	s.course.Observe(bargain.Outcome(s.issue.Nearest(price)))
}

// respond returns the next move.
func (s *session) respond() bargain.Action {
	action := s.course.Respond(0, math.MaxUint64)
	if action.Move == bargain.MoveOffer {
		s.course.Observe(action.Outcome)
	}
	return action
}

// digest hashes the parts, separated by quotes.
func digest(parts ...string) [sha256.Size]byte {
	hash := sha256.New()
	hash.Write([]byte("haggle license"))
	for _, part := range parts {
		fmt.Fprintf(hash, " %q", part)
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// keyOf returns a purchase step's idempotency key.
func keyOf(id, hostname, step string) string {
	hash := digest(id, hostname, step)
	return hex.EncodeToString(hash[:])
}
