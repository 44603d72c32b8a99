package negotiation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// awaitTurn waits until the wallet can act in a negotiation. It prints the events in the meantime, then the
// state.
func awaitTurn(ctx context.Context, s *session.Session, written string) error {
	address, err := connection.ParseAddress(written)
	if err != nil {
		return exitcode.Usagef("NEGOTIATION: %w", err)
	}
	wallet, err := s.Agent(ctx, connection.Address{})
	if err != nil {
		return err
	}
	w, err := newWatcher(s)
	if err != nil {
		return err
	}
	subscription, err := w.client.Watch(ctx, address)
	if err != nil {
		return err
	}
	defer subscription.Close()
	for {
		n, err := onchain.Read(ctx, w.client, address)
		if err != nil {
			return err
		}
		w.deals[address] = dealOf(n)
		if done, err := w.arrived(ctx, n, wallet); done || err != nil {
			return err
		}
		if err := w.next(ctx, subscription, time.Duration(n.TurnDeadline-n.Time+1)*time.Second); err != nil {
			return err
		}
	}
}

// nextIsToWait names the command to run next while the counterparty can act.
func nextIsToWait(n *haggle.Snapshot) string {
	return "next: haggle negotiation watch " + n.Address.String() + " --until-my-turn"
}

// arrived reports whether the wait is over, and prints the state then.
func (w *watcher) arrived(ctx context.Context, n *haggle.Snapshot, wallet solana.PublicKey) (bool, error) {
	side := protocol.OfferSideBuyer
	switch wallet {
	case n.Buyer:
	case n.Seller:
		side = protocol.OfferSideSeller
	default:
		return true, exitcode.Usagef("the wallet %s is neither the buyer nor the seller", wallet)
	}
	mine := n.Turn() == side || n.CanAccept(side)
	if n.Status == protocol.NegotiationStatusCreated {
		mine = side == protocol.OfferSideSeller
	}
	switch {
	case n.Status == protocol.NegotiationStatusRejected, n.Status == protocol.NegotiationStatusExpired:
		return true, &exitcode.Error{Kind: exitcode.NoDeal, Err: errors.New("negotiation ended without a deal")}
	case n.IsOpen() && n.IsOverdue(n.Time):
		return true, exitcode.WithHint(
			&exitcode.Error{Kind: exitcode.NoDeal, Err: fmt.Errorf("the time to answer ended at %s", format.Clock(n.TurnDeadline, n.Time))},
			"it can only expire: haggle negotiation expire "+n.Address.String())
	case n.IsOpen() && !mine:
		return false, nil
	}
	return true, show(ctx, w.s, n)
}

// next waits for an event and prints it, or returns when the timer fires.
func (w *watcher) next(ctx context.Context, subscription *haggle.Subscription, limit time.Duration) error {
	defer w.s.ShowProgress("waiting for the other side")()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(limit):
		return nil
	case envelope, open := <-subscription.Events():
		if !open {
			return errors.Join(subscription.Err(), errors.New("subscription ended"))
		}
		return w.print(ctx, envelope)
	}
}
