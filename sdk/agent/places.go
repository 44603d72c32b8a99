package agent

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// lastBackoff limits the doubling pause between failed negotiations.
const lastBackoff = time.Hour

// backoff delays the acceptance of a counterparty's next invitation.
type backoff struct {
	// failures counts the counterparty's failed negotiations since the last deal.
	failures int
	until    time.Time
}

// isOpen reports whether a negotiation counts as open: there is no deal and no end yet.
func isOpen(n *haggle.Snapshot) bool { return !n.IsOver() && !n.IsAgreed() }

// takesPlace reports whether a negotiation counts towards a seller's caps: it is open, and the agent engaged
// in it or waits for Admit.
func (f *tracked) takesPlace() bool {
	return f.open && f.side == protocol.OfferSideSeller &&
		(f.participation == engaged || f.participation == undecided && f.call != nil)
}

// noPlace returns the reason why the agent cannot accept an invitation yet; empty if it can.
func (l *loop) noPlace(counterpart solana.PublicKey) string {
	if !l.listed && !l.single.isChosen() {
		return "the wallet's negotiations are not listed yet"
	}
	all, same := 0, 0
	for _, f := range l.tracked {
		if f.takesPlace() {
			all++
			if f.counterpart == counterpart {
				same++
			}
		}
	}
	switch pause := time.Until(l.backoffs[counterpart].until); {
	case same >= l.config.MaxOpenPerCounterpart:
		return fmt.Sprintf("%d negotiations with the counterparty are open", same)
	case all >= l.config.MaxOpen:
		return fmt.Sprintf("%d negotiations are open", all)
	case pause > 0:
		return fmt.Sprintf("the latest negotiation with the counterparty led to no deal: pause of %s",
			pause.Round(time.Second))
	}
	return ""
}

// awaitPlace reports whether an invitation waits for a place, and logs that once. Invitations lapse when
// their time is over.
func (l *loop) awaitPlace(f *tracked) bool {
	reason := l.noPlace(f.counterpart)
	if reason != "" && !f.waiting {
		l.config.Logger.Warn("invitation waits", f.attributes("counterpart", f.counterpart, "reason", reason)...)
	}
	f.waiting = reason != ""
	return f.waiting
}

// leaveOpen is called when a negotiation is no longer open.
func (l *loop) leaveOpen(f *tracked, status protocol.NegotiationStatus) {
	f.open = false
	if f.side != protocol.OfferSideSeller || f.participation != engaged {
		return
	}
	switch status {
	case protocol.NegotiationStatusRejected, protocol.NegotiationStatusExpired:
		l.backOff(f.counterpart)
	case protocol.NegotiationStatusAccepted, protocol.NegotiationStatusSettled:
		delete(l.backoffs, f.counterpart)
	}
	l.offerPlaces()
}

// backOff delays the counterparty's next invitation. It forgets counterparties that have been quiet for long.
func (l *loop) backOff(counterpart solana.PublicKey) {
	now := time.Now()
	for known, b := range l.backoffs {
		if now.Sub(b.until) > lastBackoff {
			delete(l.backoffs, known)
		}
	}
	b := l.backoffs[counterpart]
	pause := min(l.config.Backoff<<min(b.failures, 10), max(l.config.Backoff, lastBackoff))
	l.backoffs[counterpart] = backoff{failures: b.failures + 1, until: now.Add(pause)}
	time.AfterFunc(pause, func() { l.post(l.offerPlaces) })
}

// offerPlaces refreshes waiting invitations for which there are places, the oldest first.
func (l *loop) offerPlaces() {
	var waiting []*tracked
	all, open := 0, make(map[solana.PublicKey]int)
	for _, f := range l.tracked {
		switch {
		case f.takesPlace():
			all++
			open[f.counterpart]++
		case f.waiting && f.participation == undecided:
			waiting = append(waiting, f)
		}
	}
	slices.SortFunc(waiting, func(a, b *tracked) int {
		return cmp.Or(cmp.Compare(a.created, b.created), bytes.Compare(a.address[:], b.address[:]))
	})
	for _, f := range waiting {
		if all >= l.config.MaxOpen || l.stopping {
			return
		}
		if open[f.counterpart] < l.config.MaxOpenPerCounterpart &&
			!time.Now().Before(l.backoffs[f.counterpart].until) {
			all++
			open[f.counterpart]++
			l.refresh(f)
		}
	}
}
