package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Purchase is a buyer that needs one service and bargains with several sellers at once. [Purchase.Run]
// invites each seller to a separate negotiation, on the same terms, and ends all negotiations: with one deal,
// or with none.
//
// # Outside option
//
// In each negotiation the buyer's highest price is the reservation price, or the best price that another
// seller offers at present if that is lower: see [onchain.OutsideOption]. An offer counts as long as it can
// still be accepted in time. The strategy bargains with that limit. The first offer that it accepts, or that
// a seller accepts, is the deal. The buyer then rejects the remaining negotiations, which refunds their
// escrows.
//
// # One purchase
//
// The program cannot withdraw an offer: as long as a buyer's offer stands, the seller can accept it, and only
// the negotiation's end prevents that. Two standing offers could be two purchases. So the buyer makes a
// single offer or acceptance at any time that can lead to a deal. All other negotiations are at the buyer's
// turn, or the seller did not join yet: no other party can conclude them.
//
// Before the buyer signs an offer or an acceptance, [PurchaseStore] durably authorizes the negotiation, by a
// single compare-and-set. Another negotiation is authorized only when the finalized chain shows that the
// authorized move can no longer lead to a deal: the seller made a counter-offer since, or the negotiation was
// rejected or expired. That is about 13 seconds after the seller's answer. A fork, a process that is killed
// between writes, a second process with the same key, and a seller that accepts while the negotiation is
// being rejected all lead to one deal or none.
//
// The buyer moves in the negotiation whose turn ends first. An unresponsive seller delays the others, so the
// negotiation is rejected once the seller's share of the time left to them is used up. The first offer waits
// for all sellers to join, up to a quarter of the response window.
//
// # Restart
//
// [PurchaseConfig].Key names the purchase. The negotiation addresses follow from the key and the sellers, so
// a restart with the same key continues, and creates nothing twice. Once the purchase ended, a run with the
// same key returns the same result.
//
// # Limits
//
// [Limits].MaxTotal limits the cost of the purchase: the price, which includes the fee, and the decay of all
// negotiations. Each offer to each seller costs decay, which can be more than a further seller saves: prefer
// terms without decay (docs/RESEARCH.md). The escrows of all sellers are deposited at once, and a spending
// policy counts every escrow. The rent of the accounts comes back. Bonds, sealed prices and milestones are
// not supported.
type Purchase struct {
	client *haggle.Client
	signer haggle.Signer
	config PurchaseConfig
	terms  [32]byte
	// template is a negotiation with no offers.
	template *protocol.Negotiation
	running  sync.Mutex
}

// PurchaseConfig is the configuration for [Purchase].
type PurchaseConfig struct {
	// Key is the idempotency key of the purchase: an order number, or another value that survives a crash of the
	// caller. It is required.
	Key string
	// Sellers lists the invited sellers, 1 to 8, all different.
	Sellers []solana.PublicKey
	// Terms holds the terms of each negotiation. Buyer, Seller and Key follow from the remaining fields and
	// must not be set.
	Terms haggle.CreateRequest
	// Player bargains. Player.Reservation is the highest price.
	Player Player
	// Agent holds the limits and the functions that are called. Agent.Mints contains the mint of Terms only,
	// with the MaxTotal of the purchase. The limits on rounds and decay are at least those of Terms. Decide,
	// Concerns, Seal, OnMilestone and Fallback must not be set.
	Agent Config
	// Store keeps the record of the purchase. It is required. Use a state database of package store, and as
	// [haggle.Config].Journal, too.
	Store PurchaseStore
}

// PurchaseResult is a purchase's end.
type PurchaseResult struct {
	// Deal is the negotiation with the deal; nil if there is none.
	Deal *Result
	// Negotiations holds the ends of all negotiations, in seller order. Negotiations that could not be
	// created are left out.
	Negotiations []Result
	// Total is the cost of the purchase in the mint's base units: the price, and the decay of all
	// negotiations.
	Total uint64
}

var (
	// ErrPurchaseTerms: the key names a purchase from other sellers or on other terms.
	ErrPurchaseTerms = errors.New("agent: key used for a purchase from other sellers or on other terms")
	// ErrRecordLost: the purchase made offers missing from the record. The purchase began with a different
	// store, so nothing may be authorized.
	ErrRecordLost = errors.New("agent: offers of the purchase are not in its record: use the store that it began with")
	// ErrEndUnknown: a negotiation of the purchase is closed, and no node returns the events any longer. It
	// may be the deal.
	ErrEndUnknown = errors.New("agent: negotiation closed with an unknown result")
)

