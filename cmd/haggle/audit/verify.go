package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/gatewayfiles"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

const verifyHelp = `Compares the audit log with itself and with the signed checkpoints. It finds entries that
were changed, removed, cut off or written again with new hashes, and changes of the checkpoint file, and names
the chain, by the id of its negotiation, and the entry. The database is only read.

Take the public key from a place that an attacker of the gateway cannot write to: a holder of the private key
can sign other checkpoints. Removing the last checkpoints of the file is visible only with --min-sequence,
the number of a checkpoint that is known to exist.

The exit code is 0 if nothing is found, otherwise 3.`

func newVerifyCommand(a *auditCommand) *cobra.Command {
	options := audit.VerifyOptions{}
	var key string
	cmd := &cobra.Command{
		Use: "verify", Short: "Find changes of the audit log", Long: verifyHelp,
		Example: `  haggle audit verify
  haggle audit verify --db postgres://haggle@db.example/gateway --public-key trusted.pub
  haggle audit verify --min-sequence 1200 --json`,
	}
	cmd.Flags().StringVar(&options.Path, "checkpoints", "", "file with the checkpoints (default: in the state folder)")
	cmd.Flags().StringVar(&key, "public-key", "",
		"file with the public key of the checkpoints, in PEM (default: in the state folder)")
	cmd.Flags().Uint64Var(&options.MinSequence, "min-sequence", 0,
		"number of a checkpoint that must exist (0: none)")
	command.Documents(cmd, report{})
	cmd.RunE = a.Unlimited(func(ctx context.Context, _ []string) error {
		defer a.ShowProgress("verifying the audit log")()
		files, err := gatewayfiles.Default(a.address)
		if err != nil {
			return err
		}
		options.Path = cmp.Or(options.Path, files.Checkpoints)
		return a.open(ctx, func(s *store.Store) error {
			if options.Key, err = audit.ReadPublicKey(cmp.Or(key, files.Key+audit.PublicSuffix)); err != nil {
				return missingFile(err, "--public-key")
			}
			if _, err := os.Stat(options.Path); err != nil {
				return missingFile(fmt.Errorf("checkpoint file: %w", err), "--checkpoints")
			}
			found, err := audit.Verify(ctx, s, options)
			if err != nil {
				return err
			}
			return a.print(s.Name, found)
		})
	})
	return cmd
}

// missingFile adds a hint to a missing file error.
func missingFile(err error, flag string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &exitcode.Error{Kind: exitcode.NotFound, Err: err,
			Hint: "the gateway writes it beside a SQLite database, or to the state folder; set " + flag + " to it"}
	}
	return err
}

// report is the command output.
type report struct {
	// Database describes the database without user, password and options.
	Database string `json:"database"`
	// Valid reports whether there are no findings.
	Valid bool `json:"valid"`
	// Chains, Entries and Checkpoints count the checked objects. Each negotiation has a chain.
	Chains      int    `json:"chains"`
	Entries     int64  `json:"entries"`
	Checkpoints uint64 `json:"checkpoints"`
	// Uncovered is the number of entries not yet covered by a checkpoint.
	Uncovered int64 `json:"uncovered_entries"`
	// Findings are ordered by chain.
	Findings []finding `json:"findings"`
}

// finding is a difference between the database and the checkpoints.
type finding struct {
	// Problem is changed, missing, truncated, deleted, rewritten, unrecorded or bad checkpoint.
	Problem audit.Problem `json:"problem"`
	// Chain is the negotiation id. It is omitted from checkpoint file findings.
	Chain string `json:"chain,omitempty"`
	// Entry is the first wrong or missing entry, from 1. Until is the last such entry, or the upper bound for
	// the first wrong entry in a rewritten chain; 0 if unknown.
	Entry int64 `json:"entry,omitempty"`
	Until int64 `json:"until,omitempty"`
	// Detail describes the difference.
	Detail string `json:"detail"`
}

// print prints a report. It returns an error if the report has findings.
func (a *auditCommand) print(database string, r *audit.Report) error {
	document := report{
		Database: database, Valid: len(r.Findings) == 0, Chains: r.Chains, Entries: r.Entries,
		Checkpoints: r.Checkpoints, Uncovered: r.Uncovered, Findings: []finding{},
	}
	var lines []string
	for _, f := range r.Findings {
		document.Findings = append(document.Findings, finding(f))
		lines = append(lines, f.String())
	}
	checked := fmt.Sprintf("checked %d entries of %d chains against %d checkpoints", r.Entries, r.Chains,
		r.Checkpoints)
	if document.Valid {
		checked = "valid: " + checked
	}
	lines = append(lines, checked)
	if r.Uncovered > 0 {
		lines = append(lines, fmt.Sprintf("not covered by a checkpoint yet: %d entries", r.Uncovered))
	}
	if err := a.Print(document, lines...); err != nil || document.Valid {
		return err
	}
	return &exitcode.Error{Kind: exitcode.Refused,
		Err:  fmt.Errorf("audit log of %s: changed since it was written: findings: %d", database, len(r.Findings)),
		Hint: "keep the database and the checkpoint file as they are, and compare them with a backup"}
}
