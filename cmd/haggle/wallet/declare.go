package wallet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/identity"
)

const declareHelp = `Prints a declaration for research: the wallet's signed statement of how it negotiates from now on, until its
next declaration. Names have up to 64 letters, digits and the characters " ._:/+-". Of the prompt only the
SHA-256 is published. Give the line to those who index negotiations: haggle index declare FILE.

The signature proves who made the statement, not that it is true.`

func newWalletDeclareCommand(s *session.Session) *cobra.Command {
	var d identity.Declaration
	var prompt string
	cmd := &cobra.Command{
		Use: "declare", Short: "Sign a statement of strategy, model and prompt", Long: declareHelp,
		Example: `  haggle wallet declare --strategy genius-boulware >> declarations.jsonl
  haggle wallet declare --model a/model-1 --prompt prompt.txt >> declarations.jsonl`,
	}
	cmd.Flags().StringVar(&d.Strategy, "strategy", "", "name of the strategy")
	cmd.Flags().StringVar(&d.Model, "model", "", "name of the language model")
	cmd.Flags().StringVar(&prompt, "prompt", "", "file with the model's instructions")
	cmd.MarkFlagsOneRequired("strategy", "model", "prompt")
	command.Documents(cmd, identity.Declaration{})
	cmd.RunE = s.Limited(func(ctx context.Context, _ []string) error {
		if prompt != "" {
			content, err := os.ReadFile(prompt)
			if err != nil {
				return exitcode.Usagef("--prompt: %w", err)
			}
			d.PromptHash = identity.PromptHash(content)
		}
		key, err := s.Connection.Signer(ctx)
		if err != nil {
			return err
		}
		d.DeclaredAt = time.Now().Unix()
		signed, err := identity.Declare(ctx, key, d)
		if errors.Is(err, identity.ErrDeclaration) {
			return exitcode.Usagef("%w", err)
		}
		if err != nil {
			return err
		}
		line, err := json.Marshal(signed)
		if err != nil {
			return fmt.Errorf("declaration: %w", err)
		}
		return s.Print(signed, string(line))
	})
	return cmd
}
