package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	// readLimit is how long reading a negotiation may take.
	readLimit = 30 * time.Second
	// pastLimit is how long reading its history may take, of which anyone can make more, while there is somebody to be asked.
	pastLimit = 5 * time.Second
	// A look that fails is repeated after such a pause, which doubles; so is an action.
	firstPause = 250 * time.Millisecond
	lastPause  = 30 * time.Second
)

// errBehind: a node does not know yet what has happened for certain, such as what the agent has done.
var errBehind = errors.New("agent: the node does not know yet what has happened")

// look has a negotiation read, and done what its state asks for.
func (l *loop) look(f *followed) {
	if f.busy || l.stopping {
		f.changed = true
		return
	}
	f.busy, f.changed = true, false
	if f.retry != nil {
		f.retry.Stop()
	}
	wanted := glimpse{
		address: f.address, created: f.created, exists: f.exists, notBefore: f.notBefore, offers: slices.Clone(f.offers), result: f.result,
	}
	task := l.task(func() func() {
		seen := l.see(wanted)
		return func() { l.saw(f, seen) }
	})
	// Who is under way goes before who begins.
	if f.notBefore > 0 {
		l.urgent = append(l.urgent, task)
	} else {
		l.ready = append(l.ready, task)
	}
}

// glimpse is what is known before a negotiation is read.
type glimpse struct {
	address   solana.PublicKey
	created   int64
	exists    bool
	notBefore uint64
	offers    []PastOffer
	result    *Result
}

// sight is what has been read.
type sight struct {
	// negotiation is nil if there is none any more.
	negotiation *haggle.NegotiationAccount
	now         int64
	offers      []PastOffer
	// result is how a negotiation has ended that is there no more; nil if the node does not remember. replaced says that another one
	// has taken its place.
	result   *Result
	replaced bool
	err      error
}

// see reads a negotiation, the clock, and what the events say beside it.
func (l *loop) see(wanted glimpse) sight {
	ctx, cancel := context.WithTimeout(l.ctx, readLimit)
	defer cancel()
	var seen sight
	var clock error
	var reading sync.WaitGroup
	reading.Go(func() { seen.now, clock = l.client.Now(ctx) })
	seen.negotiation, seen.err = l.client.GetNegotiation(ctx, wanted.address)
	reading.Wait()
	n := seen.negotiation
	switch {
	case errors.Is(seen.err, haggle.ErrAccountNotFound):
		if seen.result, seen.err = wanted.result, nil; seen.result == nil {
			seen.result, seen.err = l.ending(ctx, wanted)
		}
		return seen
	case seen.err != nil:
		return seen
	case clock != nil:
		seen.err = clock
		return seen
	case isBefore(n.Slot, wanted.notBefore):
		seen.err = errBehind
		return seen
	case l.isAnother(wanted, n):
		seen.replaced = true
		seen.result, seen.err = l.ending(ctx, wanted)
		return seen
	}
	read := time.Now()
	seen.offers = l.offersOf(ctx, n, wanted.offers)
	// Deadlines go by what time it is when this is acted on.
	seen.now += int64(time.Since(read) / time.Second)
	return seen
}

// offersOf completes the offers that have been told of, if somebody is going to be asked about them. What the node does not
// remember, or cannot be asked for now, is left out: the standing one is in the account.
func (l *loop) offersOf(ctx context.Context, n *haggle.NegotiationAccount, known []PastOffer) []PastOffer {
	side, _ := n.SideOf(l.self)
	v := view{NegotiationAccount: n, side: side}
	if !v.canMove() && !n.IsAgreed() || areOffersOf(n, known) {
		return known
	}
	limited, cancel := context.WithTimeout(ctx, pastLimit)
	defer cancel()
	before, err := l.past(limited, n.Address, n.CreatedAt)
	if err != nil {
		l.config.Logger.Warn("the offers so far could not be read", "negotiation", n.Address, "error", err)
	}
	offers := before.offers
	if len(offers) < len(known) && areConsistent(n, known) {
		offers = known
	}
	return withStanding(n, offers)
}

// areOffersOf says whether offers are all those of a negotiation.
func areOffersOf(n *haggle.NegotiationAccount, offers []PastOffer) bool {
	return len(offers) == int(n.CurrentRound) && areConsistent(n, offers)
}

