package jsonrpc_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/localnet/jsonrpc"
)

// recordVariable makes the first test replace the recording with a validator's responses: make record-validator.
const recordVariable = "HAGGLE_RECORD_VALIDATOR"

func TestResponsesAreThoseOfAValidator(t *testing.T) {
	if os.Getenv(recordVariable) != "" {
		writeRecording(t, recordings, responses(t, localnet.Validator))
	}
	recorded := readRecording(t, recordings)
	require.NotEmpty(t, recorded)
	unused := maps.Clone(differences)
	for _, found := range differencesOf(t, recorded, responses(t, localnet.Process)) {
		if key, accepted := acceptedDifference(found); accepted {
			delete(unused, key)
			continue
		}
		t.Error(found)
	}
	require.Empty(t, slices.Sorted(maps.Keys(unused)), "these differences no longer exist: remove them from the list")
}

// TestResponsesAreReproducible runs the scenario on two chains: a differing field is volatile, and could not
// be compared with a recording.
func TestResponsesAreReproducible(t *testing.T) {
	first := map[string][]exchange{}
	methods := map[string]bool{}
	for _, g := range responses(t, localnet.Process) {
		first[g.name] = g.exchanges
		for _, each := range g.exchanges {
			methods[each.Method] = true
		}
	}
	for _, method := range jsonrpc.Methods() {
		require.True(t, methods[method], "the scenario lacks %s", method)
	}
	require.Empty(t, differencesOf(t, first, responses(t, localnet.Process)))
}

// responses runs the scenario on a new chain.
func responses(t *testing.T, kind localnet.Kind) []group {
	t.Helper()
	for _, variable := range []string{localnet.EnvRPCURL, localnet.EnvWSURL, localnet.EnvUpgradeAuthority} {
		t.Setenv(variable, "")
	}
	chain, err := localnet.StartChain(t.Context(), localnet.Options{Kind: kind})
	require.NoError(t, err)
	defer func() { require.NoError(t, chain.Close()) }()
	s := play(newSession(t, chain.RPCURL(), chain.WSURL()))
	s.protocol()
	s.chain()
	s.fees()
	s.blocks()
	s.accounts()
	s.transactionRequests()
	s.sendRequests()
	s.simulateRequests()
	return s.groups
}

// differencesOf compares the responses of two runs of the scenario, whose requests must be the same.
func differencesOf(t *testing.T, recorded map[string][]exchange, groups []group) []difference {
	t.Helper()
	var found []difference
	var names []string
	for _, g := range groups {
		names = append(names, g.name)
		want := recorded[g.name]
		require.Equal(t, requestsOf(t, want), requestsOf(t, g.exchanges),
			"%s: the scenario has changed, run make record-validator", g.name)
		for i, got := range g.exchanges {
			for _, each := range compare("", generic(t, want[i].Response), generic(t, got.Response)) {
				each.step = fmt.Sprintf("%s/%s", g.name, got.Name)
				found = append(found, each)
			}
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(recorded)), names, "run make record-validator")
	return found
}

// requestsOf returns the exchanges without the responses.
func requestsOf(t *testing.T, exchanges []exchange) []exchange {
	t.Helper()
	requests := slices.Clone(exchanges)
	for i := range requests {
		requests[i].Params, requests[i].Response = generic(t, requests[i].Params), nil
	}
	return requests
}
