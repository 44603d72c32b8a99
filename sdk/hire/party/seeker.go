package party

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// SeekerRuntime runs a seeker.
type SeekerRuntime struct{ runtime *runtime }

// NewSeeker returns a seeker's runtime. It sends nothing before Run.
func NewSeeker(seeker Seeker) (*SeekerRuntime, error) {
	switch {
	case seeker.Decide == nil:
		return nil, errors.New("party: Decide not set")
	case seeker.Chain != nil && seeker.Review == nil:
		return nil, errors.New("party: Review not set")
	}
	r, err := newRuntime(seeker.Config, hire.RoleSeeker, seeker.Decide)
	if err != nil {
		return nil, err
	}
	if seeker.Chain != nil {
		review := func(ctx context.Context, a *agreement, turn agent.Turn) (agent.MilestoneMove, error) {
			return r.review(ctx, a, turn, seeker.Review)
		}
		if r.settler, err = newSettler(r, review); err != nil {
			return nil, err
		}
	}
	return &SeekerRuntime{r}, nil
}

// Run continues the seeker's conversations until the context ends, and returns the context's error. It
// returns other errors if the home refuses the agent, or if the agent cannot start: see [agent.StartError].
func (s *SeekerRuntime) Run(ctx context.Context) error { return s.runtime.run(ctx) }

// Request is a task for a worker.
type Request struct {
	// Conversation identifies the purchase, such as by order number, or another value that survives crashes.
	// It is the conversation's id: strangers should not guess it.
	Conversation string
	// Worker is an id.
	Worker string
	// Need, if not empty, is sent as an inquiry before the proposal.
	Need string
	// Task and Requirements describe the work. Task is required.
	Task         string
	Requirements []string
	// Symbol selects an asset. Price is the first offer in the asset's base units, including the protocol's
	// fee.
	Symbol string
	Price  uint64
	// Deadline limits the delivery time, in whole seconds.
	Deadline time.Time
	// Arbiter decides about a disputed delivery.
	Arbiter hire.Base58
}

// Hire proposes a task and waits until the deal has ended. [SeekerRuntime.Run] must be running.
//
// If an earlier call used the same conversation, even in another process, Hire continues: it returns the
// ended deal's result, or waits until the deal ends. If the deal was abandoned, it proposes again. Purchases
// are therefore made only once. All remaining request fields must then be the same.
//
// It returns an [ErrBeyondLimit] for a request beyond the agent's own limits, and the context's error. A deal that
// failed is a result.
func (s *SeekerRuntime) Hire(ctx context.Context, request Request) (Result, error) {
	r := s.runtime
	if _, err := r.proposal(request, time.Now()); err != nil {
		return Result{}, err
	}
	select {
	case <-r.ready:
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
	at := place{request.Conversation, request.Worker}
	done := make(chan Result, 1)
	r.mu.Lock()
	r.waiting[at] = append(r.waiting[at], done)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting[at] = slices.DeleteFunc(r.waiting[at], func(c chan Result) bool { return c == done })
		if len(r.waiting[at]) == 0 {
			delete(r.waiting, at)
		}
	}()
	r.track(r.running, at, func(t *tracked) {
		t.mu.Lock()
		t.request = &request
		t.mu.Unlock()
		t.wake()
	})
	select {
	case result := <-done:
		return result, nil
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	case <-r.running.Done():
		return Result{}, fmt.Errorf("party: Run has ended: %w", context.Cause(r.running))
	}
}

// proposal returns a request's first offer.
func (r *runtime) proposal(request Request, now time.Time) (*hire.Proposal, error) {
	at := slices.IndexFunc(r.Assets, func(a hire.Asset) bool { return a.Symbol == request.Symbol })
	switch {
	case request.Conversation == "" || request.Worker == "" || request.Task == "":
		return nil, errors.New("party: request: Conversation, Worker or Task not set")
	case at < 0:
		return nil, beyond("no asset has the symbol %q", request.Symbol)
	}
	asset := r.Assets[at]
	offer := Offer{
		By: hire.RoleSeeker, Price: request.Price, Deadline: request.Deadline.Truncate(time.Second),
		Arbiter: request.Arbiter,
	}
	if err := r.Limits.allow(hire.RoleSeeker, asset, offer, now); err != nil {
		return nil, err
	}
	return &hire.Proposal{
		Task: hire.NewText(request.Task), Requirements: texts(request.Requirements), Budget: asset.Price(offer.Price),
		Deadline: hire.NewTime(offer.Deadline), Arbiter: offer.Arbiter,
	}, nil
}

