package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

const exportHelp = `Prints the entries of the audit log, or of one negotiation, as JSON with or without --json,
one entry per line in the order of the negotiations' ids. The chain of a negotiation is named by its id. The
hash of an entry is SHA-256 of "haggle/audit/entry/v1", a zero byte, the 32 bytes of the hash of the entry
before it (zero bytes for the first entry), and the text.`

// exported is an entry in the output.
type exported struct {
	// Chain is the id of the negotiation.
	Chain string `json:"chain"`
	// Sequence counts the entries of the chain from 1.
	Sequence int64 `json:"sequence"`
	// Hash is in hexadecimal digits.
	Hash string `json:"hash"`
	// Text contains the hashed bytes: a JSON object with chain, sequence, time, by, kind and data.
	Text string `json:"text"`
}

func newExportCommand(a *auditCommand) *cobra.Command {
	cmd := &cobra.Command{
		Use: "export [NEGOTIATION]", Short: "Print the entries of the audit log", Long: exportHelp,
		Example: `  haggle audit export > audit.jsonl
  haggle audit export 01934f6e-0000-7000-8000-000000000001 | jq -r .text`,
	}
	command.Documents(cmd, exported{})
	cmd.RunE = a.Unlimited(func(ctx context.Context, arguments []string) error {
		defer a.ShowProgress("reading the audit log")()
		return a.open(ctx, func(s *store.Store) error {
			out := bufio.NewWriter(a.Stdout)
			encoder := json.NewEncoder(out)
			encoder.SetEscapeHTML(false)
			each := func(l audit.Link) error {
				return encoder.Encode(exported(l))
			}
			var err error
			if len(arguments) == 1 {
				err = chain(ctx, s, arguments[0], each)
			} else {
				err = s.AuditSnapshot(ctx, func(audit.Head) error { return nil }, each)
			}
			return errors.Join(err, out.Flush())
		})
	})
	return cmd
}

// chain calls each with a negotiation's entries.
func chain(ctx context.Context, s *store.Store, negotiation string, each func(audit.Link) error) error {
	for last := int64(0); ; {
		links, err := s.AuditEntries(ctx, negotiation, last, store.MaxPage)
		if err != nil {
			return err
		}
		if len(links) == 0 && last == 0 {
			return &exitcode.Error{Kind: exitcode.NotFound, Hint: "list all with: haggle audit export",
				Err: fmt.Errorf("negotiation %s: no entries in %s", negotiation, s.Name)}
		}
		for _, l := range links {
			if err := each(l); err != nil {
				return err
			}
			last = l.Sequence
		}
		if len(links) < store.MaxPage {
			return nil
		}
	}
}
