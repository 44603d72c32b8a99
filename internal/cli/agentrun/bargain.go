package agentrun

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// statusTimeout limits how long an interrupted agent may take to report the negotiation state.
const statusTimeout = 5 * time.Second

// Bargain runs a negotiation to completion: at the given address, or, if the address is zero, the first
// negotiation that the agent engages in. It returns the deal, or an exitcode.NoDeal error.
//
// The agent flags limit the terms. It calls config.Acted, then prints the action. A non-transient error ends
// the run; a restart continues.
func (p *Party) Bargain(ctx context.Context, negotiation solana.PublicKey, config agent.Config) (*agent.Result, error) {
	bargaining, give := context.WithCancelCause(ctx)
	defer give(nil)
	p.flags.Limits.Limit(&config)
	acted := config.Acted
	config.Acted = func(act agent.Act) {
		negotiation = act.Before.Address
		if acted != nil {
			acted(act)
		}
		p.Did(act.Name, act.Before, act.Receipt)
	}
	config.Failed = func(negotiation solana.PublicKey, err error) {
		if refusal := new(agent.Refusal); errors.As(err, &refusal) {
			p.Note("%s declined: %s", negotiation, amount.InText(refusal.Reason, refusal, p.AmountOf))
			return
		}
		give(err)
	}
	config.Logger = p.logger()
	config.Names = agent.Names{
		Endpoint: "--url", WSEndpoint: "--ws", Mints: "--mint", SingleSourceUpTo: player.SingleSourceFlag,
	}
	runtime, err := agent.New(p.Client, p.Signer, config)
	if err != nil {
		return nil, err
	}
	result, err := runtime.RunOne(bargaining, negotiation)
	switch {
	case result == nil && ctx.Err() != nil && !negotiation.IsZero():
		return nil, p.interrupted(ctx, negotiation)
	case result == nil:
		return nil, err
	case err != nil && (result.Side == protocol.OfferSideSeller ||
		result.Status != protocol.NegotiationStatusSettled || !waitsForAccount(err)):
		return nil, err // an unpaid seller has sold nothing
	case err != nil:
		// The deal stands.
		p.Note("a token account cannot receive its payment; once it can: haggle negotiation claim-payout %s, then close", result.Negotiation)
	}
	if result.Status != protocol.NegotiationStatusSettled {
		return nil, &exitcode.Error{Kind: exitcode.NoDeal, Err: fmt.Errorf("no deal: %s after %d offers", result.Status, result.Rounds)}
	}
	return result, nil
}

// logger returns a logger for waits, fallbacks, and warnings about nodes and decisions. Actions are printed
// by Log.
func (p *Party) logger() *slog.Logger {
	options := &slog.HandlerOptions{Level: agent.LevelNotice}
	if p.JSON {
		return slog.New(slog.NewJSONHandler(os.Stderr, options))
	}
	options.ReplaceAttr = exitcode.LogAmounts(p.AmountOf)
	return slog.New(slog.NewTextHandler(os.Stderr, options))
}

// waitsForAccount reports whether the payout fails because of a token account.
func waitsForAccount(err error) bool {
	var token *transaction.Error
	return errors.Is(err, protocol.ErrPayoutPending) || errors.As(err, &token) && token.Program == solana.TokenProgramID
}

// interrupted returns an error describing the negotiation state.
func (p *Party) interrupted(ended context.Context, negotiation solana.PublicKey) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ended), statusTimeout)
	defer cancel()
	n, err := p.Client.Negotiation(negotiation).Snapshot(ctx)
	if err != nil {
		return ended.Err()
	}
	return &exitcode.Error{
		Kind: exitcode.KindOf(ended.Err()),
		Hint: "started again, the agent goes on from there",
		Err: fmt.Errorf("stopped; negotiation %s is %s after %d offers, and its turn ends at %s UTC",
			n.Address, n.Status, n.CurrentRound, time.Unix(n.TurnDeadline, 0).UTC().Format(time.DateTime)),
	}
}