// NewPurchase returns a purchase by the signer's account, and sends nothing. It returns an error if the
// configuration leaves out a required field, or if the terms are not possible.
func NewPurchase(client *haggle.Client, signer haggle.Signer, config PurchaseConfig) (*Purchase, error) {
	if client == nil || signer == nil {
		return nil, errors.New("agent: client or signer not set")
	}
	if err := config.check(signer.PublicKey()); err != nil {
		return nil, err
	}
	terms := &config.Terms
	terms.Buyer, terms.Key = signer.PublicKey(), config.Key
	terms.MaxRounds = cmp.Or(terms.MaxRounds, protocol.DefaultMaxRounds)
	if terms.DecayRateBps == nil {
		terms.DecayRateBps = new(protocol.DefaultDecayRateBps)
	}
	config.Sellers = slices.Clone(config.Sellers)
	p := &Purchase{client: client, signer: signer, template: (&onchain.Rules{
		Escrow: terms.EscrowAmount, DecayRateBps: *terms.DecayRateBps, MaxRounds: terms.MaxRounds,
	}).Negotiation()}
	var err error
	if p.terms, err = config.hash(); err != nil {
		return nil, err
	}
	config.Agent.Decide = func(context.Context, Turn) (Decision, error) { return Reject{}, nil } // replaced by Run
	if config.Agent, err = config.Agent.withDefaults(); err != nil {
		return nil, err
	}
	config.Agent.MaxRounds = max(config.Agent.MaxRounds, terms.MaxRounds)
	config.Agent.MaxDecayBps = new(max(*config.Agent.MaxDecayBps, *terms.DecayRateBps))
	// A call waits until it is the negotiation's turn among the others.
	config.Agent.DecisionTime = 2 * longestWindow
	p.config = config
	return p, nil
}

func (c *PurchaseConfig) check(buyer solana.PublicKey) error {
	switch {
	case c.Key == "":
		return errors.New("agent: purchase: Key not set")
	case c.Store == nil:
		return errors.New("agent: purchase: Store not set")
	case len(c.Sellers) == 0:
		return errors.New("agent: purchase: Sellers not set")
	case len(c.Sellers) > onchain.MaxSellers:
		return fmt.Errorf("agent: purchase: %d sellers, at most %d", len(c.Sellers), onchain.MaxSellers)
	case c.Player.Strategy == nil || c.Player.Reservation == 0:
		return errors.New("agent: purchase: Player: Strategy or Reservation not set")
	}
	for i, seller := range c.Sellers {
		switch {
		case seller.IsZero():
			return fmt.Errorf("agent: purchase: seller %d not set", i+1)
		case seller == buyer:
			return fmt.Errorf("agent: purchase: seller %s is the buyer", seller)
		case slices.Contains(c.Sellers[:i], seller):
			return fmt.Errorf("agent: purchase: seller %s occurs twice", seller)
		}
	}
	terms := &c.Terms
	switch {
	case !terms.Buyer.IsZero() || !terms.Seller.IsZero() || terms.Key != "":
		return errors.New("agent: purchase: Terms: Buyer, Seller and Key must not be set")
	case terms.Bond != 0 || terms.Zopa || terms.Milestones != nil:
		return errors.New("agent: purchase: Terms: bonds, sealed prices and milestones are not supported")
	case c.Agent.Decide != nil || c.Agent.Concerns != nil || c.Agent.Seal != nil || c.Agent.OnMilestone != nil ||
		c.Agent.Fallback != nil:
		return errors.New("agent: purchase: Agent: Decide, Concerns, Seal, OnMilestone and Fallback must not be set")
	}
	limits, listed := c.Agent.Mints[terms.Mint]
	switch {
	case !listed || len(c.Agent.Mints) != 1:
		return errors.New("agent: purchase: Agent: Mints must contain the mint of Terms only")
	case limits.MaxTotal == 0:
		return errors.New("agent: purchase: Agent: Mints: MaxTotal not set")
	case limits.MinPrice != 0:
		return errors.New("agent: purchase: Agent: Mints: MinPrice must not be set")
	case limits.Decimals != terms.Decimals:
		return fmt.Errorf("agent: purchase: Terms have %d decimals, Mints %d", terms.Decimals, limits.Decimals)
	}
	return nil
}

// hash hashes the sellers, in any order, and the terms.
func (c *PurchaseConfig) hash() ([32]byte, error) {
	sellers := slices.Clone(c.Sellers)
	slices.SortFunc(sellers, func(a, b solana.PublicKey) int { return slices.Compare(a[:], b[:]) })
	content, err := json.Marshal(struct {
		Sellers []solana.PublicKey
		Terms   haggle.CreateRequest
	}{sellers, c.Terms})
	if err != nil {
		return [32]byte{}, fmt.Errorf("agent: purchase: %w", err)
	}
	return sha256.Sum256(content), nil
}

