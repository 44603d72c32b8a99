package party

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// settler settles an agent's agreements.
type settler struct {
	runtime *runtime
	agents  *agent.Runtime
	// milestone returns the agent's move about the milestone.
	milestone func(ctx context.Context, a *agreement, turn agent.Turn) (agent.MilestoneMove, error)

	mu sync.Mutex
	// agreements maps negotiation addresses to agreements that have not ended.
	agreements map[solana.PublicKey]*agreement
}

// agreement is an agreement that is being settled.
type agreement struct {
	Contract
	terms    escrow.Terms
	delivery *Delivery
	// acceptedAt is the second accept's timestamp, set by the sender.
	acceptedAt time.Time
	// contracted is closed once the home has signed the contract.
	contracted   chan struct{}
	contractOnce sync.Once
}

// offer returns the accepted offer.
func (a *agreement) offer() Offer {
	return Offer{Price: a.Price, Deadline: a.Deadline, Arbiter: a.Terms.Arbiter}
}

// setContracted records that the home has signed the contract.
func (a *agreement) setContracted() { a.contractOnce.Do(func() { close(a.contracted) }) }

// Settlement time limits.
const (
	// joinLimit is how long a worker waits for the agreement's escrow.
	joinLimit = time.Hour
	// contractLimit is how long a worker waits for the contract before starting work anyway: the escrow on
	// chain is proof enough, but waiting orders contract and delivery in the conversation log.
	contractLimit = 15 * time.Second
	// createLimit is how long a seeker repeats a failing creation.
	createLimit = 5 * time.Minute
	// mostOpen limits a worker's open negotiations. They are all agreements, so the default of package agent,
	// which limits invitations of strangers, is too low.
	mostOpen = 10_000
)

func newSettler(
	r *runtime, milestone func(context.Context, *agreement, agent.Turn) (agent.MilestoneMove, error),
) (*settler, error) {
	s := &settler{runtime: r, milestone: milestone, agreements: map[solana.PublicKey]*agreement{}}
	config := agent.Config{
		Decide: s.decide, Concerns: isOfHire, Admit: s.admit, OnMilestone: s.move,
		Mints: map[solana.PublicKey]agent.Limits{}, MaxFeeBps: new(min(r.Limits.feeBps(), escrow.MaxFeeBps)),
		MaxDecayBps: new(uint16(0)), MaxRounds: escrow.MaxRounds, MaxReviewHours: escrow.ReviewHours,
		MaxOpen: mostOpen, MaxOpenPerCounterpart: mostOpen, DecisionTime: escrow.MaxDelivery,
		Acted: r.Acted, Ended: s.ended, Logger: r.Logger,
		Failed: func(negotiation solana.PublicKey, err error) { r.report(s.conversationAt(negotiation), err) },
	}
	for _, asset := range r.Assets {
		prices, listed := r.Limits.Prices[asset.Symbol]
		if !listed {
			continue
		}
		mint, err := solana.PublicKeyFromBase58(string(asset.Mint))
		if err != nil {
			return nil, fmt.Errorf("party: Assets: mint of %s: %w", asset.Symbol, err)
		}
		limits := agent.Limits{
			Decimals: asset.Decimals, FinalizedAbove: prices.FinalizedAbove, SingleSourceUpTo: prices.SingleSourceUpTo,
		}
		if r.role == hire.RoleWorker {
			limits.MinPrice = prices.Least
		} else {
			limits.MaxTotal = prices.Most // an agreement has no decay
		}
		config.Mints[mint] = limits
	}
	for _, arbiter := range r.Limits.Arbiters {
		config.Arbiters = append(config.Arbiters, solana.MustPublicKeyFromBase58(string(arbiter))) // checked with the limits
	}
	var err error
	s.agents, err = agent.New(r.Chain.Client, r.Chain.Wallet, config)
	return s, err
}

func (s *settler) run(ctx context.Context) error { return s.agents.Run(ctx) }

