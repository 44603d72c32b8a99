// Package command builds cobra commands whose errors show the usage.
package command

import (
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
)

// SuggestionDistance is the largest number of wrong letters for suggesting a similar command.
const SuggestionDistance = 2

// Group returns a command that holds subcommands and prints its help.
func Group(use, short, long string, members ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use: use, Short: short, Long: long, SuggestionsMinimumDistance: SuggestionDistance,
		Args: Known,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	group.AddCommand(members...)
	return group
}

// Known refuses the name of a nonexistent subcommand, and suggests a similar name.
func Known(cmd *cobra.Command, arguments []string) error {
	if len(arguments) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help"
	if similar := cmd.SuggestionsFor(arguments[0]); len(similar) > 0 {
		hint = "did you mean " + strings.Join(similar, " or ") + "?"
	}
	return &exitcode.Error{Kind: exitcode.Usage, Hint: hint, Err: fmt.Errorf("%s has no command %q", cmd.CommandPath(), arguments[0])}
}

// CheckArguments makes every command below parent check the argument count against the usage line: NAME is
// required, [NAME] is optional, and NAME... can be repeated.
func CheckArguments(parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		if cmd.Runnable() && cmd.Args == nil {
			cmd.Args = asInUsage
		}
		CheckArguments(cmd)
	}
}

func asInUsage(cmd *cobra.Command, arguments []string) error {
	least, most := 0, 0
	for _, name := range strings.Fields(cmd.Use)[1:] {
		most++
		if !strings.HasPrefix(name, "[") {
			least++
		}
		if strings.HasSuffix(name, "...") {
			most = math.MaxInt
		}
	}
	if len(arguments) < least || len(arguments) > most {
		given := english.Plural(len(arguments), "argument", "")
		return fmt.Errorf("%s given; the usage is: %s", given, cmd.UseLine())
	}
	return nil
}

// Choices registers a flag's values for completion.
func Choices(cmd *cobra.Command, flag string, values ...string) {
	complete := cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err)
	}
}

// Required marks flags as required by the command.
func Required(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}
