// Package doctor has "haggle doctor", which checks a cluster and a wallet before they are used.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/agent"
)

const doctorHelp = `Checks each RPC endpoint, the WebSocket endpoint, the machine's clock, the program and its
configuration, the mints of --mint, the wallet's SOL and tokens, and the policy of --policy. Each check is ok,
a warning or a problem, with the next step. It sends no transaction.

ADDRESS checks a wallet without its key. Without a wallet the other checks run. The exit code is 0 without a
problem, otherwise that of the first one (haggle help exit-codes).`

var roles = []string{"any", "buyer", "seller"}

// checkWallet is the command's own check: whether the wallet can be opened.
const checkWallet = "wallet"

// Command returns "haggle doctor".
func Command(s *session.Session) *cobra.Command {
	var mints []string
	var role string
	cmd := &cobra.Command{
		Use: "doctor [ADDRESS]", Short: "Check the cluster, the wallet and the policy", Long: doctorHelp,
		Example: `  haggle doctor
  haggle doctor --mint MINT --role buyer
  haggle doctor ADDRESS --url devnet --json`,
	}
	cmd.Flags().StringSliceVar(&mints, "mint", nil, "mint in which the wallet buys or sells; can be repeated")
	cmd.Flags().StringVar(&role, "role", roles[0], "role of the wallet: any, buyer or seller; a buyer needs tokens")
	command.Choices(cmd, "role", roles...)
	command.Documents(cmd, view{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		d := &doctor{Session: s, view: view{Checks: []checkView{}}}
		d.config.Role = role
		if !slices.Contains(roles, role) {
			return exitcode.Usagef("--role: %q must be any, buyer or seller", role)
		}
		for _, written := range mints {
			mint, err := connection.ParseAddress(written)
			if err != nil {
				return exitcode.Usagef("--mint: %w", err)
			}
			d.config.Mints = append(d.config.Mints, mint)
		}
		if len(arguments) > 0 {
			wallet, err := connection.ParseAddress(arguments[0])
			if err != nil {
				return exitcode.Usagef("ADDRESS: %w", err)
			}
			d.config.Wallet = wallet
		}
		return d.run(ctx)
	})
	return cmd
}

type doctor struct {
	*session.Session
	config agent.PreflightConfig
	view   view
	// kind is the kind of the first problem.
	kind exitcode.Kind
}

type view struct {
	OK       bool        `json:"ok"`
	Problems int         `json:"problems"`
	Warnings int         `json:"warnings"`
	Checks   []checkView `json:"checks"`
}

type checkView struct {
	Check   string `json:"check"`
	Status  string `json:"status"`
	Message string `json:"message"`
	Advice  string `json:"advice,omitempty"`
	// Details hold text of other machines, which Message does not contain.
	Details *exitcode.Details `json:"details,omitempty"`
}

func (d *doctor) run(ctx context.Context) error {
	client, err := d.Client()
	if err != nil {
		return err
	}
	d.checkWallet(ctx)
	d.config.Started = func(check string) { d.Stage("checking: " + check) }
	d.config.Client = client
	d.config.Names = agent.Names{
		Endpoint: "--url", WSEndpoint: "--ws", Mints: "--mint",
		Fund: "send SOL to it; on localhost, devnet and testnet: haggle airdrop 1 " + d.config.Wallet.String(),
	}
	var policyErr error
	if d.Connection.PolicyPath != "" {
		config, err := connection.ReadPolicy(d.Connection.PolicyPath)
		if policyErr = err; err == nil {
			d.config.Policy = config
		}
	}
	for result := range agent.Preflight(ctx, d.config) {
		d.add(result)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if policyErr != nil {
		d.add(problem(agent.CheckPolicy, policyErr, "haggle policy --help has an example"))
	}
	return d.finish()
}

// checkWallet opens the wallet for its address. A missing keypair is a warning, because the cluster can be
// checked without one.
func (d *doctor) checkWallet(ctx context.Context) {
	if !d.config.Wallet.IsZero() {
		return
	}
	wallet, err := d.Connection.Address(ctx)
	if err == nil {
		d.config.Wallet = wallet
		return
	}
	result := problem(checkWallet, err, "")
	if own := new(exitcode.Error); errors.As(err, &own) {
		result.Advice = own.Hint
	}
	if errors.Is(err, os.ErrNotExist) {
		result.Status = agent.StatusWarning
	}
	d.add(result)
}

func problem(check string, err error, advice string) agent.CheckResult {
	return agent.CheckResult{
		Check: check, Status: agent.StatusProblem, Text: exitcode.Text(err), Advice: advice, Err: err,
	}
}

// kindOf returns the exit code of a problem.
func kindOf(result agent.CheckResult) exitcode.Kind {
	kind := exitcode.KindOf(result.Err)
	if kind != exitcode.Other {
		return kind
	}
	switch result.Check {
	case agent.CheckNode, agent.CheckEvents:
		return exitcode.Network
	case agent.CheckPolicy:
		return exitcode.Denied
	}
	return kind
}

// add prints a result, or keeps it for the JSON document.
func (d *doctor) add(result agent.CheckResult) {
	switch result.Status {
	case agent.StatusWarning:
		d.view.Warnings++
	case agent.StatusProblem:
		d.view.Problems++
		if d.kind == exitcode.None {
			d.kind = kindOf(result)
		}
	}
	view := checkView{Check: result.Check, Status: result.Status, Message: result.Text, Advice: result.Advice}
	if result.Err != nil {
		if view.Details = exitcode.DetailsOf(result.Err); view.Details != nil {
			view.Message = fmt.Sprintf("%s: %s", result.Check, exitcode.Message(result.Err))
		}
	}
	d.view.Checks = append(d.view.Checks, view)
	if d.JSON {
		return
	}
	fmt.Fprintf(d.Stdout, "%-8s %s\n", result.Status, result.Text)
	if result.Advice != "" {
		fmt.Fprintf(d.Stdout, "%-8s %s\n", "", result.Advice)
	}
}

// finish prints the document. It returns an error with the kind of the first problem.
func (d *doctor) finish() error {
	d.view.OK = d.view.Problems == 0
	if d.JSON {
		if err := d.Print(d.view); err != nil {
			return err
		}
	}
	if d.view.OK {
		return nil
	}
	text := "1 problem found"
	if d.view.Problems > 1 {
		text = fmt.Sprintf("%d problems found", d.view.Problems)
	}
	return &exitcode.Error{Kind: d.kind, Err: errors.New(text),
		Hint: "the next step is below each problem"}
}
