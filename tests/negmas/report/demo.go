package main

import (
	"fmt"
	"strings"

	"github.com/haggle-protocol/haggle/internal/cli/roundrobin"
	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/tests/negmas"
)

// compareDemo records NegMAS' results for the demonstration's negotiations, and returns the values for the
// page.
func compareDemo(python, folder string) (map[string]any, error) {
	demo := negmas.NewDemo()
	recorded, err := recordDemo(python, folder, demo)
	if err != nil {
		return nil, err
	}
	tokens := func(units uint64) string {
		return amount.Tokens{Units: units, Decimals: localnet.Decimals}.Decimal()
	}
	table := report.NewTable("buyer", "seller", "NegMAS' offers", "price", "predicted", "rule")
	exact := 0
	for _, session := range recorded.Sessions {
		theirs := session.Answers[0]
		ours, err := demo.Predict(session.Session)
		if err != nil {
			return nil, err
		}
		if ours.Equals(theirs) {
			exact++
		}
		var offers []string
		for _, price := range theirs.Offers {
			offers = append(offers, tokens(price))
		}
		rule := ""
		if theirs.IsRuled {
			rule = "yes"
		}
		// The last offer is the agreement.
		table.Row(session.First, session.Second, strings.Join(offers, ", "), offers[len(offers)-1],
			tokens(ours.Offers[len(ours.Offers)-1]), rule)
	}
	var lacking strings.Builder
	for _, name := range roundrobin.Strategies {
		if reason := demo.Lacking(name); reason != "" {
			fmt.Fprintf(&lacking, "- `%s`: %s\n", name, reason)
		}
	}
	return map[string]any{
		"demo": table.String(), "demoLacking": lacking.String(), "demoPairs": len(demo.Pairs()),
		"demoSessions": len(recorded.Sessions), "demoExact": exact,
		"demoRest": len(demo.Pairs()) - len(recorded.Sessions),
	}, nil
}
