package agent

import (
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// firstPause and lastPause limit the doubling pause between attempts to read or act.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
)

// execute does a negotiation's next action.
func (l *loop) execute(f *tracked, v *view, next step) {
	l.engage(f, v, next.action)
	l.logStep(f, v, next)
	if next.action != deliver {
		l.withdrawEscrow(f)
	}
	f.wakeAt = next.at
	idles := next.action == idle || next.action == done
	if pause := time.Until(f.retryAt); !idles && !next.last && f.failures > 0 && pause > 0 {
		// It failed at this position a moment ago.
		l.refreshAfter(f, pause)
		return
	}
	deal := l.client.At(v.Snapshot)
	switch next.action {
	case idle:
	case done:
		l.drop(f)
	case admit:
		l.admit(f, v)
	case acceptInvitation:
		l.send(f, v, deal.AcceptInvitation(l.self, v.TermsHash(), l.config.Mints[v.TokenMint].Decimals,
			haggle.Deposit{}))
	case seal:
		l.seal(f, v)
	case decide:
		l.decide(f, v, next.last)
	case fallBack:
		if !l.carryOut(f, v) {
			l.fallBack(f, v, l.turn(f, v, true))
		}
	case deliver:
		l.deliver(f, v, next.last)
	case release:
		index, _ := v.UnderReview()
		l.do(f, v, Turn{Negotiation: v.Snapshot}, ReleaseMilestone{Index: index})
	case settle:
		l.send(f, v, deal.SettleDeadline(l.self))
	case expire:
		l.send(f, v, deal.Expire(l.self))
	case finish:
		l.finish(f, v)
	}
}

// finish closes a negotiation as the buyer, which also delivers the buyer's payout. The seller claims the
// payout; so does a buyer that cannot close the negotiation.
func (l *loop) finish(f *tracked, v *view) {
	if closes(f, v) {
		l.send(f, v, l.client.At(v.Snapshot).Close(l.self))
		return
	}
	l.send(f, v, l.client.At(v.Snapshot).ClaimPayout(l.self, solana.PublicKey{}))
}

// closes reports whether finish closes the negotiation, instead of claiming the agent's payout alone.
func closes(f *tracked, v *view) bool {
	return v.isBuyer() && v.IsOver() && (v.ClaimableBuyer == 0 || !f.unpayable)
}

// retryLater refreshes a negotiation later. The pause doubles.
func (l *loop) retryLater(f *tracked) {
	pause := min(firstPause<<min(f.failures, 10), lastPause)
	f.failures++
	l.refreshAfter(f, jitter(pause))
}

func (l *loop) refreshAfter(f *tracked, pause time.Duration) {
	f.retryAt = time.Now().Add(pause)
	again := func() { l.post(func() { l.refresh(f) }) }
	if f.retry != nil {
		f.retry.Stop()
	}
	f.retry = time.AfterFunc(pause, again)
}