// areConsistent says whether the last of some offers is the negotiation's, if it is as late.
func areConsistent(n *haggle.NegotiationAccount, offers []PastOffer) bool {
	if len(offers) == 0 {
		return true
	}
	last := offers[len(offers)-1]
	if last.Round == n.CurrentRound {
		return last.Amount == n.CurrentOfferAmount && last.At == n.LastOfferAt
	}
	return last.Round < n.CurrentRound
}

// withStanding adds the offer that the account has, unless it is there.
func withStanding(n *haggle.NegotiationAccount, offers []PastOffer) []PastOffer {
	offers = slices.DeleteFunc(offers, func(o PastOffer) bool { return o.Round >= n.CurrentRound && !isStanding(n, o) })
	if n.CurrentRound == 0 || len(offers) > 0 && offers[len(offers)-1].Round == n.CurrentRound {
		return offers
	}
	return append(offers, PastOffer{
		Round: n.CurrentRound, Side: n.OfferSide, Amount: n.CurrentOfferAmount, Escrow: n.EffectiveEscrow, At: n.LastOfferAt,
	})
}

func isStanding(n *haggle.NegotiationAccount, o PastOffer) bool {
	return o.Round == n.CurrentRound && o.Amount == n.CurrentOfferAmount && o.At == n.LastOfferAt
}

// isAnother reports whether the negotiation is a later deal at the address of the one that has been read
// before.
func (l *loop) isAnother(wanted glimpse, n *haggle.NegotiationAccount) bool {
	return wanted.created != 0 && wanted.created != n.CreatedAt
}

// ending is how a negotiation has ended that is not there: nil if the node does not remember. One that has begun and not been closed
// is there, and the node is behind. So it is if nothing has ever happened to a negotiation that exists for certain.
func (l *loop) ending(ctx context.Context, wanted glimpse) (*Result, error) {
	before, err := l.past(ctx, wanted.address, wanted.created)
	if err != nil {
		return nil, err
	}
	if (before.live || wanted.exists) && !before.closed {
		return nil, errBehind
	}
	if before.result != nil {
		before.result.Negotiation, before.result.Side, before.result.Counterpart = wanted.address, before.side, before.counterpart
	}
	return before.result, nil
}

// past is what the events tell of the negotiation that was created at a time, as far as the node remembers. Time zero is the last
// one at the address.
func (l *loop) past(ctx context.Context, address solana.PublicKey, created int64) (f followed, err error) {
	for seen, err := range l.client.History(ctx, address) {
		if err != nil {
			return f, err
		}
		if seen.Truncated {
			continue
		}
		if event, begins := seen.Event.(*protocol.NegotiationCreated); begins {
			if created != 0 && event.Timestamp > created {
				break
			}
			f = followed{}
			f.side, f.counterpart = sideIn(event, l.self)
		}
		f.note(seen)
	}
	return f, nil
}

func sideIn(event *protocol.NegotiationCreated, self solana.PublicKey) (side protocol.OfferSide, counterpart solana.PublicKey) {
	if event.Buyer == self {
		return protocol.OfferSideBuyer, event.Seller
	}
	return protocol.OfferSideSeller, event.Buyer
}

// saw does what a state asks for.
func (l *loop) saw(f *followed, seen sight) {
	f.busy = false
	switch {
	case l.stopping:
		return
	case seen.err != nil:
		if l.ctx.Err() == nil {
			l.config.Logger.Log(l.ctx, levelOf(seen.err), "the negotiation could not be read", f.attributes("error", seen.err)...)
			l.putOff(f)
			l.bear(f, seen.err)
		}
		return
	case seen.negotiation == nil:
		l.gone(f, seen.result)
		return
	case seen.replaced:
		l.gone(f, seen.result)
		l.listed(seen.negotiation)
		return
	case l.isOthers(seen.negotiation):
		l.leave(f)
		return
	case f.changed:
		l.look(f)
		return
	}
	n := seen.negotiation
	before := f.position
	l.update(f, n)
	if f.position != before {
		f.failures = 0
	}
	f.offers = seen.offers
	l.now = seen.now
	v := l.viewOf(f, n, seen.now)
	l.heard(v)
	l.perform(f, v, v.plan())
}

