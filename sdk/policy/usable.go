package policy

import (
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// minFee is the fee for one signature, in lamports.
const minFee = 5_000

// UnusableError reports a policy that denies all client actions.
type UnusableError struct {
	// Problem names the field and the value.
	Problem string
	advice  string
}

func (e *UnusableError) Error() string { return e.Problem }

// Advice returns the change that makes the policy usable.
func (e *UnusableError) Advice() string { return e.advice }

// CheckUsable reports why the policy signs nothing: a *MissingLimitsError, a *Denial if it is stopped, or an
// *UnusableError. It returns nil if the policy can sign; limits may still deny single transactions.
func (c *Config) CheckUsable() error {
	if err := c.missing(); err != nil {
		return err
	}
	if err := c.Stopped(); err != nil {
		return err
	}
	for _, program := range []solana.PublicKey{solana.ComputeBudget, protocol.ProgramID} {
		if c.Programs != nil && !slices.Contains(c.Programs, program) {
			return &UnusableError{"programs: " + program.String() + " is missing, which every action calls",
				`add it to "programs", or leave "programs" out`}
		}
	}
	if c.Instructions != nil && !slices.Contains(c.Instructions, ComputeBudget) {
		return &UnusableError{"instructions: " + ComputeBudget + " is missing, which is in every transaction",
			`add "` + ComputeBudget + `" to "instructions"`}
	}
	isHaggle := func(name string) bool { return strings.HasPrefix(name, haggleInstruction("")) }
	if c.Instructions != nil && !slices.ContainsFunc(c.Instructions, isHaggle) {
		return &UnusableError{"instructions: no instruction of the program",
			`add the wallet's actions to "instructions", such as "` + haggleInstruction("submit_offer") + `"`}
	}
	for _, limit := range []struct {
		name   string
		amount uint64
	}{{"perTransaction", c.Lamports.PerTransaction}, {"perDay", c.Lamports.PerDay}} {
		if limit.amount < minFee {
			return &UnusableError{"lamports." + limit.name + ": below the fee of one transaction, 5000 lamports",
				"raise it: to create a negotiation takes about 6.5 million lamports"}
		}
	}
	return nil
}

// CheckUsable reports why the policy signs nothing: see Config.CheckUsable.
func (p *Policy) CheckUsable() error { return p.config.CheckUsable() }
