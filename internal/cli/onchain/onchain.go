// Package onchain reads negotiations and balances, executes actions, and prints receipts.
package onchain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Snapshot reads the negotiation named by a command.
func Snapshot(ctx context.Context, client *haggle.Client, name string) (*haggle.Snapshot, error) {
	address, err := connection.ParseAddress(name)
	if err != nil {
		return nil, exitcode.Usagef("NEGOTIATION: %w", err)
	}
	n, err := Read(ctx, client, address)
	return n, session.NotFound(err, fmt.Sprintf("it does not exist on this cluster or is closed; its history: haggle negotiation watch %s", address))
}

// Read reads the negotiation at the given address. It refuses other accounts with a hint.
func Read(
	ctx context.Context, client *haggle.Client, address solana.PublicKey,
) (*haggle.Snapshot, error) {
	n, err := client.Negotiation(address).Snapshot(ctx)
	if errors.Is(err, protocol.ErrWrongOwner) || errors.As(err, new(*protocol.DecodeError)) {
		return nil, &exitcode.Error{Kind: exitcode.NotFound, Err: fmt.Errorf("%s is not a negotiation", address),
			Hint: "to list the negotiations of the wallet: haggle negotiation list"}
	}
	return n, err
}

// resolveLimit is longer than a transaction takes to land or to expire.
const resolveLimit = 2 * time.Minute

// Do executes an action. It adds a hint, derived from the negotiation, to the program's refusal. On Ctrl-C it
// waits for the outcome if the transaction has already been sent, so the receipt is not lost. Because the
// context is over by that time, the caller must read everything needed for output before Do.
//
// If the journal shows that the action is done, Do returns the receipt and sends nothing. With --dry-run it
// prints the simulation and returns session.ErrDryRun.
func Do(
	ctx context.Context, s *session.Session, client *haggle.Client, action *haggle.Action, key haggle.Signer,
) (*Receipt, error) {
	for _, warning := range action.Warnings {
		if text := fmt.Sprint("warning: ", warning); s.JSON {
			s.Report(text) // stderr has documents only
		} else {
			fmt.Fprintln(s.Stderr, text)
		}
	}
	if s.DryRun {
		return nil, DryRun(ctx, s, client, action, key)
	}
	s.Stage("waiting for the confirmation of " + action.Name)
	sent, err := action.Do(ctx, key)
	receipt, err := resolve(ctx, s, client, sent, err)
	return receipt, explain(ctx, s, client, action.Negotiation, exitcode.OfAction(err))
}

// Submit sends a signed transaction and waits for the outcome as Do does.
func Submit(
	ctx context.Context, s *session.Session, client *haggle.Client, tx *solana.Transaction,
) (*Receipt, error) {
	s.Stage("waiting for the confirmation")
	sent, err := client.Submit(ctx, tx)
	receipt, err := resolve(ctx, s, client, sent, err)
	return receipt, exitcode.OfAction(err)
}

// Receipt is an action's receipt.
type Receipt struct {
	*haggle.Receipt
	// Repeated reports whether this command sent nothing because an earlier command has sent the transaction.
	Repeated bool
}

func resolve(
	ctx context.Context, s *session.Session, client *haggle.Client, receipt *haggle.Receipt, err error,
) (*Receipt, error) {
	var unknown *transaction.UnknownOutcomeError
	if errors.Is(ctx.Err(), context.Canceled) && errors.As(err, &unknown) {
		s.Report(fmt.Sprintf("interrupted after transaction %s was sent: waiting for its outcome; Ctrl-C again ends at once", unknown.Signature))
		waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), resolveLimit)
		defer cancel()
		receipt, err = client.Outcome(waiting, unknown)
		failed := s.Connection.Acknowledge(waiting, unknown.Signature, transaction.OutcomeOf(err))
		if failed != nil {
			s.Report(fmt.Sprintf("the journal does not have the outcome: %v", failed))
		}
	}
	var done *haggle.AlreadyDone
	if errors.As(err, &done) && done.Receipt != nil {
		s.Report(fmt.Sprintf("done already by transaction %s: nothing was sent", done.Receipt.Signature))
		return &Receipt{done.Receipt, true}, nil
	}
	var unwritten *haggle.JournalError
	if errors.As(err, &unwritten) && unwritten.Failure == nil &&
		unwritten.Outcome == transaction.Confirmed {
		s.Report(fmt.Sprintf("the journal does not have the outcome: %v", unwritten.Err))
		err = nil
	}
	if errors.Is(err, transaction.ErrDetailsUnavailable) {
		err = nil
	}
	return &Receipt{Receipt: receipt}, err
}

