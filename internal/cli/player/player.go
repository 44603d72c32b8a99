// Package player defines the flags for commands that play a strategy of package bargain, and records
// decisions.
package player

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

// Flags are --strategy, --step, --other-reservation, --seed and --record.
type Flags struct {
	name, record string
	step, other  amount.Text
	seed         uint64
}

// Register adds the flags to a command. If there is no default, the command sets a strategy by
// [Flags.Default], or refuses to run.
func (f *Flags) Register(cmd *cobra.Command, byDefault string) {
	flags := cmd.Flags()
	names := game.Names()
	flags.StringVar(&f.name, "strategy", byDefault, StrategyUsage(names))
	flags.Var(&f.step, "step", StepUsage(""))
	flags.Var(&f.other, "other-reservation", "with --strategy "+game.Name+
		": reservation price that it assumes of the other side, a seller's after the fee")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the strategy's random numbers")
	flags.StringVar(&f.record, "record", "",
		"file to which each decision is appended as a line of JSON, with its state and reason")
	command.Choices(cmd, "strategy", names...)
}

// IsSet reports whether there is a strategy.
func (f *Flags) IsSet() bool { return f.name != "" }

// Default sets the strategy if there is none.
func (f *Flags) Default(name string) { f.name = cmp.Or(f.name, name) }

// Player is a player without prices, including the decision record.
type Player struct {
	agent.Player
	// PriceStep is --step's price in tokens; "" if the step follows from the terms.
	PriceStep amount.Text
	// Other is --other-reservation's price in tokens: see [Player.Assume]. It is "" unless the strategy is the
	// optimal player.
	Other amount.Text
	// OtherReservation is the same price in the mint's base units; nil until Assume is called.
	OtherReservation *uint64
	hasOpening       bool
	file             *os.File
}

// HasStep reports whether --step is given.
func (f *Flags) HasStep() bool { return !f.step.IsZero() }

// Assume makes the optimal player assume the opponent's reservation price, in the mint's base units.
func (p *Player) Assume(units uint64) {
	p.OtherReservation, p.Strategy = &units, game.Assuming{Other: units}
}

// Note returns a note for a user who has given an opening price; "" if the strategy uses it.
func (p *Player) Note() string {
	if p.hasOpening {
		return ""
	}
	return fmt.Sprintf("the strategy %s does not use --opening", p.Name)
}

// IsOptimal reports whether the strategy is the optimal player.
func (f *Flags) IsOptimal() bool {
	entry, _ := game.Parse(f.name)
	return entry.Name == game.Name
}

// HasOpening reports whether the strategy uses the opening price.
func (f *Flags) HasOpening() bool {
	entry, _ := game.Parse(f.name)
	return entry.HasOpening
}

// StrategyUsage describes a flag that takes a strategy from names, with parameters.
func StrategyUsage(names []string) string {
	return "strategy, with parameters as in negmas-boulware:e=6 (haggle simulate --help describes them): " +
		strings.Join(names, ", ")
}

// StepUsage describes a flag for a strategy's price step. Scope follows the strategy names.
func StepUsage(scope string) string {
	return "price step of " + strings.Join(strategy.Stepping(), ", ") + scope + " (default: from rounds and decay)"
}

// StepError returns the usage error for --step with a strategy that ignores it.
func StepError(entry strategy.Entry) error {
	return exitcode.Requires("--step", "--strategy "+strings.Join(strategy.Stepping(), ", "),
		entry.Name+" does not concede by a step")
}

// StrategyError returns the usage error for a flag that names no strategy.
func StrategyError(flag string, err error) error {
	return exitcode.WithHint(exitcode.Usagef("--%s: %w", flag, err), "for their descriptions: haggle simulate --help")
}

// Open returns the player and opens its record. It calls decided, which may be nil, with each decision.
func (f *Flags) Open(decided func(agent.Record)) (*Player, error) {
	entry, err := game.Parse(f.name)
	switch {
	case err != nil:
		return nil, StrategyError("strategy", err)
	case f.IsOptimal() && f.other.IsZero():
		return nil, exitcode.Requires("--strategy "+game.Name, "--other-reservation", "")
	case !f.IsOptimal() && !f.other.IsZero():
		return nil, exitcode.Requires("--other-reservation", "--strategy "+game.Name, "")
	case f.HasStep() && !entry.HasStep():
		return nil, StepError(entry)
	}
	p := &Player{
		Player:    agent.Player{Strategy: entry.Strategy, Name: entry.String(), Seed: f.seed},
		PriceStep: f.step, Other: f.other, hasOpening: entry.HasOpening,
	}
	if f.record != "" {
		// The record is private: it shows how the agent bargains.
		if p.file, err = os.OpenFile(f.record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
			return nil, fmt.Errorf("--record: %w", err)
		}
	}
	p.Decided = func(record agent.Record) error {
		if decided != nil {
			decided(record)
		}
		return p.write(record)
	}
	return p, nil
}

// write appends a record.
func (p *Player) write(record agent.Record) error {
	line, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return p.Record(line)
}

// Record appends a line to the record, if there is one, in a single call, so that several negotiations and
// processes can share the file.
func (p *Player) Record(line []byte) error {
	if p.file == nil {
		return nil
	}
	_, err := p.file.Write(append(line, '\n'))
	return err
}

// Close closes the record.
func (p *Player) Close() error {
	if p == nil || p.file == nil {
		return nil
	}
	if err := p.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("--record: %w", err)
	}
	return nil
}
