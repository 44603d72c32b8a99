package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	// readTimeout limits negotiation reads.
	readTimeout = 30 * time.Second
	// historyTimeout limits history reads before agent functions are called: anyone can make the history
	// longer.
	historyTimeout = 5 * time.Second
)

// errNodeBehind: the node does not have a state yet that is known from elsewhere, such as the agent's own
// action.
var errNodeBehind = errors.New("agent: node behind a known state")

// refresh reads a negotiation and executes the next action. A refresh that is due during a read follows it;
// during an action it follows that.
func (l *loop) refresh(f *tracked) {
	switch {
	case f.acting || l.stopping:
		f.changed = true
		return
	case f.reading:
		f.readAgain = true
		return
	}
	f.reading, f.changed = true, false
	if f.retry != nil {
		f.retry.Stop()
	}
	request := readRequest{
		address: f.address, created: f.created, exists: f.exists, notBefore: f.notBefore,
		offers: slices.Clone(f.offers), result: f.result, refuted: l.isRefuted(f),
	}
	// Negotiations where the agent acted go first.
	l.reads.add(f.notBefore > 0, func() {
		read := l.read(request)
		l.post(func() {
			l.reads.running--
			l.observed(f, read)
		})
	})
}

// readRequest holds the known facts about a negotiation to be read.
type readRequest struct {
	address   solana.PublicKey
	created   int64
	exists    bool
	notBefore uint64
	offers    []PastOffer
	result    *Result
	// refuted reports whether the result's verification failed: it may be a single node's lie.
	refuted bool
}

// snapshot is the result of reading a negotiation.
type snapshot struct {
	// negotiation is nil if it is closed.
	negotiation *haggle.Snapshot
	// now is the chain's clock in the negotiation's slot, and read the time of reading.
	now    int64
	read   time.Time
	offers []PastOffer
	// result is a closed negotiation's result; nil if the node no longer returns the events. replaced reports
	// whether another negotiation uses the address now.
	result   *Result
	replaced bool
	err      error
}

// read reads a negotiation, the slot's clock, and the offers before the standing offer.
func (l *loop) read(request readRequest) snapshot {
	ctx, cancel := context.WithTimeout(l.ctx, readTimeout)
	defer cancel()
	var s snapshot
	s.negotiation, s.err = l.client.Negotiation(request.address).Snapshot(ctx)
	n := s.negotiation
	switch {
	case errors.Is(s.err, protocol.ErrAccountNotFound):
		if s.result, s.err = request.result, nil; s.result != nil && !request.refuted {
			return s
		}
		if s.result, s.err = l.readResult(ctx, request); s.result == nil && s.err == nil {
			s.result = request.result
		}
		return s
	case s.err != nil:
		return s
	case isBefore(n.Slot, request.notBefore):
		s.err = errNodeBehind
		return s
	case request.isAnother(n):
		s.replaced = true
		s.result, s.err = l.readResult(ctx, request)
		return s
	}
	s.now, s.read = n.Time, time.Now()
	s.offers = l.offersOf(ctx, n, request.offers)
	return s
}

// offersOf completes the known offers, if an agent function needs them. Offers that the node lacks, or does
// not return in time, are left out; the standing offer is in the account.
func (l *loop) offersOf(ctx context.Context, n *haggle.Snapshot, known []PastOffer) []PastOffer {
	side, _ := n.SideOf(l.self)
	v := view{Snapshot: n, side: side}
	if !v.canMove() && !n.IsAgreed() {
		return known
	}
	isStanding := func(o PastOffer) bool {
		return o.Round == n.CurrentRound && o.Amount == n.CurrentOfferAmount && o.At == n.LastOfferAt
	}
	contradicts := func(o PastOffer) bool { return o.Round >= n.CurrentRound && !isStanding(o) }
	if slices.ContainsFunc(known, contradicts) {
		known = nil
	}
	if len(known) == int(n.CurrentRound) {
		return known
	}
	limited, cancel := context.WithTimeout(ctx, historyTimeout)
	defer cancel()
	before, err := l.readHistory(limited, n.Address, n.CreatedAt)
	if err != nil {
		l.config.Logger.Warn("reading past offers failed", "negotiation", n.Address, "error", err)
	}
	offers := slices.DeleteFunc(before.offers, contradicts)
	if len(offers) < len(known) {
		offers = known
	}
	if n.CurrentRound == 0 || slices.ContainsFunc(offers, isStanding) {
		return offers
	}
	return append(offers, PastOffer{
		Round: n.CurrentRound, Side: n.OfferSide, Amount: n.CurrentOfferAmount, Escrow: n.EffectiveEscrow,
		At: n.LastOfferAt,
	})
}

// isAnother reports whether a negotiation is a later deal than the known deal with the same address.
func (request readRequest) isAnother(n *haggle.Snapshot) bool {
	return request.created != 0 && request.created != n.CreatedAt
}