// isOfHire reports whether n looks like a HIRE agreement.
func isOfHire(n *haggle.Snapshot) bool {
	return n.MaxRounds == escrow.MaxRounds && n.DecayRateBps == 0 && n.MilestoneCount() == 1 && !n.ZopaEnabled
}

// agreed begins to settle an agreement, or reports it if the agent has no chain.
func (r *runtime) agreed(ctx context.Context, contract Contract, d deal) {
	if r.settler == nil {
		r.ended(Result{Outcome: Agreed, Contract: contract})
		return
	}
	r.tasks.Go(func() { r.settler.begin(ctx, contract, d) })
}

// begin settles an agreement until the agents' runtime continues, or until settlement has ended.
func (s *settler) begin(ctx context.Context, contract Contract, d deal) {
	var a *agreement
	for failures := 0; ; failures++ {
		var err error
		if a, err = s.agreementOf(ctx, contract, d); err == nil {
			break
		}
		if isFinal(err) {
			s.runtime.ended(Result{Outcome: Unsettled, Contract: contract, Err: err})
			return
		}
		// The counterpart's card could not be read.
		s.runtime.report(contract.Conversation, err)
		if !pause(ctx, min(firstPause<<min(failures, 10), lastPause)) {
			return
		}
	}
	kept, isNew := s.keep(a)
	switch {
	case !isNew:
	case s.runtime.role == hire.RoleSeeker:
		s.create(ctx, kept)
	default:
		s.await(ctx, kept, d.state.At)
	}
}

// isFinal reports whether the agreement can never be settled.
func isFinal(err error) bool {
	return errors.As(err, new(*hire.Refusal)) || errors.As(err, new(*escrow.TermsError)) ||
		errors.Is(err, escrow.ErrNotAgreed)
}

// agreementOf returns a deal's agreement.
func (s *settler) agreementOf(ctx context.Context, contract Contract, d deal) (*agreement, error) {
	keys, err := s.runtime.parties(ctx, contract.Counterpart)
	if err != nil {
		return nil, err
	}
	terms, err := escrow.Of(d.state, keys.seeker, keys.worker, s.runtime.Assets)
	if err == nil {
		contract.Negotiation, err = terms.Address()
	}
	a := &agreement{Contract: contract, terms: terms, acceptedAt: d.state.At, contracted: make(chan struct{})}
	if d.hasContract {
		a.setContracted()
	}
	return a, err
}

// keep returns the known agreement of the negotiation, or adds this one.
func (s *settler) keep(a *agreement) (kept *agreement, isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.agreements[a.Negotiation]; known != nil {
		return known, false
	}
	s.agreements[a.Negotiation] = a
	return a, true
}

// contract records a contract of the home.
func (s *settler) contract(content *hire.Contract) {
	address, err := solana.PublicKeyFromBase58(string(content.Settlement.Negotiation))
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.agreements[address]; a != nil {
		a.setContracted()
	}
}

// create deposits the price, as often as it fails without effect. The agents' runtime then continues.
func (s *settler) create(ctx context.Context, a *agreement) {
	client, since := s.runtime.Chain.Client, time.Now()
	for failures := 0; ctx.Err() == nil; failures++ {
		err := s.createOnce(ctx, client, a)
		if err == nil || ctx.Err() != nil {
			return
		}
		s.runtime.report(a.Conversation, fmt.Errorf("escrow: %w", err))
		// With an unknown outcome the price may be in escrow.
		if transaction.OutcomeOf(err) != transaction.Unknown && time.Since(since) > createLimit {
			s.end(Result{Outcome: Unsettled, Contract: a.Contract, Err: err})
			return
		}
		pause(ctx, min(firstPause<<min(failures, 10), lastPause))
	}
}

