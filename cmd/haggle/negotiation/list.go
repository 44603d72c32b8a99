package negotiation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const listHelp = `Lists the negotiations of an agent that are not closed, the oldest first. Addresses of the parties are
shortened; "negotiation show" and --json have them whole. With --json it prints one document per line, in
the order in which the node sends them.`

// roles maps the values of --role to filter fields.
var roles = map[string]func(*haggle.Filter) *solana.PublicKey{
	"any":    func(f *haggle.Filter) *solana.PublicKey { return &f.Party },
	"buyer":  func(f *haggle.Filter) *solana.PublicKey { return &f.Buyer },
	"seller": func(f *haggle.Filter) *solana.PublicKey { return &f.Seller },
}

func newListCommand(s *session.Session) *cobra.Command {
	var agent connection.Address
	var role string
	var statuses []string
	var all bool
	cmd := &cobra.Command{
		Use: "list", Short: "List an agent's negotiations", Long: listHelp,
		Example: `  haggle negotiation list --role seller --status created
  haggle negotiation list --agent ADDRESS --json | jq -r .negotiation
  haggle negotiation list --all`,
	}
	cmd.Flags().Var(&agent, "agent", "agent of the negotiations (default: the keypair's)")
	cmd.Flags().StringVar(&role, "role", "any", "role of the agent: any, buyer or seller")
	cmd.Flags().StringSliceVar(&statuses, "status", nil, "only these: "+strings.Join(statusNames(), ", "))
	cmd.Flags().BoolVar(&all, "all", false, "the negotiations of all agents")
	cmd.MarkFlagsMutuallyExclusive("all", "agent")
	cmd.MarkFlagsMutuallyExclusive("all", "role")
	command.Choices(cmd, "role", "any", "buyer", "seller")
	command.Choices(cmd, "status", statusNames()...)
	command.Documents(cmd, negotiationView{})
	cmd.RunE = s.Limited(func(ctx context.Context, _ []string) error {
		filter, field, err := listFilter(role, statuses)
		if err != nil {
			return err
		}
		var self solana.PublicKey
		if !all {
			if self, err = s.Agent(ctx, agent); err != nil {
				return err
			}
			*field(&filter) = self
		}
		return list(ctx, s, filter, self)
	})
	return cmd
}

func statusNames() (names []string) {
	for status := protocol.NegotiationStatus(0); status.Valid(); status++ {
		names = append(names, strings.ToLower(status.String()))
	}
	return names
}

// listFilter returns the filter without the agent, and the field for the agent.
func listFilter(
	role string, statuses []string,
) (filter haggle.Filter, field func(*haggle.Filter) *solana.PublicKey, err error) {
	field, known := roles[role]
	if !known {
		return filter, nil, exitcode.Usagef("--role: %q must be any, buyer or seller", role)
	}
	for _, written := range statuses {
		status := protocol.NegotiationStatus(0)
		for status.Valid() && !strings.EqualFold(status.String(), written) {
			status++
		}
		if !status.Valid() {
			return filter, nil, exitcode.Usagef("--status: %q must be one of %s", written, strings.Join(statusNames(), ", "))
		}
		filter.Status = append(filter.Status, status)
	}
	return filter, field, nil
}

func list(ctx context.Context, s *session.Session, filter haggle.Filter, agent solana.PublicKey) error {
	client, err := s.Client()
	if err != nil {
		return err
	}
	now, err := client.Now(ctx)
	if err != nil {
		return err
	}
	var views []negotiationView
	for n, err := range client.FindNegotiations(ctx, filter) {
		if err != nil {
			return err
		}
		tokens, err := s.TokensOf(ctx, n.TokenMint)
		if err != nil {
			return err
		}
		v := view(n, now, tokens, fromAccount(n))
		if !s.JSON {
			views = append(views, v)
			continue
		}
		if err := s.Print(v); err != nil {
			return err
		}
	}
	switch {
	case s.JSON:
		return nil
	case len(views) == 0:
		fmt.Fprintln(s.Stderr, "no negotiations")
		return nil
	}
	slices.SortFunc(views, func(a, b negotiationView) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
	var rows [][]string
	for _, v := range views {
		rows = append(rows, v.row(agent))
	}
	return s.Print(nil, format.Table(listHeader(agent), rows))
}

// listHeader names the columns of row.
func listHeader(agent solana.PublicKey) []string {
	if agent.IsZero() {
		return []string{"NEGOTIATION", "STATUS", "ROUND", "OFFER", "BUYER", "SELLER"}
	}
	return []string{"NEGOTIATION", "STATUS", "ROUND", "OFFER", "ROLE", "OTHER"}
}

// row describes a negotiation in a line with up to 100 columns, from the agent's side if there is one.
func (v negotiationView) row(agent solana.PublicKey) []string {
	offer := "none"
	if v.Offer != nil {
		offer = v.Offer.Amount.String()
	}
	first, second := format.Short(v.Buyer), format.Short(v.Seller)
	switch {
	case agent.IsZero():
	case agent == v.Seller:
		first, second = "seller", first
	default:
		first = "buyer"
	}
	return []string{
		v.Negotiation.String(), v.Status, fmt.Sprintf("%d/%d", v.Round, v.MaxRounds), offer, first, second,
	}
}
