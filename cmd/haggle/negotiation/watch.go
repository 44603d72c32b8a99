package negotiation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/jsonview"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const watchHelp = `Prints the events of a negotiation, past and future, until it is closed; or those of all negotiations of
an agent, until Ctrl-C or --timeout. Times are local; "4m left" is the time to answer when the event
occurred. With --json one document per line.

A closed negotiation is printed from its first event to its last. The command needs no keypair, except as
the default of --agent.

The exit code for one negotiation is 0 only if its settlement was observed: 8 if it ended without a deal,
9 if it is closed and its end was not observed, 130 after Ctrl-C. If the buyer has created another
negotiation at the same address, the latest one counts.

With --until-my-turn the command prints future events, and ends with exit code 0 when this wallet can act: it
prints the state, as haggle negotiation show does. A negotiation that is settled, or agreed with milestones,
counts, too. The exit code is 8 if it has ended without a deal or the time to answer has ended.`

func newWatchCommand(s *session.Session) *cobra.Command {
	var agent connection.Address
	var fresh, untilTurn bool
	cmd := &cobra.Command{
		Use: "watch [NEGOTIATION]", Short: "Print events as they happen", Long: watchHelp,
		Example: "  haggle negotiation watch NEGOTIATION\n  haggle negotiation watch NEGOTIATION --until-my-turn\n" +
			"  haggle negotiation watch --agent ADDRESS --json",
		ValidArgsFunction: onchain.CompleteNegotiations(s),
	}
	cmd.Flags().Var(&agent, "agent", "all negotiations of this agent (default: the keypair's)")
	cmd.Flags().BoolVar(&fresh, "new", false, "only future events")
	cmd.Flags().BoolVar(&untilTurn, "until-my-turn", false, "end when this wallet can act, and show the state")
	cmd.MarkFlagsMutuallyExclusive("until-my-turn", "agent")
	cmd.MarkFlagsMutuallyExclusive("until-my-turn", "new")
	command.Documents(cmd, eventView{}, truncatedView{}, negotiationView{})
	cmd.RunE = s.Unlimited(func(ctx context.Context, arguments []string) error {
		var options []haggle.WatchOption
		if !fresh {
			options = append(options, haggle.FromBeginning())
		}
		switch {
		case untilTurn && len(arguments) == 0:
			return exitcode.Requires("--until-my-turn", "NEGOTIATION", "")
		case untilTurn:
			return awaitTurn(ctx, s, arguments[0])
		}
		if len(arguments) == 1 {
			return watchNegotiation(ctx, s, arguments[0], options)
		}
		return watchAgent(ctx, s, agent, options)
	})
	return cmd
}

// watcher prints events.
type watcher struct {
	s      *session.Session
	client *haggle.Client
	deals  map[solana.PublicKey]*deal
	// many prefixes each event with the negotiation.
	many bool
	// ended is the event that decided the negotiation. After closed there are no more events.
	ended  protocol.Event
	closed bool
}

func newWatcher(s *session.Session) (*watcher, error) {
	client, err := s.Client()
	return &watcher{s: s, client: client, deals: map[solana.PublicKey]*deal{}}, err
}

// follow prints a subscription's events until the subscription ends, or until done returns true or an error.
func (w *watcher) follow(
	ctx context.Context, subscription *haggle.Subscription, done func(haggle.EventEnvelope) (bool, error),
) (ended bool, err error) {
	defer subscription.Close()
	defer w.s.ShowProgress("waiting for events")()
	for envelope := range subscription.Events() {
		if err := w.print(ctx, envelope); err != nil {
			return false, err
		}
		if ended, err := done(envelope); ended || err != nil {
			return ended, err
		}
	}
	return false, cmp.Or(ctx.Err(), subscription.Err())
}

func watchNegotiation(ctx context.Context, s *session.Session, written string, options []haggle.WatchOption) error {
	address, err := connection.ParseAddress(written)
	if err != nil {
		return exitcode.Usagef("NEGOTIATION: %w", err)
	}
	w, err := newWatcher(s)
	if err != nil {
		return err
	}
	if err := w.known(ctx, address); err != nil {
		return err
	}
	subscription, err := w.client.Watch(ctx, address, options...)
	if err != nil {
		return err
	}
	ended, err := w.follow(ctx, subscription, func(envelope haggle.EventEnvelope) (bool, error) {
		if !w.closed {
			return false, nil
		}
		again, err := w.createdAgain(ctx, address, envelope.Signature)
		return !again, err
	})
	switch {
	case err != nil:
		return err
	case ended:
		return w.outcome()
	}
	return errors.New("subscription ended before the negotiation")
}

func watchAgent(ctx context.Context, s *session.Session, given connection.Address, options []haggle.WatchOption) error {
	agent, err := s.Agent(ctx, given)
	if err != nil {
		return err
	}
	w, err := newWatcher(s)
	if err != nil {
		return err
	}
	w.many = true
	subscription, err := w.client.WatchAgent(ctx, agent, options...)
	if err != nil {
		return err
	}
	_, err = w.follow(ctx, subscription, func(haggle.EventEnvelope) (bool, error) { return false, nil })
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return nil // Ctrl-C and --timeout end a watch normally
	}
	return err
}

// createdAgain reports whether a new negotiation has been created at a closed negotiation's address, whether
// or not the new one still exists.
func (w *watcher) createdAgain(ctx context.Context, address solana.PublicKey, closed solana.Signature) (bool, error) {
	_, err := w.client.Negotiation(address).Snapshot(ctx)
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, protocol.ErrAccountNotFound) {
		return false, err
	}
	// Only successful program transactions count: any transaction can mention an address.
	since, err := w.client.RPC().GetSignaturesForAddressWithOpts(ctx, address,
		&rpc.GetSignaturesForAddressOpts{Until: closed, Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return false, err
	}
	for _, later := range since {
		if later.Err != nil || later.Signature == closed {
			continue
		}
		created, err := w.creates(ctx, address, later.Signature)
		if created || err != nil {
			return created, err
		}
	}
	return false, nil
}

// creates reports whether the transaction created a negotiation at this address.
func (w *watcher) creates(ctx context.Context, address solana.PublicKey, signature solana.Signature) (bool, error) {
	version := uint64(0)
	found, err := w.client.RPC().GetTransaction(ctx, signature, &rpc.GetTransactionOpts{
		Commitment: rpc.CommitmentConfirmed, MaxSupportedTransactionVersion: &version,
	})
	if err != nil || found == nil || found.Meta == nil {
		return false, err
	}
	// Truncated logs contain no creation of this program.
	events, _ := protocol.ParseLogs(found.Meta.LogMessages)
	for _, event := range events {
		created, is := event.(*protocol.NegotiationCreated)
		if is && created.NegotiationID == address {
			return true, nil
		}
	}
	return false, nil
}

// known refuses an address with no history.
func (w *watcher) known(ctx context.Context, address solana.PublicKey) error {
	n, err := onchain.Read(ctx, w.client, address)
	if err == nil {
		w.deals[address] = dealOf(n)
		return nil
	}
	if !errors.Is(err, protocol.ErrAccountNotFound) {
		return err
	}
	signatures, historyErr := w.client.RPC().GetSignaturesForAddressWithOpts(ctx, address, &rpc.GetSignaturesForAddressOpts{Commitment: rpc.CommitmentConfirmed})
	if historyErr != nil {
		return historyErr
	}
	if len(signatures) == 0 {
		return exitcode.WithHint(err, "no negotiation was ever created at this address; check the address and --url")
	}
	return nil
}

func (w *watcher) outcome() error {
	if w.ended == nil {
		return &exitcode.Error{Kind: exitcode.Undecided, Err: errors.New("negotiation closed, but its end was not observed")}
	}
	if _, settled := w.ended.(*protocol.NegotiationSettled); settled {
		return nil
	}
	return &exitcode.Error{Kind: exitcode.NoDeal, Err: errors.New("negotiation ended without a deal")}
}

// eventView is a transaction event.
type eventView struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	Signature   solana.Signature `json:"signature"`
	Slot        uint64           `json:"slot"`
	// Event contains the event's name and fields as in the IDL.
	Event jsonview.List `json:"event"`
}

// truncatedView is a transaction whose events may be incomplete.
type truncatedView struct {
	Signature solana.Signature `json:"signature"`
	Slot      uint64           `json:"slot"`
	// Truncated is true.
	Truncated bool `json:"truncated"`
}

func (w *watcher) print(ctx context.Context, envelope haggle.EventEnvelope) error {
	if envelope.Event == nil {
		v := truncatedView{envelope.Signature, envelope.Slot, true}
		return w.s.Print(v, fmt.Sprintf("transaction %s has truncated logs: an event may be missing", v.Signature))
	}
	address, _ := envelope.Event.NegotiationAddress()
	switch event := envelope.Event.(type) {
	case *protocol.NegotiationCreated:
		w.deals[address] = createdDeal(event)
		w.ended, w.closed = nil, false
	case *protocol.NegotiationSettled, *protocol.NegotiationRejected, *protocol.NegotiationExpired:
		w.ended = event
	case *protocol.NegotiationClosed:
		w.closed = true
	}
	if w.s.JSON {
		return w.s.Print(eventView{address, envelope.Signature, envelope.Slot, onchain.EventFields(envelope.Event)})
	}
	d, err := w.deal(ctx, address, envelope.Event)
	if err != nil {
		return err
	}
	line := d.text(envelope.Event)
	if w.many {
		line = format.Short(address) + "  " + line
	}
	if at, timed := timeOf(envelope.Event); timed {
		line = format.Clock(at, time.Now().Unix()) + "  " + line
	}
	return w.s.Print(nil, line)
}

// deal returns a negotiation with amounts formatted for the mint. If the negotiation is unknown, with an
// unprinted creation and a closed account, amounts are base units.
func (w *watcher) deal(ctx context.Context, address solana.PublicKey, event protocol.Event) (*deal, error) {
	d, known := w.deals[address]
	_, offered := event.(*protocol.OfferSubmitted)
	at, _ := timeOf(event)
	if !known || offered && d.deadline < at+d.window {
		// Both sides may have extended the deadline, which emits no event.
		n, err := w.client.Negotiation(address).Snapshot(ctx)
		switch {
		case err == nil:
			d = dealOf(n)
		case !errors.Is(err, protocol.ErrAccountNotFound):
			return nil, err
		case !known:
			d = &deal{tokens: baseUnits}
		}
		w.deals[address] = d
	}
	if d.tokens == nil {
		var err error
		if d.tokens, err = w.s.TokensOf(ctx, d.mint); err != nil {
			return nil, err
		}
	}
	return d, nil
}
