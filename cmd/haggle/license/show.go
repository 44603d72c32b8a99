package license

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/license"
)

func newShowCommand(c *connection) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NEGOTIATION", Short: "Show the license of an accepted negotiation",
		Long: `Shows the license of an accepted negotiation, which is named by its ID or by the number of its license. The
gateway generates a license if there is none yet, for example after the publisher's approval.`,
		Example: "  haggle license show 2\n  haggle license show NEGOTIATION --json | jq .valid_until",
	}
	c.licensingFlag(cmd.Flags())
	command.Documents(cmd, licenseView{})
	cmd.RunE = c.Limited(func(ctx context.Context, arguments []string) error {
		client, end, err := c.open(ctx)
		if err != nil {
			return err
		}
		defer end()
		found, err := named(ctx, client, arguments[0])
		if err != nil {
			return failure(err)
		}
		return c.Print(viewOf(found), viewOf(found).lines()...)
	})
	return cmd
}

// named returns a license by negotiation id or by license number.
func named(ctx context.Context, client *license.Client, name string) (license.License, error) {
	number, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return client.License(ctx, name)
	}
	for found, err := range client.Licenses(ctx) {
		if err != nil || found.ID == number {
			return found, err
		}
	}
	return license.License{}, &exitcode.Error{Kind: exitcode.NotFound, Err: fmt.Errorf("you have no license %d", number),
		Hint: "to list your licenses: haggle license list"}
}

func newListCommand(c *connection) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List your licenses",
		Long:    "Lists the licenses of the client, the newest first. With --json it prints one document for each.",
		Example: "  haggle license list\n  haggle license list --json | jq -r .publisher_hostname",
	}
	c.licensingFlag(cmd.Flags())
	command.Documents(cmd, licenseView{})
	cmd.RunE = c.Limited(func(ctx context.Context, _ []string) error {
		client, end, err := c.open(ctx)
		if err != nil {
			return err
		}
		defer end()
		for found, err := range client.Licenses(ctx) {
			if err != nil {
				return failure(err)
			}
			v := viewOf(found)
			line := fmt.Sprintf("%-6d %-30s %s a fetch, until %s", v.ID, v.Publisher, v.PricePerFetch,
				v.ValidUntil.Format(time.DateOnly))
			if v.RevokedAt != nil {
				line += ", revoked"
			}
			if err := c.Print(v, line); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

func (v *licenseView) lines() []string {
	lines := []string{
		fmt.Sprintf("license      %d", v.ID), "publisher    " + v.Publisher, "agent        " + v.Agent,
		"price        " + v.PricePerFetch + " a fetch", fmt.Sprintf("fetches      %d prepaid", v.PrepaidFetches),
		"purposes     " + join(v.Purposes), fmt.Sprintf("burst rate   %d requests per second", v.MaxRPS),
		fmt.Sprintf("token        %d s", v.TokenTTLSeconds), "valid until  " + v.ValidUntil.Format(time.RFC3339),
	}
	if v.RevokedAt != nil {
		lines = append(lines, "revoked      "+v.RevokedAt.Format(time.RFC3339))
	}
	return lines
}

func join(purposes []license.Purpose) string {
	var names []string
	for _, purpose := range purposes {
		names = append(names, string(purpose))
	}
	return strings.Join(names, ", ")
}
