package index

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/indexer"
)

const indexExportHelp = `Writes one snapshot of a table to a file. The file appears when it is complete; an existing file stays
until then. Amounts are base units of the mint, times Unix seconds of the chain's clock; further columns have
them as tokens (amount_tokens) and as ISO 8601 in UTC (created_time). --out - writes CSV to stdout.`

func newIndexExportCommand(i *indexCommand) *cobra.Command {
	var format, out string
	cmd := &cobra.Command{
		Use: "export " + strings.Join(tableNames(), "|"), Short: "Write offers, outcomes, events or totals as CSV or Parquet",
		Long: indexExportHelp,
		Example: `  haggle index export outcomes --out outcomes.csv
  haggle index export offers --format parquet --out offers.parquet
  haggle index export totals --out - | column -ts,`,
		ValidArgs: tableNames(),
	}
	cmd.Flags().StringVar(&format, "format", string(indexer.CSV), "csv or parquet")
	cmd.Flags().StringVar(&out, "out", "", "file to write; - for stdout")
	command.Required(cmd, "out")
	command.Choices(cmd, "format", string(indexer.CSV), string(indexer.Parquet))
	command.Documents(cmd, exportView{})
	cmd.RunE = i.Unlimited(func(ctx context.Context, arguments []string) error {
		table, is := indexer.TableNamed(arguments[0])
		if !is {
			return exitcode.Usagef("table %q: use one of %s", arguments[0], strings.Join(tableNames(), ", "))
		}
		if format != string(indexer.CSV) && format != string(indexer.Parquet) {
			return exitcode.Usagef("--format: %q is neither csv nor parquet", format)
		}
		if out == "-" && format == string(indexer.Parquet) {
			return exitcode.Usagef("--out: parquet needs a file")
		}
		database, err := indexer.OpenExisting(ctx, i.databaseAddress())
		if err != nil {
			return Failure(err)
		}
		return Failure(errors.Join(i.export(ctx, database, table, indexer.Format(format), out), database.Close()))
	})
	return cmd
}

type exportView struct {
	Table  string `json:"table"`
	Format string `json:"format"`
	File   string `json:"file"`
	Rows   int64  `json:"rows"`
}

func tableNames() (names []string) {
	for _, table := range indexer.Tables {
		names = append(names, table.Name)
	}
	return names
}

func (i *indexCommand) export(ctx context.Context, database *indexer.Database, table indexer.Table, format indexer.Format, out string) error {
	if out == "-" {
		_, err := database.Export(ctx, table, format, i.Stdout)
		return err
	}
	rows, err := database.ExportFile(ctx, table, format, out)
	if err != nil {
		return err
	}
	v := exportView{table.Name, string(format), out, rows}
	return i.Print(v, fmt.Sprintf("%d rows to %s", rows, out))
}