// begin sends a request's inquiry or proposal. If an earlier process reached an agreement or a rejection,
// begin returns that result.
func (t *tracked) begin(ctx context.Context, now time.Time) error {
	t.mu.Lock()
	request := t.request
	t.mu.Unlock()
	if request == nil {
		return nil
	}
	c := &t.conversation
	phase := c.phase(now)
	switch {
	case c.latest == nil && request.Need != "":
		return t.send(ctx, &hire.Inquiry{Need: hire.NewText(request.Need)})
	case c.awaitsCapability() && now.Before(c.rules.CapabilityDue(c.state.At)):
		return nil
	case c.awaitsCapability():
		t.done()
		t.runtime.ended(Result{
			Outcome: Abandoned, Contract: Contract{Conversation: c.id, Counterpart: c.counterpart},
			Err: errors.New("party: the worker has not answered the inquiry"),
		})
		return nil
	case c.latest == nil, phase == hire.PhaseIdle:
		if err := t.identify(ctx); err != nil {
			return err
		}
		proposal, err := t.runtime.proposal(*request, now)
		if err == nil {
			err = c.settleable(hire.Terms{
				Price: proposal.Budget, Deadline: proposal.Deadline, Arbiter: proposal.Arbiter,
			}, now)
		}
		if err != nil {
			t.done()
			t.runtime.ended(Result{
				Outcome: Abandoned, Contract: Contract{Conversation: c.id, Counterpart: c.counterpart}, Err: err,
			})
			return nil
		}
		proposal.Reply = c.reply()
		if err := t.send(ctx, proposal); err != nil {
			return err
		}
	}
	t.done()
	return nil
}

// done ends the request: the conversation contains the proposal.
func (t *tracked) done() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.request = nil
}

// review fetches a claimed delivery, and releases or disputes it.
func (r *runtime) review(
	ctx context.Context, a *agreement, turn agent.Turn,
	judge func(context.Context, Contract, Delivery) (Verdict, error),
) (agent.MilestoneMove, error) {
	if turn.Negotiation.MilestoneState(0) != protocol.MilestoneStateUnderReview {
		return agent.Wait{}, nil
	}
	delivery, err := r.delivery(ctx, a)
	verdict := Verdict(0)
	if err == nil {
		verdict, err = safely(ctx, delivery, func(ctx context.Context, delivery Delivery) (Verdict, error) {
			return judge(ctx, a.Contract, delivery)
		})
	}
	switch {
	case err == nil && verdict == Release:
		a.delivery = &delivery
		return agent.ReleaseMilestone{}, nil
	case err == nil && verdict == Dispute:
		a.delivery = &delivery
		return agent.DisputeMilestone{Evidence: delivery.Evidence}, nil
	case err == nil:
		err = fmt.Errorf("party: Review returned %d: neither Release nor Dispute", verdict)
	}
	if turn.LastCall {
		r.report(a.Conversation, fmt.Errorf("delivery disputed, because it was not reviewed in time: %w", err))
		return agent.DisputeMilestone{Evidence: delivery.Evidence}, nil
	}
	return nil, err
}

// delivery returns the claimed delivery. If the home lacks it, no error is returned: the seeker decides.
func (r *runtime) delivery(ctx context.Context, a *agreement) (delivery Delivery, err error) {
	claimed := false
	for envelope, err := range r.Chain.Client.History(ctx, a.Negotiation) {
		if err != nil {
			return delivery, err
		}
		if claim, is := envelope.Event.(*protocol.MilestoneClaimed); is {
			delivery.Evidence, claimed = claim.Evidence, true
		}
	}
	if !claimed {
		return delivery, errors.New("party: the node does not have the claim's event yet")
	}
	delivery.Content, err = r.Home.Delivery(ctx, hire.Hash(hex.EncodeToString(delivery.Evidence[:])))
	if errors.Is(err, hire.ErrNoDelivery) {
		err = nil
	}
	return delivery, err
}
