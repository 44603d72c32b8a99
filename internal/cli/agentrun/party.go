package agentrun

import (
	"context"
	"errors"
	"os"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/actions"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/mint"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/identity"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store"
)

// Party is an agent: wallet, counterparty, and prices.
type Party struct {
	*Log
	Client      *haggle.Client
	Signer      haggle.Signer
	Self        solana.PublicKey
	Counterpart solana.PublicKey
	Mint        solana.PublicKey
	ServiceHash [32]byte
	// Metadata contains the terms beside price and service; all zeros for none.
	Metadata [protocol.MaxMetadataLen]byte
	// Key names the purchase. If empty, the agent continues any open negotiation with the same parties, mint and
	// service.
	Key string
	// Opening and Reservation are base units of the mint.
	Opening, Reservation uint64

	flags *Flags
	// player plays the strategy; nil selects the agent's built-in strategy.
	player *player.Player
	// gate is nil without --trust and --allowlist.
	gate *identity.Gate
	// journal is nil if not used.
	journal *store.Store
}

// Open opens the wallet and the journal, connects, and reads the mint, because prices depend on it.
func (f *Flags) Open(ctx context.Context, log *Log) (p *Party, err error) {
	log.JSON = f.JSON
	p = &Party{Log: log, Counterpart: f.Counterpart.Key(), Mint: f.Mint.Key(), ServiceHash: protocol.ServiceHash(f.Service), flags: f}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if err = f.Limits.Check(); err != nil {
		return p, err
	}
	if p.player, err = f.play.Open(p.decided); err != nil {
		return p, err
	}
	if p.gate, err = f.Trust.Gate(); err != nil {
		return p, err
	}
	if p.Signer, err = f.Connection.Signer(ctx); err != nil {
		return p, err
	}
	p.Self = p.Signer.PublicKey()
	if err := p.connect(ctx); err != nil {
		return p, err
	}
	if p.Amounts, err = mint.Read(ctx, p.Client, p.Mint); err != nil {
		return p, err
	}
	if err := p.Amounts.Pin(ctx, p.Client); err != nil {
		return p, err
	}
	if p.Opening, err = p.Units("--opening", f.Opening); err != nil {
		return p, err
	}
	if p.Reservation, err = p.Units("--reservation", f.Reservation); err != nil {
		return p, err
	}
	if step := p.player.PriceStep; !step.IsZero() {
		if p.player.Step, err = p.Units("--step", step); err != nil {
			return p, err
		}
	}
	if other := p.player.Other; !other.IsZero() {
		units, err := p.Units("--other-reservation", other)
		if err != nil {
			return p, err
		}
		p.player.Assume(units)
	}
	if note := p.player.Note(); note != "" && f.openingGiven() {
		p.Warn(os.Stderr, note)
	}
	return p, nil
}

// connect creates a client that writes to the journal.
func (p *Party) connect(ctx context.Context) (err error) {
	settings, err := p.flags.Connection.Settle()
	if err != nil {
		return err
	}
	if p.journal, err = p.openJournal(ctx); err != nil {
		return err
	}
	if p.journal != nil {
		settings.Journal = p.journal
	}
	if p.Client, err = haggle.NewClient(settings.Config); err != nil {
		return exitcode.Usagef("--url, --ws: %w", err)
	}
	return nil
}

// Close disconnects, and releases the journal for other processes.
func (p *Party) Close() error {
	var failures []error
	if p.Client != nil {
		failures = append(failures, p.Client.Close())
	}
	if p.journal != nil {
		failures = append(failures, p.journal.Close())
	}
	return errors.Join(append(failures, p.player.Close(), p.flags.Connection.Close())...)
}

// Play returns a player with the strategy of --strategy and the prices, which records its decisions.
func (p *Party) Play() agent.Player {
	play := agent.Player{Strategy: strategy.Linear()}
	if p.player != nil {
		play = p.player.Player
	}
	play.Opening, play.Reservation, play.Suits = p.Opening, p.Reservation, p.Suits
	return play
}

// decided prints a decision.
func (p *Party) decided(record agent.Record) {
	if record.Price == 0 {
		p.Note("decides: %s (%s)", record.Move, record.Reason)
		return
	}
	p.Note("decides: %s %s (%s)", record.Move, p.Tokens(record.Price), record.Reason)
}

// Units parses an amount of the mint.
func (p *Party) Units(flag string, text amount.Text) (uint64, error) {
	units, err := text.In(p.Amounts.Decimals)
	if err != nil {
		return 0, exitcode.Usagef("%s: %w", flag, err)
	}
	return units, nil
}

// Suits reports whether the standing offer contains the agreed terms beside the price. Offer metadata can
// contain further terms, covered by an acceptance. These agents have agreed on none.
func (p *Party) Suits(n *haggle.Snapshot) bool {
	none := p.Metadata == [protocol.MaxMetadataLen]byte{}
	return n.Metadata == p.Metadata || none && protocol.IsPriceOnly(n.Metadata)
}

// Vet checks the counterparty before the agent commits to anything, with --trust or --allowlist. It returns
// an *identity.Refusal.
func (p *Party) Vet(ctx context.Context) error {
	if p.gate == nil {
		return nil
	}
	return p.gate.Check(ctx, p.Counterpart)
}

// Created prints a negotiation's creation.
func (p *Party) Created(created *haggle.Action, receipt *haggle.Receipt) {
	p.did(actions.OfCreation(p.Agent, created, receipt, p.Tokens))
}
