// Package player has the flags of commands that play a strategy of package bargain, and writes the record of
// their decisions.
package player

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

// Flags are --strategy, --seed and --record.
type Flags struct {
	name, record string
	seed         uint64
}

// Register adds the flags to a command. The strategy is required if there is no default.
func (f *Flags) Register(cmd *cobra.Command, byDefault string) {
	flags := cmd.Flags()
	flags.StringVar(&f.name, "strategy", byDefault, "strategy: "+strings.Join(Names(), ", "))
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the strategy's random numbers")
	flags.StringVar(&f.record, "record", "",
		"file to which each decision is appended as a line of JSON, with its state and reason")
	command.Choices(cmd, "strategy", Names()...)
	if byDefault == "" {
		command.Required(cmd, "strategy")
	}
}

// Names returns the names of all strategies, sorted.
func Names() []string { return slices.Sorted(maps.Keys(strategy.Named())) }

// Player is a player without prices, and its record.
type Player struct {
	agent.Player
	file *os.File
}

// Open returns the player and opens its record. It calls decided, which may be nil, with each decision.
func (f *Flags) Open(decided func(agent.Record)) (*Player, error) {
	played, known := strategy.Named()[f.name]
	if !known {
		return nil, exitcode.Usagef("--strategy: %q is none of %s", f.name, strings.Join(Names(), ", "))
	}
	p := &Player{Player: agent.Player{Strategy: played, Name: f.name, Seed: f.seed}}
	if f.record != "" {
		var err error
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

// Record appends a line to the record, if there is one, in one call, so that several negotiations and
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
