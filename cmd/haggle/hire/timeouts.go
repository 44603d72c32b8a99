package hire

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// timeoutFlags holds the timeouts for a home's conversations.
type timeoutFlags struct{ firstResponse, clarification, acceptance duration.Flag }

func (f *timeoutFlags) register(cmd *cobra.Command) {
	defaults := hire.Timeouts{}.WithDefaults()
	f.firstResponse = duration.Flag(defaults.FirstResponse)
	f.clarification = duration.Flag(defaults.Clarification)
	f.acceptance = duration.Flag(defaults.Acceptance)
	flags := cmd.Flags()
	flags.Var(&f.firstResponse, "first-response", "time for the first response to a proposal")
	flags.Var(&f.clarification, "clarification", "time for a response after a clarification")
	flags.Var(&f.acceptance, "acceptance", "time for any other response, and for the second acceptance")
}

// timeouts returns the timeouts of the flags; zero in place of the defaults.
func (f *timeoutFlags) timeouts() (timeouts hire.Timeouts, err error) {
	defaults := hire.Timeouts{}.WithDefaults()
	for _, set := range []struct {
		flag    string
		value   duration.Flag
		usual   time.Duration
		timeout *time.Duration
	}{
		{"first-response", f.firstResponse, defaults.FirstResponse, &timeouts.FirstResponse},
		{"clarification", f.clarification, defaults.Clarification, &timeouts.Clarification},
		{"acceptance", f.acceptance, defaults.Acceptance, &timeouts.Acceptance},
	} {
		value := time.Duration(set.value)
		if value < time.Second || value > hire.MaxTimeout {
			return timeouts, exitcode.Usagef("--%s: must be from 1s to %s", set.flag, duration.Format(hire.MaxTimeout))
		}
		if value != set.usual {
			*set.timeout = value
		}
	}
	return timeouts, nil
}