// Run creates the negotiations, bargains, and returns when all negotiations are closed. It returns the
// context's error, [haggle.ErrClientClosed], [ErrPurchaseTerms], [ErrRecordLost], an error of the store, and
// the errors of the creations if all failed. The open negotiations then continue with the next run of the
// same key. It returns a result with an error if the purchase is over and a negotiation could not be closed.
//
// If a creation fails, that seller is excluded; [Config].Failed is called with the error.
func (p *Purchase) Run(ctx context.Context) (*PurchaseResult, error) {
	if !p.running.TryLock() {
		return nil, ErrRunning
	}
	defer p.running.Unlock()
	record, err := p.config.Store.BeginPurchase(ctx, p.signer.PublicKey(), p.config.Key, p.terms)
	if err != nil {
		return nil, fmt.Errorf("agent: purchase: %w", err)
	}
	if record.Terms != p.terms {
		return nil, ErrPurchaseTerms
	}
	r := &purchaseRun{Purchase: p, changed: make(chan struct{}, 1)}
	if err := r.create(ctx, record); err != nil {
		return nil, err
	}
	return r.run(ctx)
}

// create creates the missing negotiations. Once a move is authorized it creates none.
func (r *purchaseRun) create(ctx context.Context, record PurchaseRecord) error {
	var failures []error
	for _, seller := range r.config.Sellers {
		address, _, err := protocol.FindNegotiationAddress(
			r.signer.PublicKey(), seller, haggle.SessionIDFor(r.config.Key))
		if err != nil {
			return err
		}
		if record.Negotiation.IsZero() {
			err = r.createOne(ctx, seller)
		} else {
			err = r.existed(ctx, address)
		}
		var done *haggle.AlreadyDone
		var used *haggle.SessionUsedError
		if errors.As(err, &done) || errors.As(err, &used) {
			request := r.config.Terms
			request.Seller = seller
			err = r.client.CheckRepetition(ctx, request, address)
		}
		switch {
		case err == nil:
			r.all = append(r.all, &purchaseNegotiation{address: address, seller: seller})
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case isTransient(err):
			return fmt.Errorf("agent: purchase: create the negotiation with %s: %w", seller, err)
		default:
			r.config.Agent.Logger.Error("creation failed: bargaining without this seller", "seller", seller, "error", err)
			failures = append(failures, fmt.Errorf("agent: purchase: seller %s: %w", seller, err))
			if r.config.Agent.Failed != nil {
				r.config.Agent.Failed(address, err)
			}
		}
	}
	if len(r.all) == 0 {
		return errors.Join(failures...)
	}
	return nil
}

// createOne creates the negotiation with a seller. If the outcome is unknown or the error transient, it
// repeats the creation for up to two minutes.
func (r *purchaseRun) createOne(ctx context.Context, seller solana.PublicKey) error {
	request, until := r.config.Terms, time.Now().Add(gracePeriod)
	request.Seller = seller
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		_, err := r.client.CreateNegotiation(request).Do(ctx, r.signer)
		if err == nil || !isTransient(err) || time.Now().After(until) || wait.For(ctx, jitter(pause)) != nil {
			return err
		}
	}
}

var errNeverCreated = errors.New("the negotiation was not created before the first move")

// existed returns an error if a negotiation never existed.
func (r *purchaseRun) existed(ctx context.Context, address solana.PublicKey) error {
	for _, err := range r.client.History(ctx, address) {
		return err
	}
	return errNeverCreated
}

// agent returns the configuration of a negotiation's runtime. The functions are called sequentially.
func (r *purchaseRun) agent(n *purchaseNegotiation) Config {
	config := r.config.Agent
	config.Mints = maps.Clone(config.Mints)
	config.Decide = func(ctx context.Context, turn Turn) (Decision, error) { return r.await(ctx, n, turn) }
	if acted := config.Acted; acted != nil {
		config.Acted = func(act Act) { r.serially(func() { acted(act) }) }
	}
	if ended := config.Ended; ended != nil {
		config.Ended = func(result Result) { r.serially(func() { ended(result) }) }
	}
	if failed := config.Failed; failed != nil {
		config.Failed = func(negotiation solana.PublicKey, err error) { r.serially(func() { failed(negotiation, err) }) }
	}
	return config
}

func (r *purchaseRun) serially(call func()) {
	r.calling.Lock()
	defer r.calling.Unlock()
	call()
}
