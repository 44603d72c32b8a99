package agent

import (
	"fmt"
	"sync"

	"github.com/gagliardetto/solana-go"
)

// steps are the latest steps of the open negotiations, for the progress report.
type steps struct {
	// report is called with the text of each change.
	report func(text string)
	// idle is the text without negotiations.
	idle string

	lock sync.Mutex
	open map[solana.PublicKey]string
}

// set notes a step of a negotiation; an empty one removes it.
func (s *steps) set(negotiation solana.PublicKey, step string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.open == nil {
		s.open = map[solana.PublicKey]string{}
	}
	if s.open[negotiation] = step; step == "" {
		delete(s.open, negotiation)
	}
	switch len(s.open) {
	case 0:
		s.report(s.idle)
	case 1:
		for address, step := range s.open {
			s.report(fmt.Sprintf("%s: %s", address, step))
		}
	default:
		s.report(fmt.Sprintf("bargaining in %d negotiations", len(s.open)))
	}
}
