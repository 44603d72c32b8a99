// Package tools offers a HIRE agent's decisions as Model Context Protocol tools. The runtime of package party
// runs the conversations, with the owner's limits. Where it needs a decision, it asks a [Desk], and the model
// answers with a tool. If the model is silent, the runtime acts as it does on any silence: it rejects an
// offer in time, and disputes a delivery before silence would pay it.
//
// Texts of the counterpart are in fields named "untrusted" only.
package tools

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/party"
)

// maxEnded limits how many ends a desk remembers and returns.
const maxEnded = 20

// Desk holds decisions waiting for the model. It is safe for concurrent use.
type Desk struct {
	role   hire.Role
	self   string
	assets []hire.Asset
	save   func(name string, content []byte) (path string, err error)

	lock    sync.Mutex
	count   int
	pending map[string]*pending
	ended   []Ended
	// reported counts ended deals, and told the ended deals returned by a call.
	reported, told int
	// watchers lists, by conversation, calls waiting for a decision's effect.
	watchers map[string]chan error
	// changed is closed and replaced at each change.
	changed chan struct{}
}

// pending is a decision that waits. answer has a capacity of 1.
type pending struct {
	item   Item
	turn   party.Turn
	answer chan any
}

// NewDesk returns a desk for the agent with the given id. save stores a delivery for the owner, and returns
// the file path.
func NewDesk(
	role hire.Role, self string, assets []hire.Asset, save func(name string, content []byte) (string, error),
) *Desk {
	return &Desk{
		role: role, self: self, assets: assets, save: save, pending: map[string]*pending{},
		watchers: map[string]chan error{}, changed: make(chan struct{}),
	}
}

// notify wakes all waiting calls. The caller holds the lock.
func (d *Desk) notify() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// wait adds a decision, and returns the model's answer.
func wait[T any](ctx context.Context, d *Desk, p *pending) (answer T, err error) {
	p.answer = make(chan any, 1)
	d.lock.Lock()
	d.count++
	p.item.ID = strconv.Itoa(d.count)
	d.pending[p.item.ID] = p
	d.notify()
	d.lock.Unlock()
	defer func() {
		d.lock.Lock()
		defer d.lock.Unlock()
		delete(d.pending, p.item.ID)
		d.notify()
	}()
	select {
	case given := <-p.answer:
		return given.(T), nil
	case <-ctx.Done():
		return answer, context.Cause(ctx)
	}
}

// Decide waits for the move at a turn. It is a [party.Worker].Quote and a [party.Seeker].Decide.
func (d *Desk) Decide(ctx context.Context, turn party.Turn) (party.Move, error) {
	return wait[party.Move](ctx, d, &pending{item: d.turnItem(turn), turn: turn})
}

// Deliver waits for the delivery. It is a [party.Worker].Deliver.
func (d *Desk) Deliver(ctx context.Context, contract party.Contract) ([]byte, error) {
	return wait[[]byte](ctx, d, &pending{item: d.agreementItem(KindOrder, contract)})
}

// Review waits for the verdict about a delivery. It is a [party.Seeker].Review.
func (d *Desk) Review(ctx context.Context, contract party.Contract, delivery party.Delivery) (party.Verdict, error) {
	item, err := d.deliveryItem(contract, delivery)
	if err != nil {
		return 0, err
	}
	return wait[party.Verdict](ctx, d, &pending{item: item})
}

// Observe notices the agent's own messages. It is a [party.Config].Observe.
func (d *Desk) Observe(m *hire.Message) {
	if m.From() == d.self {
		d.effect(m.Conversation(), nil)
	}
}

// Failed notices moves that were not made. It is a [party.Config].Failed.
func (d *Desk) Failed(conversation string, err error) { d.effect(conversation, err) }

func (d *Desk) effect(conversation string, err error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	if watcher := d.watchers[conversation]; watcher != nil {
		select {
		case watcher <- err:
		default:
		}
	}
}

// Ended records an ended deal. Use it as [party.Config].Ended.
func (d *Desk) Ended(result party.Result) {
	d.lock.Lock()
	defer d.lock.Unlock()
	d.ended = append(d.ended, d.endedOf(result))
	d.ended = d.ended[max(0, len(d.ended)-maxEnded):]
	d.reported++
	d.notify()
}

// items returns the waiting decisions, oldest first, with the number of further decisions, and the latest
// deal ends. It waits for at most the given time until a decision waits, or a deal has ended and no call has
// returned this end.
func (d *Desk) items(ctx context.Context, wait time.Duration) (first []Item, more int, ended []Ended) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		d.lock.Lock()
		items, changed := make([]Item, 0, len(d.pending)), d.changed
		ended = slices.Clone(d.ended)
		for _, p := range d.pending {
			items = append(items, p.item)
		}
		isNew := d.told < d.reported
		d.told = d.reported
		d.lock.Unlock()
		slices.SortFunc(items, func(a, b Item) int { return cmp.Or(len(a.ID)-len(b.ID), cmp.Compare(a.ID, b.ID)) })
		if len(items) > 0 || isNew {
			shown := min(len(items), maxItems)
			return items[:shown], len(items) - shown, ended
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil, 0, ended
		case <-ctx.Done():
			return nil, 0, ended
		}
	}
}

// effectLimit is how long a tool waits for a decision's effect.
const effectLimit = 10 * time.Second

// watch reports on the agent's next move in a conversation: nil once the move is sent, or why it failed. The
// caller ends the watch.
func (d *Desk) watch(conversation string) (effect <-chan error, end func()) {
	watcher := make(chan error, 1)
	d.lock.Lock()
	defer d.lock.Unlock()
	d.watchers[conversation] = watcher
	return watcher, func() {
		d.lock.Lock()
		defer d.lock.Unlock()
		delete(d.watchers, conversation)
	}
}

// take removes a waiting decision, and returns it with the answer. A second call finds nothing to decide.
func (d *Desk) take(id, kind string, answerOf func(*pending) (any, error)) (*pending, any, error) {
	d.lock.Lock()
	defer d.lock.Unlock()
	p := d.pending[id]
	if p == nil || p.item.Kind != kind {
		return nil, nil, invalid("id: no %s with this id waits: read hire_inbox again", kind)
	}
	answer, err := answerOf(p)
	if err == nil {
		delete(d.pending, id)
	}
	return p, answer, err
}

// decide passes an answer on. answerOf must not use the desk's lock.
func (d *Desk) decide(id, kind string, answerOf func(*pending) (any, error)) error {
	p, answer, err := d.take(id, kind, answerOf)
	if err == nil {
		p.answer <- answer
	}
	return err
}

// decideMove passes a move on, waits for it to be sent, and returns why if it failed.
func (d *Desk) decideMove(ctx context.Context, id string, moveOf func(*pending) (any, error)) error {
	p, move, err := d.take(id, KindTurn, moveOf)
	if err != nil {
		return err
	}
	effect, end := d.watch(p.turn.Conversation)
	defer end()
	p.answer <- move
	ctx, cancel := context.WithTimeout(ctx, effectLimit)
	defer cancel()
	select {
	case err := <-effect:
		return err
	case <-ctx.Done():
		return errUnknown
	}
}
