package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/indexer"
	"github.com/haggle-protocol/haggle/sdk/identity"
)

const indexDeclareHelp = `Adds the declarations in files to the index: the statements in which agents name their strategy, their model
and the hash of its prompt, signed by the agent's key ("haggle wallet declare" writes them). All files are
added, or none. A declaration is refused if its agent has not signed it, if its time is more than a minute in
the future, or if the agent has 1,000 declarations. A file has at most 1 MiB. A repetition changes nothing.

For a side of a negotiation its agent's latest declaration up to the creation holds. To read a folder of
declarations while the indexer runs: haggle index run --declarations FOLDER.`

func newIndexDeclareCommand(i *indexCommand) *cobra.Command {
	cmd := &cobra.Command{
		Use: "declare FILE...", Short: "Add signed declarations of agents", Long: indexDeclareHelp,
		Example: `  haggle index declare buyer.jsonl seller.jsonl
  haggle index declare declarations.jsonl --db postgres://haggle@db.example/haggle`,
	}
	command.Documents(cmd, declareView{})
	cmd.RunE = i.Limited(func(ctx context.Context, files []string) error {
		var declarations []identity.Declaration
		for _, file := range files {
			read, err := indexer.ReadDeclarationFile(file)
			if errors.As(err, new(*fs.PathError)) {
				return exitcode.Usagef("FILE: %w", err)
			}
			if err != nil {
				return Failure(err)
			}
			declarations = append(declarations, read...)
		}
		database, err := indexer.OpenExisting(ctx, i.databaseAddress())
		if err != nil {
			return Failure(err)
		}
		result, err := database.Declare(ctx, declarations)
		if err = errors.Join(err, database.Close()); err != nil {
			return Failure(err)
		}
		v := declareView{result.Added, result.Unchanged}
		return i.Print(v, fmt.Sprintf("%d added, %d unchanged", v.Added, v.Unchanged))
	})
	return cmd
}

type declareView struct {
	// Added counts new declarations.
	Added int `json:"added"`
	// Unchanged counts the declarations that the index already contains, or that conflict with a kept
	// declaration of the same agent and time.
	Unchanged int `json:"unchanged"`
}
