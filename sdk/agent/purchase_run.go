package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// pollEvery is how often a purchase reads the negotiations.
const pollEvery = time.Second

// purchaseRun is a run of the purchase. A runtime runs each negotiation, and the calls of Decide wait for the
// goroutine of run, which makes all decisions sequentially.
type purchaseRun struct {
	*Purchase
	all []*purchaseNegotiation
	// changed wakes run.
	changed chan struct{}
	// calling is held during calls of the agent's functions.
	calling sync.Mutex
	// tasks counts the runtimes and the rejections.
	tasks sync.WaitGroup
	// lock protects the fields of the negotiations that other goroutines write.
	lock sync.Mutex
}

// purchaseNegotiation is a negotiation of the purchase.
type purchaseNegotiation struct {
	address, seller solana.PublicKey

	// The lock protects these fields.
	//
	// waiting is the call of Decide that waits for a decision; nil if there is none.
	waiting *waitingCall
	// over reports whether the runtime returned, with a result or an error.
	over   bool
	result *Result
	err    error
	// rejecting reports whether a rejection is in progress.
	rejecting bool

	// Only the goroutine of run uses the latest snapshot; nil until the first snapshot and after the close.
	latest *haggle.Snapshot
}

// waitingCall is a call of Decide that waits.
type waitingCall struct {
	turn    Turn
	decided chan decidedCall
}

type decidedCall struct {
	decision Decision
	err      error
}

// await waits for the decision on a turn. The context ends if the turn changes or times out.
func (r *purchaseRun) await(ctx context.Context, n *purchaseNegotiation, turn Turn) (Decision, error) {
	call := &waitingCall{turn: turn, decided: make(chan decidedCall, 1)}
	r.update(func() { n.waiting = call })
	select {
	case decided := <-call.decided:
		return decided.decision, decided.err
	case <-ctx.Done():
		r.update(func() {
			if n.waiting == call {
				n.waiting = nil
			}
		})
		return nil, context.Cause(ctx)
	}
}

// update changes negotiations and wakes run.
func (r *purchaseRun) update(change func()) {
	r.lock.Lock()
	change()
	r.lock.Unlock()
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// answer ends a negotiation's waiting call. If the call already ended, the decision is not used.
func (r *purchaseRun) answer(n *purchaseNegotiation, call *waitingCall, decision Decision, err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if n.waiting == call {
		n.waiting = nil
		call.decided <- decidedCall{decision, err}
	}
}

// run runs all negotiations to their ends.
func (r *purchaseRun) run(ctx context.Context) (*PurchaseResult, error) {
	running, stop := context.WithCancel(ctx)
	defer r.tasks.Wait()
	defer stop()
	for _, n := range r.all {
		runtime, err := New(r.client, r.signer, r.agent(n))
		if err != nil {
			return nil, err
		}
		r.tasks.Go(func() {
			result, err := runtime.RunOne(running, n.address)
			r.update(func() { n.over, n.result, n.err = true, result, err })
		})
	}
	for {
		if err := r.step(running); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if !isTransient(err) && !errors.Is(err, ErrPurchaseChanged) {
				return nil, err
			}
			r.config.Agent.Logger.Warn("purchase: the step is repeated", "error", err)
		}
		if r.isOver() {
			return r.result()
		}
		woken, cancel := context.WithTimeout(running, pollEvery)
		select {
		case <-r.changed:
		case <-woken.Done():
		}
		cancel()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

func (r *purchaseRun) isOver() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return !slices.ContainsFunc(r.all, func(n *purchaseNegotiation) bool { return !n.over })
}

// result returns the result after the end of all negotiations.
func (r *purchaseRun) result() (*PurchaseResult, error) {
	var failures []error
	result := &PurchaseResult{}
	for _, n := range r.all {
		if n.err != nil {
			failures = append(failures, fmt.Errorf("agent: purchase: negotiation %s: %w", n.address, n.err))
		}
		if n.result == nil {
			continue
		}
		result.Negotiations = append(result.Negotiations, *n.result)
		result.Total += r.template.DecayAfter(int(n.result.Rounds))
		switch {
		case n.result.Status == protocol.NegotiationStatusSettled:
			result.Deal = new(*n.result)
			result.Total += n.result.Price
		case !endedWithoutDeal(n.result.Status):
			failures = append(failures, fmt.Errorf("%w: negotiation %s", ErrEndUnknown, n.address))
		}
	}
	if result.Negotiations == nil {
		return nil, errors.Join(failures...)
	}
	return result, errors.Join(failures...)
}

// step reads the negotiations, makes a decision or none, and rejects the negotiations that are to end.
func (r *purchaseRun) step(ctx context.Context) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	calls := r.calls()
	switch {
	case r.isBought():
		r.rejectAll(ctx, calls)
		return nil
	case r.isClosing():
		return nil
	}
	record, err := r.config.Store.BeginPurchase(ctx, r.signer.PublicKey(), r.config.Key, r.terms)
	if err != nil {
		return fmt.Errorf("agent: purchase: %w", err)
	}
	if record.Negotiation.IsZero() && r.hasOffers() {
		return ErrRecordLost
	}
	next := r.next(record, calls)
	if next == nil {
		r.withdraw(ctx, record, calls)
		return nil
	}
	free, err := r.mayAuthorize(ctx, record, next)
	if err != nil {
		return err
	}
	if !free {
		r.withdraw(ctx, record, calls)
		return nil
	}
	return r.decide(ctx, record, next, calls)
}