// perform does a duty.
func (l *loop) perform(f *followed, v *view, next outlook) {
	l.engage(f, v, next.duty)
	l.agenda.wake(f, next.at)
	if waits := time.Until(f.retryAt); next.duty != idle && next.duty != done && !next.last && f.failures > 0 && waits > 0 {
		// It has failed at this position a moment ago.
		l.lookAfter(f, waits)
		return
	}
	switch next.duty {
	case idle:
	case done:
		l.drop(f)
	case admit:
		l.admit(f, v)
	case join:
		l.act(f, v, "accept_invitation", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.AcceptInvitation(ctx, haggle.AcceptInvitationRequest{Seller: l.self, Seen: v.NegotiationAccount})
		})
	case seal:
		l.seal(f, v)
	case decide:
		l.decide(f, v, next.last)
	case deliver:
		l.deliver(f, v, next.last)
	case release:
		index, _ := v.UnderReview()
		l.act(f, v, "release_milestone", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.ReleaseMilestone(ctx, haggle.ReleaseMilestoneRequest{Releaser: l.self, Seen: v.NegotiationAccount, Index: index})
		})
	case settle:
		l.act(f, v, "settle_deadline", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.SettleDeadline(ctx, haggle.SettleDeadlineRequest{Payer: l.self, Seen: v.NegotiationAccount})
		})
	case expire:
		l.act(f, v, "expire_negotiation", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.Expire(ctx, haggle.ExpireRequest{Payer: l.self, Seen: v.NegotiationAccount})
		})
	case finish:
		l.finish(f, v)
	}
}

// finish clears a negotiation of the buyer's away, which delivers what is kept for it, too. The seller claims what is kept for it; so
// does a buyer that cannot clear it away.
func (l *loop) finish(f *followed, v *view) {
	if v.isBuyer() && v.IsOver() && (v.ClaimableBuyer == 0 || f.unpayable != f.position) {
		l.act(f, v, "close_negotiation", func(ctx context.Context) (*haggle.Action, error) {
			return l.client.CloseNegotiation(ctx, haggle.CloseRequest{Closer: l.self, Seen: v.NegotiationAccount})
		})
		return
	}
	l.act(f, v, "claim_payout", func(ctx context.Context) (*haggle.Action, error) {
		return l.client.ClaimPayout(ctx, haggle.ClaimRequest{Party: l.self, Seen: v.NegotiationAccount})
	})
}

// putOff has a negotiation looked at again after a pause that doubles.
func (l *loop) putOff(f *followed) {
	pause := min(firstPause<<min(f.failures, 10), lastPause)
	f.failures++
	l.lookAfter(f, jitter(pause))
}

func (l *loop) lookAfter(f *followed, pause time.Duration) {
	f.retryAt = time.Now().Add(pause)
	again := func() { l.post(func() { l.look(f) }) }
	if f.retry == nil {
		f.retry = time.AfterFunc(pause, again)
	} else {
		f.retry.Stop()
		f.retry.Reset(pause)
	}
}

// gone is told of a negotiation that has been closed.
func (l *loop) gone(f *followed, result *Result) {
	if l.mayBeOthers(f) {
		l.forget(f)
		return
	}
	if result == nil {
		result = &Result{}
	}
	told := *result
	if f.created != 0 {
		told.Side, told.Counterpart = f.side, f.counterpart
	}
	told.Negotiation = f.address
	f.result = &told
	l.drop(f)
}

// drop forgets a negotiation of which nothing is left to do, and tells of its end.
func (l *loop) drop(f *followed) {
	l.forget(f)
	defer l.finishOne(f, nil)
	if f.result == nil || !f.live {
		return
	}
	result := *f.result
	l.config.Logger.Info("the negotiation is over",
		f.attributes("status", result.Status, "price", result.Price, "rounds", result.Rounds)...)
	if l.config.Ended != nil {
		l.tell(func() { l.config.Ended(result) })
	}
}

func (l *loop) forget(f *followed) {
	l.agenda.wake(f, 0)
	if f.retry != nil {
		f.retry.Stop()
	}
	if f.withdraw != nil {
		f.withdraw(errMovedOn)
	}
	delete(l.followed, f.address)
}
