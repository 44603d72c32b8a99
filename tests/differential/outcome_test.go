package differential

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// difference returns the first part that differs in the module's outcome, and both values. If the outcomes
// are equal, part is empty.
func (o *outcome) difference(module *outcome) (part, values string) {
	values = "native %v\nmodule %v"
	switch {
	case o.code != module.code:
		return "result", fmt.Sprintf(values, o.code, module.code)
	case !slices.Equal(o.log, module.log):
		return "log", fmt.Sprintf(values, strings.Join(o.log, "\n"), strings.Join(module.log, "\n"))
	case o.units != module.units:
		return "compute units", fmt.Sprintf(values, o.units, module.units)
	case !bytes.Equal(o.returned, module.returned):
		return "return data", fmt.Sprintf(values, o.returned, module.returned)
	case !maps.EqualFunc(o.changed, module.changed, model.Account.Equal):
		return "accounts", fmt.Sprintf(values, formatAccounts(o.changed), formatAccounts(module.changed))
	}
	return "", ""
}

func formatAccounts(accounts map[model.Address]model.Account) string {
	var text strings.Builder
	for _, address := range slices.SortedFunc(maps.Keys(accounts), compareAddresses) {
		account := accounts[address]
		fmt.Fprintf(&text, "\n  %s: %d lamports, owner %s, executable %t, data %x", address, account.Lamports,
			account.Owner, account.Executable, account.Data)
	}
	return text.String()
}

func TestOutcomesDifferInEachPart(t *testing.T) {
	of := func() *outcome {
		return &outcome{code: "0 success", units: 5, log: []string{"a", "b"}, returned: []byte{1},
			changed: map[model.Address]model.Account{{1}: {Lamports: 2, Data: []byte{3}}}}
	}
	part, _ := of().difference(of())
	require.Empty(t, part)
	for expected, changes := range map[string][]func(o *outcome){
		"result":        {func(o *outcome) { o.code = "1 other" }},
		"compute units": {func(o *outcome) { o.units++ }},
		"log":           {func(o *outcome) { o.log[1] = "c" }, func(o *outcome) { o.log = o.log[:1] }},
		"return data":   {func(o *outcome) { o.returned[0]++ }, func(o *outcome) { o.returned = nil }},
		"accounts": {
			func(o *outcome) { o.changed = nil },
			func(o *outcome) { o.changed[model.Address{2}] = model.Account{} },
			func(o *outcome) { o.changed[model.Address{1}] = model.Account{Lamports: 3, Data: []byte{3}} },
			func(o *outcome) { o.changed[model.Address{1}] = model.Account{Lamports: 2, Data: []byte{4}} },
			func(o *outcome) {
				o.changed[model.Address{1}] = model.Account{Lamports: 2, Data: []byte{3}, Executable: true}
			},
			func(o *outcome) {
				o.changed[model.Address{1}] = model.Account{Lamports: 2, Data: []byte{3}, Owner: impostor}
			},
		},
	} {
		for _, change := range changes {
			changed := of()
			change(changed)
			part, _ := of().difference(changed)
			require.Equal(t, expected, part)
		}
	}
}
