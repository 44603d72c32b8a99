package agent

import (
	"fmt"
	"sync"

	"github.com/gagliardetto/solana-go"
)

// steps holds the latest steps of the open negotiations, for the progress report.
type steps struct {
	// report is called with each change as text.
	report func(text string)
	// idle is the text without negotiations.
	idle string

	lock sync.Mutex
	open map[solana.PublicKey]string
}

// set records a negotiation's step; an empty step removes it.
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