// read reads the snapshots of the negotiations that are not over.
func (r *purchaseRun) read(ctx context.Context) error {
	addresses := make([]solana.PublicKey, len(r.all))
	for i, n := range r.all {
		addresses[i] = n.address
	}
	snapshots, err := r.client.Snapshots(ctx, "", addresses...)
	if err != nil {
		return err
	}
	for i, n := range r.all {
		n.latest = snapshots[i]
	}
	return nil
}

// calls returns the waiting calls on the latest snapshots. Calls on older states end soon, and calls on later
// states wait for the next step.
func (r *purchaseRun) calls() map[*purchaseNegotiation]*waitingCall {
	r.lock.Lock()
	defer r.lock.Unlock()
	calls := map[*purchaseNegotiation]*waitingCall{}
	for _, n := range r.all {
		if n.waiting == nil || n.latest == nil {
			continue
		}
		if on := n.waiting.turn.Negotiation; on.Status == n.latest.Status && on.CurrentRound == n.latest.CurrentRound {
			calls[n] = n.waiting
		}
	}
	return calls
}

// isBought reports whether a negotiation reached a deal, or ended with an unknown result. Nothing is bought
// after that.
func (r *purchaseRun) isBought() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, n := range r.all {
		switch {
		case n.latest != nil && (n.latest.IsAgreed() || n.latest.Status == protocol.NegotiationStatusSettled):
			return true
		case n.result != nil && !endedWithoutDeal(n.result.Status):
			return true
		}
	}
	return false
}

// isClosing reports whether a negotiation's end is not known yet, because the close is recent, or because the
// node lags.
func (r *purchaseRun) isClosing() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.ContainsFunc(r.all, func(n *purchaseNegotiation) bool { return n.latest == nil && !n.over })
}

// hasOffers reports whether the buyer made an offer.
func (r *purchaseRun) hasOffers() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.ContainsFunc(r.all, func(n *purchaseNegotiation) bool {
		return n.latest != nil && n.latest.CurrentRound > 0 || n.result != nil && n.result.Rounds > 0
	})
}

func endedWithoutDeal(status protocol.NegotiationStatus) bool {
	return status == protocol.NegotiationStatusRejected || status == protocol.NegotiationStatusExpired
}

// rejectAll ends the open negotiations: those at the buyer's turn by the decision, and the others directly.
func (r *purchaseRun) rejectAll(ctx context.Context, calls map[*purchaseNegotiation]*waitingCall) {
	for _, n := range r.all {
		if call := calls[n]; call != nil {
			r.answer(n, call, Reject{}, nil)
			continue
		}
		if n.latest != nil && n.latest.IsOpen() && (n.latest.Status == protocol.NegotiationStatusCreated ||
			n.latest.Turn() == protocol.OfferSideSeller) {
			r.reject(ctx, n)
		}
	}
}

// reject rejects a negotiation at the seller's turn, or before the seller joined.
func (r *purchaseRun) reject(ctx context.Context, n *purchaseNegotiation) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if n.rejecting || n.over {
		return
	}
	n.rejecting = true
	action := r.client.At(n.latest).Reject(r.signer.PublicKey())
	r.tasks.Go(func() {
		if _, err := action.Do(ctx, r.signer); err != nil && ctx.Err() == nil {
			// The next step reads the negotiation again, and repeats the rejection if it is still due.
			r.config.Agent.Logger.Log(ctx, levelOf(err), "rejection failed", "negotiation", n.address, "error", err)
			_ = wait.For(ctx, jitter(pollEvery))
		}
		r.update(func() { n.rejecting = false })
	})
}

// next returns the negotiation where the buyer moves next; nil if there is none at present.
func (r *purchaseRun) next(
	record PurchaseRecord, calls map[*purchaseNegotiation]*waitingCall,
) (next *purchaseNegotiation) {
	joining := false
	for _, n := range r.all {
		joining = joining || n.latest != nil && n.latest.Status == protocol.NegotiationStatusCreated
		if calls[n] == nil {
			continue
		}
		if n.address == record.Negotiation && n.latest.CurrentRound == record.Round {
			return n // the authorized move is not executed yet
		}
		if next == nil || onchain.MovesBefore(&n.latest.Negotiation, &next.latest.Negotiation) {
			next = n
		}
	}
	if next == nil || !joining || next.latest.CurrentRound > 0 {
		return next
	}
	if left := next.latest.TurnDeadline - next.latest.Time; left > next.latest.ResponseWindow*3/4 {
		return nil
	}
	return next
}