// explain adds to the program's refusal the hint that the negotiation's state gives.
func explain(
	ctx context.Context, s *session.Session, client *haggle.Client, address solana.PublicKey, err error,
) error {
	var code protocol.ErrorCode
	if !errors.As(err, &code) || address.IsZero() {
		return err
	}
	n, readErr := client.Negotiation(address).Snapshot(ctx)
	if readErr != nil {
		return err
	}
	return exitcode.WithHint(err, StateHint(ctx, s, n, code))
}

// Step holds the parts needed for an action on a negotiation: client, wallet, and the snapshot that the action
// is built on.
type Step struct {
	Session  *session.Session
	Client   *haggle.Client
	Key      haggle.Signer
	Snapshot *haggle.Snapshot
	// Tokens writes base units of the negotiation's mint as tokens. Only [OnNegotiation] sets it.
	Tokens func(units uint64) amount.Tokens
}

// Open opens client and wallet, and reads the negotiation named by a command.
func Open(ctx context.Context, s *session.Session, name string) (Step, error) {
	client, key, err := s.ClientAndKey(ctx)
	if err != nil {
		return Step{}, err
	}
	n, err := Snapshot(ctx, client, name)
	return Step{Session: s, Client: client, Key: key, Snapshot: n}, err
}

// Explain adds to the program's refusal the hint that the negotiation's state gives.
func (t Step) Explain(ctx context.Context, err error) error {
	t.readMint(ctx, err)
	return explain(ctx, t.Session, t.Client, t.Snapshot.Address, err)
}

// readMint reads the mint for an error with amounts, to report them with decimals and symbol. If reading
// takes too long or fails, the amounts are in base units.
func (t Step) readMint(ctx context.Context, err error) {
	if !t.Session.JSON && errors.As(err, new(amount.Error)) {
		ctx, cancel := context.WithTimeout(ctx, mintLimit)
		defer cancel()
		_, _ = t.Session.Mint(ctx, t.Snapshot.TokenMint)
	}
}

// mintLimit limits the time for reading an error's mint.
const mintLimit = 3 * time.Second

// Do executes an action as the function Do does, and prints the effect. Because the context can be over by
// then, effect must not read.
func (t Step) Do(ctx context.Context, action *haggle.Action, effect func(*haggle.Receipt) string) error {
	receipt, err := Do(ctx, t.Session, t.Client, action, t.Key)
	if err != nil {
		t.readMint(ctx, err)
		return err
	}
	return Print(t.Session, action, receipt, effect(receipt.Receipt))
}

// OnNegotiation returns a command that reads the negotiation given as the first argument, builds an action,
// carries it out and prints the effect.
func OnNegotiation(
	s *session.Session, build func(ctx context.Context, t Step) (*haggle.Action, error),
	effect func(t Step, receipt *haggle.Receipt) string,
) func(context.Context, []string) error {
	return func(ctx context.Context, arguments []string) error {
		t, err := Open(ctx, s, arguments[0])
		if err != nil {
			return err
		}
		action, err := build(ctx, t)
		if err != nil {
			return t.Explain(ctx, err)
		}
		if t.Tokens, err = s.TokensOf(ctx, t.Snapshot.TokenMint); err != nil {
			return err
		}
		return t.Do(ctx, action, func(receipt *haggle.Receipt) string { return effect(t, receipt) })
	}
}