func (s *settler) createOnce(ctx context.Context, client *haggle.Client, a *agreement) error {
	if err := s.refused(a, time.Now()); err != nil {
		return s.resume(ctx, client, a, err)
	}
	now, err := client.Now(ctx)
	if err != nil {
		return err
	}
	_, err = client.CreateNegotiation(a.terms.Request(time.Unix(now, 0))).Do(ctx, s.runtime.Chain.Wallet)
	if errors.As(err, new(*haggle.AlreadyDone)) || errors.As(err, new(*haggle.SessionUsedError)) {
		return s.resume(ctx, client, a, errors.New("party: the address of the escrow is used, by no negotiation"))
	}
	return err
}

// ErrStale: the agreement arrived too late to deposit the price.
var ErrStale = errors.New("party: the agreement is older than the seeker's patience")

// refused returns an error if the seeker must not deposit. A settlement in progress continues.
func (s *settler) refused(a *agreement, now time.Time) error {
	// Homes set arrival times, so the worker's home can backdate a late acceptance.
	if age := now.Sub(a.acceptedAt); age > s.runtime.depositLimit() {
		return fmt.Errorf("%w: accepted %s ago", ErrStale, age.Round(time.Second))
	}
	// The limits may have changed since the agreement.
	return s.runtime.Limits.allowTerms(s.runtime.role, a.Asset, a.offer())
}

// resume continues with a negotiation that exists or existed. If none did, the agreement ends with an error.
func (s *settler) resume(ctx context.Context, client *haggle.Client, a *agreement, absent error) error {
	snapshot, err := client.Negotiation(a.Negotiation).Snapshot(ctx)
	switch {
	case err == nil:
		if err := a.terms.Check(snapshot); err != nil && !snapshot.IsOver() {
			s.end(Result{Outcome: Unsettled, Contract: a.Contract, Err: err})
		}
		return nil
	case !errors.Is(err, protocol.ErrAccountNotFound):
		return err
	}
	result, existed := Result{Outcome: Unsettled, Contract: a.Contract}, false
	for envelope, err := range client.History(ctx, a.Negotiation) {
		if err != nil {
			return err
		}
		existed = true
		switch event := envelope.Event.(type) {
		case *protocol.NegotiationSettled:
			result.Outcome, result.Status, result.Paid = Settled, protocol.NegotiationStatusSettled, event.SettledAmount
		case *protocol.NegotiationRejected:
			result.Status = protocol.NegotiationStatusRejected
		case *protocol.NegotiationExpired:
			result.Status = protocol.NegotiationStatusExpired
		}
	}
	if !existed {
		result.Err = absent
	}
	s.end(result)
	return nil
}

// await ends the agreement if no escrow appears.
func (s *settler) await(ctx context.Context, a *agreement, since time.Time) {
	if !pause(ctx, time.Until(since.Add(joinLimit))) {
		return
	}
	_, err := s.runtime.Chain.Client.Negotiation(a.Negotiation).Snapshot(ctx)
	if errors.Is(err, protocol.ErrAccountNotFound) {
		s.end(Result{Outcome: Unsettled, Contract: a.Contract, Err: errors.New("party: the seeker has made no deposit")})
	}
}

// end reports an ended agreement once.
func (s *settler) end(result Result) {
	s.mu.Lock()
	a := s.agreements[result.Negotiation]
	delete(s.agreements, result.Negotiation)
	s.mu.Unlock()
	if a != nil {
		result.Delivery = a.delivery
		s.runtime.ended(result)
	}
}

// ended is called by the agents' runtime.
func (s *settler) ended(ended agent.Result) {
	s.runtime.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), findLimit)
		defer cancel()
		a, err := s.find(ctx, ended.Negotiation)
		if err != nil {
			s.runtime.report(ended.Negotiation.String(), err)
			return
		}
		result := Result{Outcome: Unsettled, Contract: a.Contract, Status: ended.Status, Paid: ended.Price}
		if ended.Status == protocol.NegotiationStatusSettled {
			result.Outcome = Settled
		}
		s.end(result)
	})
}