// mayAuthorize reports whether a negotiation may be authorized: it is finalized, and the move authorized in a
// different negotiation can no longer lead to a deal.
func (r *purchaseRun) mayAuthorize(
	ctx context.Context, record PurchaseRecord, next *purchaseNegotiation,
) (bool, error) {
	if record.Negotiation == next.address {
		return true, nil
	}
	addresses := []solana.PublicKey{next.address}
	if !record.Negotiation.IsZero() {
		addresses = append(addresses, record.Negotiation)
	}
	finalized, err := r.client.Snapshots(ctx, rpc.CommitmentFinalized, addresses...)
	if err != nil || finalized[0] == nil {
		return false, err
	}
	return len(finalized) == 1 || r.isReleased(record, finalized[1]), nil
}

// isReleased reports whether the authorized move can no longer lead to a deal, by the negotiation's finalized
// state. It is nil after the close: the negotiation was finalized before the authorization.
func (r *purchaseRun) isReleased(record PurchaseRecord, finalized *haggle.Snapshot) bool {
	if finalized != nil {
		return endedWithoutDeal(finalized.Status) || finalized.IsBargaining() &&
			finalized.Turn() == protocol.OfferSideBuyer && finalized.CurrentRound > record.Round
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, n := range r.all {
		if n.address == record.Negotiation {
			return n.result != nil && endedWithoutDeal(n.result.Status)
		}
	}
	return false
}

// decide makes the strategy's move in a negotiation, and authorizes it durably before the runtime receives
// it.
func (r *purchaseRun) decide(
	ctx context.Context, record PurchaseRecord, next *purchaseNegotiation, calls map[*purchaseNegotiation]*waitingCall,
) error {
	player, turn := r.config.Player, calls[next].turn
	others, standing := []*protocol.Negotiation(nil), []*protocol.Negotiation(nil)
	for _, n := range r.all {
		if n == next {
			continue
		}
		others = append(others, r.lost(n))
		if calls[n] != nil && n.latest.TurnDeadline-n.latest.Time > int64(r.config.Agent.Margin/time.Second) {
			standing = append(standing, &n.latest.Negotiation)
		}
	}
	player.Reservation = onchain.OutsideOption(player.Reservation, standing)
	player.Opening = min(player.Opening, player.Reservation)
	turn.Limits.MaxTotal = onchain.LeftOfTotal(turn.Limits.MaxTotal, others)
	var decision Decision
	var err error
	if turn.Limits.MaxTotal == 0 {
		decision = Reject{} // zero would be no limit for the player
	} else {
		r.serially(func() { decision, err = player.Decide(ctx, turn) })
	}
	if err == nil {
		err = validate(turn, decision)
	}
	if _, rejects := decision.(Reject); err == nil && !rejects {
		round := turn.Negotiation.CurrentRound
		if _, err := r.config.Store.AuthorizePurchase(ctx, record, next.address, round); err != nil {
			return fmt.Errorf("agent: purchase: %w", err)
		}
	}
	r.answer(next, calls[next], decision, err)
	return nil
}

// lost returns a negotiation that counts the decay.
func (r *purchaseRun) lost(n *purchaseNegotiation) *protocol.Negotiation {
	r.lock.Lock()
	defer r.lock.Unlock()
	switch {
	case n.result != nil:
		lost := *r.template
		for range n.result.Rounds {
			onchain.Apply(&lost, lost.Turn(), 0, 0)
		}
		return &lost
	case n.latest != nil:
		return &n.latest.Negotiation
	}
	// The runtime failed to read the end: assume all offers that are possible.
	lost := *r.template
	for range lost.MaxRounds {
		onchain.Apply(&lost, lost.Turn(), 0, 0)
	}
	return &lost
}

// withdraw rejects the authorized negotiation if the seller did not answer within the seller's share of the
// time left to the negotiations at the buyer's turn.
func (r *purchaseRun) withdraw(
	ctx context.Context, record PurchaseRecord, calls map[*purchaseNegotiation]*waitingCall,
) {
	for _, n := range r.all {
		if n.address != record.Negotiation || n.latest == nil || !n.latest.IsBargaining() ||
			n.latest.Turn() != protocol.OfferSideSeller {
			continue
		}
		first := int64(0)
		for waiting := range calls {
			first = earliest(first, waiting.latest.TurnDeadline)
		}
		offered, margin := n.latest.LastOfferAt, int64(r.config.Agent.Margin/time.Second)
		if first != 0 && n.latest.Time-offered >= max(first-margin-offered, 0)/int64(len(calls)+1) {
			r.config.Agent.Logger.Log(ctx, LevelNotice, "offer withdrawn: the seller does not answer, and others wait",
				"negotiation", n.address, "seller", n.seller)
			r.reject(ctx, n)
		}
	}
}
