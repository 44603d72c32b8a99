package hire

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// timeoutFlags are the timeouts of a home's conversations.
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
func (f *timeoutFlags) timeouts() (hire.Timeouts, error) {
	defaults := hire.Timeouts{}.WithDefaults()
	set := func(flag duration.Flag, common time.Duration) time.Duration {
		if time.Duration(flag) == common {
			return 0
		}
		return time.Duration(flag)
	}
	timeouts := hire.Timeouts{
		FirstResponse: set(f.firstResponse, defaults.FirstResponse),
		Clarification: set(f.clarification, defaults.Clarification),
		Acceptance:    set(f.acceptance, defaults.Acceptance),
	}
	for flag, timeout := range map[string]duration.Flag{
		"first-response": f.firstResponse, "clarification": f.clarification, "acceptance": f.acceptance,
	} {
		if timeout < duration.Flag(time.Second) || timeout > duration.Flag(hire.MaxTimeout) {
			return timeouts, exitcode.Usagef("--%s: must be from 1s to %s", flag, duration.Format(hire.MaxTimeout))
		}
	}
	return timeouts, nil
}
