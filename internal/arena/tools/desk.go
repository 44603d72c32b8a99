// Package tools offers an arena agent's decisions as Model Context Protocol tools. The runtime of package
// trader trades with the owner's limits. Where it needs a decision, it asks a [Desk], and the model replies
// with a tool. If the model is silent, the runtime leaves the side chat, declines the invitation, or lets the
// agreement expire.
//
// Names and texts of others are in fields named "untrusted" only.
package tools

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
)

// Kinds of decisions.
const (
	KindTurn       = "turn"
	KindInvitation = "invitation"
	KindAgreement  = "agreement"
)

// Desk holds decisions waiting for the model. It is safe for concurrent use.
type Desk struct {
	lock    sync.Mutex
	count   int
	pending map[string]*pending
	// latest is the market at the latest decision or look.
	latest trader.Desk
	// say and invite wait for the agent's turn on the floor, or the next market check.
	say      *arena.Say
	invited  *arena.Invite
	interest arena.Interest
	// changed is closed and replaced at each change.
	changed chan struct{}
}

// pending is a decision that waits. answer has a capacity of 1.
type pending struct {
	item   Item
	turn   trader.Turn
	answer chan any
}

// NewDesk returns a desk.
func NewDesk() *Desk { return &Desk{pending: map[string]*pending{}, changed: make(chan struct{})} }

// Trader adds the model's decisions to a trader configuration.
func (d *Desk) Trader(config trader.Config) trader.Config {
	config.Negotiate, config.Admit, config.Settle = d.negotiate, d.admit, d.settle
	config.Interest, config.Speak, config.Invite = d.state, d.speak, d.begin
	return config
}

// notify wakes all waiting calls. The caller holds the lock.
func (d *Desk) notify() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// wait adds a decision, and returns the model's reply.
func wait[T any](ctx context.Context, d *Desk, desk trader.Desk, p *pending) (answer T, err error) {
	p.answer = make(chan any, 1)
	if end, limited := ctx.Deadline(); limited {
		p.item.Due = end
	}
	d.lock.Lock()
	d.count++
	p.item.ID, d.latest = strconv.Itoa(d.count), desk
	d.pending[p.item.ID] = p
	d.notify()
	d.lock.Unlock()
	defer func() {
		d.lock.Lock()
		defer d.lock.Unlock()
		delete(d.pending, p.item.ID)
	}()
	select {
	case given := <-p.answer:
		return given.(T), nil
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	}
}

func (d *Desk) negotiate(ctx context.Context, turn trader.Turn) (trader.Move, error) {
	return wait[trader.Move](ctx, d, turn.Desk, &pending{item: turnItem(turn), turn: turn})
}

func (d *Desk) admit(ctx context.Context, invitation trader.Invitation) (bool, error) {
	return wait[bool](ctx, d, invitation.Desk, &pending{item: invitationItem(invitation)})
}

func (d *Desk) settle(ctx context.Context, desk trader.Desk, agreement arena.Agreement) (trader.Verdict, error) {
	return wait[trader.Verdict](ctx, d, desk, &pending{item: agreementItem(desk, agreement)})
}

// state returns the interest that the model has stated.
func (d *Desk) state(_ context.Context, desk trader.Desk) (arena.Interest, error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.latest = desk
	return d.interest, nil
}

// speak returns the model's prepared message, once.
func (d *Desk) speak(_ context.Context, desk trader.Desk) (say arena.Say, err error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.latest = desk
	if d.say != nil {
		say, d.say = *d.say, nil
	}
	return say, nil
}

// begin returns the model's prepared side chat, once.
func (d *Desk) begin(_ context.Context, desk trader.Desk) (invite arena.Invite, err error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.latest = desk
	if d.invited != nil {
		invite, d.invited = *d.invited, nil
	}
	return invite, nil
}

// items returns the waiting decisions, oldest first, and the market. It waits for a decision for at most the
// given time.
func (d *Desk) items(ctx context.Context, wait time.Duration) ([]Item, Market) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		d.lock.Lock()
		items, changed, market := make([]Item, 0, len(d.pending)), d.changed, marketOf(d.latest)
		for _, p := range d.pending {
			items = append(items, p.item)
		}
		d.lock.Unlock()
		slices.SortFunc(items, func(a, b Item) int { return cmp.Or(len(a.ID)-len(b.ID), cmp.Compare(a.ID, b.ID)) })
		if len(items) > 0 {
			return items, market
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil, market
		case <-ctx.Done():
			return nil, market
		}
	}
}

// decide passes a reply on. A second call finds nothing to decide.
func (d *Desk) decide(id string, answerOf func(*pending) (any, error)) error {
	d.lock.Lock()
	defer d.lock.Unlock()
	p := d.pending[id]
	if p == nil {
		return invalid("id: no such decision waits: read arena_inbox again")
	}
	answer, err := answerOf(p)
	if err == nil {
		delete(d.pending, id)
		p.answer <- answer
	}
	return err
}

// prepare changes what the desk does at the next occasion.
func (d *Desk) prepare(change func(*Desk)) {
	d.lock.Lock()
	defer d.lock.Unlock()
	change(d)
}
