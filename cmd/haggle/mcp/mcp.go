// Package mcp has the command "haggle mcp".
package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	chaintools "github.com/haggle-protocol/haggle/internal/cli/mcp"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/policy"
)

const mcpHelp = `Serves the wallet to one agent, over stdin and stdout, by the Model Context Protocol. The owner
of the wallet configures it as a server of the agent's program, which starts it. It listens on no port.

  haggle_create            escrows the highest price and invites a seller
  haggle_await_invitation  waits, as a seller, for an invitation
  haggle_accept            accepts an invitation, or the other side's offer, which pays it at once
  haggle_offer             makes an offer in a round
  haggle_reject            ends a negotiation without a deal
  haggle_expire            ends a negotiation after its deadline
  haggle_close             closes a negotiation that has ended, which returns the rent to the buyer
  haggle_status            reads a negotiation with its offers, or lists them; can wait for the other side
  haggle_budget            shows the balances, and the limits of the policy with their usage
  haggle_suggest           suggests the next move by a bargaining strategy, and sends nothing

It signs only within a spending policy: --policy is required (haggle policy --help has a complete one). No
approval is possible while it runs, so a transaction above "approveAbove" is denied.

Tools that send have "dry_run", which signs nothing, and "idempotency_key", which prevents a second
transaction. A call that takes longer than --wait returns the outcome "unknown" and the state;
haggle_status then waits for the outcome. No text of the counterparty becomes part of an answer.`

// Command returns "haggle mcp".
func Command(s *session.Session, version string) *cobra.Command {
	wait := duration.Flag(chaintools.DefaultWait)
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve the wallet to an agent by MCP, within a spending policy", Long: mcpHelp,
		Example: `  haggle mcp -C buyer.yml --policy policy.json
  {"mcpServers": {"haggle": {"command": "haggle", "args": ["mcp", "-C", "/path/to/buyer.yml",
     "--policy", "/path/to/policy.json"]}}}`,
	}
	cmd.Flags().Var(&wait, "wait", "how long a call waits for the confirmation of its transaction")
	cmd.RunE = s.Unlimited(func(ctx context.Context, _ []string) error {
		return serve(ctx, s, time.Duration(wait), version)
	})
	return cmd
}

func serve(ctx context.Context, s *session.Session, wait time.Duration, version string) error {
	switch {
	case wait <= 0:
		return exitcode.Usagef("--wait must be positive")
	case s.Connection.PolicyPath == "":
		return &exitcode.Error{Kind: exitcode.Usage,
			Err: errors.New("--policy not set: haggle mcp signs only within a spending policy"),
			Hint: "write one as in haggle policy --help, check it with haggle policy check FILE, " +
				"then add --policy FILE"}
	case s.Connection.NoJournal:
		return exitcode.Usagef("--no-journal: haggle mcp needs a journal, " +
			"which prevents that an action is executed twice")
	}
	// stdin carries the agent's requests, so no prompt may read it.
	s.Connection.Unattended = true
	client, key, err := s.ClientAndKey(ctx)
	if err != nil {
		return err
	}
	governed, is := key.(*policy.Policy)
	if !is {
		return fmt.Errorf("wallet %s: its signer does not enforce the policy", key.PublicKey())
	}
	server := chaintools.New(chaintools.Config{
		Client: client, Wallet: governed, Limits: *s.Connection.Policy(), Usage: s.Connection.Usage,
		Wait: wait, Version: version,
	})
	if err := server.Run(ctx, &mcp.StdioTransport{}); err != nil && ctx.Err() == nil {
		return fmt.Errorf("connection to the agent: %w", err)
	}
	return nil
}
