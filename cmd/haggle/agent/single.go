package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// runSingle bargains in a single negotiation: at the given address, or the first negotiation found if the
// address is zero.
func (a *agentCommand) runSingle(
	ctx context.Context, runtime *agent.Runtime, address solana.PublicKey,
) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if !address.IsZero() {
		if err := a.checkNegotiation(ctx, address); err != nil {
			return err
		}
		a.single, a.end = address, end
	}
	result, err := runtime.RunOne(ctx, address)
	if result == nil {
		return err
	}
	if !a.reported.Load() && !result.Counterpart.IsZero() && !errors.As(err, new(*agent.UnverifiedError)) {
		a.ended(*result) // it was over before the start
	}
	switch {
	case err == nil && result.Counterpart.IsZero():
		return &exitcode.Error{Kind: exitcode.Undecided,
			Err: fmt.Errorf("%s is closed, and the node no longer has its end", result.Negotiation)}
	case err == nil && result.Status != protocol.NegotiationStatusSettled:
		return noDeal(fmt.Errorf("no deal: %s after %s", result.Status, offers(*result)))
	}
	return err
}

func noDeal(err error) error { return &exitcode.Error{Kind: exitcode.NoDeal, Err: err} }

// checkNegotiation returns an error if the agent cannot bargain in a negotiation, and waiting cannot change
// this. Otherwise it prints the negotiation state.
func (a *agentCommand) checkNegotiation(ctx context.Context, address solana.PublicKey) error {
	n, err := a.find(ctx, address)
	if n == nil || err != nil {
		return err
	}
	a.joined = n.Status != protocol.NegotiationStatusCreated
	if err := a.checkParties(address, n.Buyer, n.Seller); err != nil {
		return err
	}
	if n.TokenMint != a.mint.Key() {
		return exitcode.Usagef("--mint: %s pays in another mint: %s", address, n.TokenMint)
	}
	state := n.Describe()
	if n.IsOpen() {
		state += ", until " + format.When(n.TurnDeadline, n.Time)
	}
	a.log.Note("%s: %s", address, state)
	a.steps.set(address, n.Describe())
	return nil
}

// laggingNode is how long to wait for a negotiation that no node has seen yet: nodes behind an endpoint can
// lag, and an agent that gives up would lose the turn.
const laggingNode = 30 * time.Second

// find reads a negotiation. If the negotiation is closed, it checks the parties and returns nil. A missing
// negotiation may have been created a moment ago: find retries for a while.
func (a *agentCommand) find(ctx context.Context, address solana.PublicKey) (*haggle.Snapshot, error) {
	waits := false
	n, err := backoff.Retry(ctx, func() (*haggle.Snapshot, error) {
		n, err := onchain.Read(ctx, a.client, address)
		if errors.Is(err, protocol.ErrAccountNotFound) {
			n, err = nil, a.checkClosed(ctx, address)
		}
		if err != nil && !errors.Is(err, errMissing) {
			err = backoff.Permanent(err)
		}
		return n, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(time.Second)), backoff.WithMaxElapsedTime(laggingNode),
		backoff.WithNotify(func(error, time.Duration) {
			if !waits {
				a.log.Note("%s at %s: reading again for %s, because the node may lag", errMissing, address, laggingNode)
			}
			waits = true
		}))
	if errors.Is(err, errMissing) || waits && errors.Is(err, context.DeadlineExceeded) {
		return nil, &exitcode.Error{Kind: exitcode.NotFound, Err: fmt.Errorf("%w at %s", errMissing, address),
			Hint: "check the address and --url; to list the negotiations of the wallet: haggle negotiation list"}
	}
	return n, err
}

// errMissing reports that an address holds no account and has no events.
var errMissing = errors.New("no negotiation")

// checkClosed checks a negotiation with no account, using the events. If there are none, it returns
// errMissing.
func (a *agentCommand) checkClosed(ctx context.Context, address solana.PublicKey) error {
	var created *protocol.NegotiationCreated
	existed := false
	for envelope, err := range a.client.History(ctx, address) {
		if err != nil {
			return err
		}
		existed = true
		if event, is := envelope.Event.(*protocol.NegotiationCreated); is {
			created = event
		}
	}
	switch {
	case !existed:
		return errMissing
	case created != nil:
		return a.checkParties(address, created.Buyer, created.Seller)
	}
	return nil
}

// checkParties returns an error if the wallet does not have the role of --role.
func (a *agentCommand) checkParties(address, buyer, seller solana.PublicKey) error {
	n := &haggle.Snapshot{}
	n.Buyer, n.Seller = buyer, seller
	side, party := n.SideOf(a.wallet)
	if !party {
		return &exitcode.Error{Kind: exitcode.Usage,
			Err: fmt.Errorf("--keypair: %s is neither buyer nor seller of %s", a.wallet, address),
			Hint: fmt.Sprintf("the parties are %s (buyer) and %s (seller): sign with one of their keypairs",
				buyer, seller)}
	}
	if side != a.side {
		return &exitcode.Error{Kind: exitcode.Usage,
			Err: fmt.Errorf("--role %s: %s is the %s of %s", a.role, a.wallet, format.Side(side), address),
			Hint: fmt.Sprintf("use --role %s, or the keypair of %s: --keypair", format.Side(side),
				n.Party(a.side))}
	}
	return nil
}

// declined prints a negotiation that the agent declines. It ends a seller's agent with no further
// negotiation. If there is a deposit to return after the deadline (the buyer's escrow, or a joined seller's
// bond), the agent continues.
func (a *agentCommand) declined(negotiation solana.PublicKey, reason string, err error) {
	switch {
	case negotiation == a.single && a.side == protocol.OfferSideSeller && !a.joined:
		kind := exitcode.KindOf(err)
		if kind == exitcode.Other {
			kind = exitcode.NoDeal
		}
		a.end(&exitcode.Error{Kind: kind, Err: err})
		return
	case negotiation == a.single:
		a.steps.set(negotiation, "declined: waiting for the deadline to return the deposit")
	}
	a.log.Note("%s declined: %s", negotiation, reason)
}