// readResult returns the result of a negotiation whose account does not exist: nil if the node no longer
// returns the events. If the events show no close, the node lags; likewise without any events if the
// negotiation is known to exist.
func (l *loop) readResult(ctx context.Context, request readRequest) (*Result, error) {
	before, err := l.readHistory(ctx, request.address, request.created)
	if err != nil {
		return nil, err
	}
	if (before.live || request.exists) && !before.closed {
		return nil, errNodeBehind
	}
	if before.result != nil {
		before.result.Side, before.result.Counterpart = before.side, before.counterpart
		before.result.CreatedAt, before.result.Mint = before.created, before.mint
	}
	return before.result, nil
}

// readHistory returns the event history of the negotiation with the given creation time, as far as the node
// returns it. Time zero is the latest negotiation at the address.
func (l *loop) readHistory(
	ctx context.Context, address solana.PublicKey, created int64,
) (f tracked, err error) {
	for envelope, err := range l.client.History(ctx, address) {
		if err != nil {
			return f, err
		}
		if envelope.Truncated {
			continue
		}
		if event, begins := envelope.Event.(*protocol.NegotiationCreated); begins {
			if created != 0 && event.Timestamp > created {
				break
			}
			f = tracked{created: event.Timestamp, mint: event.TokenMint}
			f.side, f.counterpart = sideIn(event, l.self)
		}
		f.note(envelope)
	}
	return f, nil
}

// sideIn returns a party's side and the counterparty.
func sideIn(
	created *protocol.NegotiationCreated, party solana.PublicKey,
) (side protocol.OfferSide, counterpart solana.PublicKey) {
	if created.Buyer == party {
		return protocol.OfferSideBuyer, created.Seller
	}
	return protocol.OfferSideSeller, created.Buyer
}

// observed processes a snapshot. A pending call of the agent's function goes on if the position is unchanged.
func (l *loop) observed(f *tracked, s snapshot) {
	again := f.readAgain
	f.reading, f.readAgain = false, false
	switch {
	case l.stopping || l.tracked[f.address] != f:
		return
	case f.acting:
		f.changed = true
		return
	case s.err != nil:
		l.readFailed(f, s.err)
		return
	case s.negotiation == nil:
		l.closed(f, s.result)
		return
	case s.replaced:
		l.closed(f, s.result)
		if l.tracked[f.address] == f {
			l.forget(f) // the settlement is being verified
		}
		l.onListed(s.negotiation)
		return
	case l.isExcluded(s.negotiation):
		l.exclude(f)
		return
	case again && (isBefore(s.negotiation.Slot, f.eventSlot) || isBefore(s.negotiation.Slot, f.notBefore)):
		l.refresh(f)
		return
	}
	n, before := s.negotiation, f.position
	l.update(f, n)
	f.offers = s.offers
	v := l.viewOf(f, n, s.now)
	v.made = s.read
	l.now = v.clock()
	l.extendGracePeriod(v)
	if f.position != before {
		f.failures = 0
		f.withdraw()
	}
	if f.call == nil {
		l.execute(f, v, v.plan())
	}
	if again {
		l.refresh(f)
	}
}

func (l *loop) readFailed(f *tracked, err error) {
	if l.ctx.Err() != nil {
		return
	}
	l.config.Logger.Log(l.ctx, levelOf(err), "reading the negotiation failed", f.attributes("error", err)...)
	l.retryLater(f)
	l.endAfterGracePeriod(f, err)
}

// closed processes a negotiation's close.
func (l *loop) closed(f *tracked, result *Result) {
	if l.mayBeExcluded(f) {
		l.forget(f)
		return
	}
	if result == nil {
		result = &Result{}
	}
	known := *result
	if f.created != 0 {
		known.Side, known.Counterpart, known.CreatedAt, known.Mint = f.side, f.counterpart, f.created, f.mint
	}
	known.Negotiation = f.address
	f.result = &known
	if f.open {
		l.leaveOpen(f, known.Status)
	}
	l.drop(f)
}

// drop stops tracking a negotiation where nothing is left to do, and reports the result. A seller's payment
// is verified before.
func (l *loop) drop(f *tracked) {
	settlement, paid := l.settlementOf(f)
	if paid && (f.live || l.single.is(f.address)) {
		l.verifyPayment(f, settlement)
		return
	}
	l.forget(f)
	l.ended(f, nil)
}

// ended reports a negotiation's result. unverified is nil unless it is a settlement that is not verified.
func (l *loop) ended(f *tracked, unverified error) {
	defer l.finishSingle(f, unverified)
	if f.result == nil || !f.live || unverified != nil {
		return
	}
	result := *f.result
	l.config.Logger.Info("negotiation ended",
		f.attributes("status", result.Status, "price", l.tokens(result.Mint, result.Price), "rounds", result.Rounds)...)
	if l.config.Ended != nil {
		l.notify(func() { l.config.Ended(result) })
	}
}

func (l *loop) forget(f *tracked) {
	if f.retry != nil {
		f.retry.Stop()
	}
	f.withdraw()
	delete(l.tracked, f.address)
	if f.open && f.participation == engaged {
		l.offerPlaces()
	}
}
