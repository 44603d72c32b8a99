package agent

import (
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// firstPause and lastPause limit the doubling pause after a failed read or action.
const (
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
)

// perform does a duty.
func (l *loop) perform(f *tracked, v *view, next step) {
	l.engage(f, v, next.duty)
	l.agenda.wake(f, next.at)
	idles := next.duty == idle || next.duty == done
	if pause := time.Until(f.retryAt); !idles && !next.last && f.failures > 0 && pause > 0 {
		// It failed at this position a moment ago.
		l.refreshAfter(f, pause)
		return
	}
	switch next.duty {
	case idle:
	case done:
		l.drop(f)
	case admit:
		l.admit(f, v)
	case acceptInvitation:
		send(l, f, v, "accept_invitation", l.client.AcceptInvitation, haggle.AcceptInvitationRequest{
			Seller: l.self, Seen: v.NegotiationAccount,
		})
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
		l.do(f, v, Turn{Negotiation: v.NegotiationAccount}, ReleaseMilestone{Index: index})
	case settle:
		send(l, f, v, "settle_deadline", l.client.SettleDeadline, haggle.SettleDeadlineRequest{
			Payer: l.self, Seen: v.NegotiationAccount,
		})
	case expire:
		send(l, f, v, "expire_negotiation", l.client.Expire, haggle.ExpireRequest{
			Payer: l.self, Seen: v.NegotiationAccount,
		})
	case finish:
		l.finish(f, v)
	}
}

// finish closes a negotiation as its buyer, which also delivers the buyer's payout. The seller claims its
// payout; so does a buyer that cannot close the negotiation.
func (l *loop) finish(f *tracked, v *view) {
	if v.isBuyer() && v.IsOver() && (v.ClaimableBuyer == 0 || f.unpayable != f.state) {
		send(l, f, v, "close_negotiation", l.client.CloseNegotiation, haggle.CloseRequest{
			Closer: l.self, Seen: v.NegotiationAccount,
		})
		return
	}
	send(l, f, v, "claim_payout", l.client.ClaimPayout, haggle.ClaimRequest{
		Party: l.self, Seen: v.NegotiationAccount,
	})
}

// retryLater refreshes a negotiation after a pause that doubles.
func (l *loop) retryLater(f *tracked) {
	pause := min(firstPause<<min(f.failures, 10), lastPause)
	f.failures++
	l.refreshAfter(f, jitter(pause))
}

func (l *loop) refreshAfter(f *tracked, pause time.Duration) {
	f.retryAt = time.Now().Add(pause)
	again := func() { l.post(func() { l.refresh(f) }) }
	if f.retry == nil {
		f.retry = time.AfterFunc(pause, again)
	} else {
		f.retry.Stop()
		f.retry.Reset(pause)
	}
}
