package negotiation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/jsonview"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/mint"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const watchHelp = `Prints the events of a negotiation, past and future, until it is closed; or those of all negotiations of
an agent, until Ctrl-C or --timeout. With --json one document per line.

A closed negotiation is printed from its first event to its last. The command needs no keypair, except as
the default of --agent.

The exit code for one negotiation is 0 only if its settlement was observed: 8 if it ended without a deal,
9 if it is closed and its end was not observed, 130 after Ctrl-C. If the buyer has created another
negotiation at the same address, the latest one counts.`

func newWatchCommand(s *session.Session) *cobra.Command {
	var agent connection.Address
	var fresh bool
	cmd := &cobra.Command{
		Use: "watch [NEGOTIATION]", Short: "Print events as they happen", Long: watchHelp,
		Example: "  haggle negotiation watch NEGOTIATION\n  haggle negotiation watch --agent ADDRESS --json",
		Args:    command.Between(0, 1), ValidArgsFunction: onchain.CompleteNegotiations(s),
	}
	cmd.Flags().Var(&agent, "agent", "all negotiations of this agent (default: the keypair's)")
	cmd.Flags().BoolVar(&fresh, "new", false, "only future events")
	cmd.RunE = s.Unlimited(func(ctx context.Context, arguments []string) error {
		var options []haggle.WatchOption
		if !fresh {
			options = append(options, haggle.FromBeginning())
		}
		if len(arguments) == 1 {
			return watchNegotiation(ctx, s, arguments[0], options)
		}
		return watchAgent(ctx, s, agent, options)
	})
	return cmd
}

// watcher prints events. It reads the mint of a negotiation, which determines how amounts are written, from
// the first event or from the account.
type watcher struct {
	s      *session.Session
	client *haggle.Client
	mints  map[solana.PublicKey]solana.PublicKey
	digits map[solana.PublicKey]uint8
	// many prefixes each event with its negotiation.
	many bool
	// ended is the event that decided the negotiation. After closed there are no more events.
	ended  protocol.Event
	closed bool
}

func newWatcher(s *session.Session) (*watcher, error) {
	client, err := s.Client()
	return &watcher{s: s, client: client, mints: map[solana.PublicKey]solana.PublicKey{}, digits: map[solana.PublicKey]uint8{}}, err
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
	defer subscription.Close()
	defer s.ShowProgress("waiting for events")()
	for observation := range subscription.Events() {
		if err := w.print(ctx, observation); err != nil {
			return err
		}
		if !w.closed {
			continue
		}
		again, err := w.createdAgain(ctx, address, observation.Signature)
		if err != nil {
			return err
		}
		if !again {
			return w.outcome()
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return cmp.Or(subscription.Err(), errors.New("subscription ended before the negotiation"))
}

// createdAgain reports whether another negotiation has been created at the address of a closed one, whether
// or not it still exists.
func (w *watcher) createdAgain(ctx context.Context, address solana.PublicKey, closed solana.Signature) (bool, error) {
	_, err := w.client.Negotiation(address).Snapshot(ctx)
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, protocol.ErrAccountNotFound) {
		return false, err
	}
	// Only successful transactions of the program count: any transaction can mention an address.
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

// creates reports whether a transaction has created a negotiation at the address.
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

// known refuses an address without a history.
func (w *watcher) known(ctx context.Context, address solana.PublicKey) error {
	n, err := onchain.Read(ctx, w.client, address)
	if err == nil {
		w.mints[address] = n.TokenMint
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
	defer subscription.Close()
	defer s.ShowProgress("waiting for events")()
	for observation := range subscription.Events() {
		if err := w.print(ctx, observation); err != nil {
			return err
		}
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil // --timeout ends the watch
	}
	return endOfWatch(ctx, subscription.Err())
}

// endOfWatch returns nil after Ctrl-C, which is the usual end of a watch.
func endOfWatch(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
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

type observationView struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	Signature   solana.Signature `json:"signature"`
	Slot        uint64           `json:"slot"`
	Event       jsonview.List    `json:"event"`
}

func (w *watcher) print(ctx context.Context, observation haggle.EventEnvelope) error {
	if observation.Event == nil {
		return w.printTruncated(observation)
	}
	address, _ := observation.Event.NegotiationAddress()
	switch event := observation.Event.(type) {
	case *protocol.NegotiationCreated:
		w.mints[address], w.ended, w.closed = event.TokenMint, nil, false
	case *protocol.NegotiationSettled:
		w.mints[address], w.ended = event.TokenMint, event
	case *protocol.NegotiationRejected, *protocol.NegotiationExpired:
		w.ended = event
	case *protocol.NegotiationClosed:
		w.closed = true
	}
	if w.s.JSON {
		return json.NewEncoder(w.s.Stdout).Encode(observationView{address, observation.Signature, observation.Slot, onchain.EventFields(observation.Event)})
	}
	tokens, err := w.tokens(ctx, address)
	if err != nil {
		return err
	}
	prefix := ""
	if w.many {
		prefix = address.String() + "  "
	}
	_, err = fmt.Fprintf(w.s.Stdout, "%sslot %d  %s\n", prefix, observation.Slot, eventText(observation.Event, tokens))
	return err
}

// printTruncated reports a transaction whose events may be incomplete.
func (w *watcher) printTruncated(observation haggle.EventEnvelope) error {
	v := struct {
		Signature solana.Signature `json:"signature"`
		Slot      uint64           `json:"slot"`
		Truncated bool             `json:"truncated"`
	}{observation.Signature, observation.Slot, true}
	return w.s.Print(v, fmt.Sprintf("slot %d  transaction %s has truncated logs: an event may be missing", v.Slot, v.Signature))
}

// tokens returns a function that writes amounts of a negotiation. If its mint is unknown because its first
// event was not printed and its account is closed, amounts are written in base units.
func (w *watcher) tokens(ctx context.Context, address solana.PublicKey) (func(uint64) amount.Tokens, error) {
	if _, known := w.mints[address]; !known {
		n, err := w.client.Negotiation(address).Snapshot(ctx)
		if errors.Is(err, protocol.ErrAccountNotFound) {
			return func(units uint64) amount.Tokens { return amount.Tokens{Units: units} }, nil
		}
		if err != nil {
			return nil, err
		}
		w.mints[address] = n.TokenMint
	}
	address = w.mints[address]
	if _, known := w.digits[address]; !known {
		decimals, err := mint.Decimals(ctx, w.client.RPC(), address)
		if err != nil {
			return nil, err
		}
		w.digits[address] = decimals
	}
	return func(units uint64) amount.Tokens { return amount.Tokens{Units: units, Decimals: w.digits[address]} }, nil
}
