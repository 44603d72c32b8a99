package roundrobin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

// TestChainAndSimulationAgree plays every match on a real local chain.
func TestChainAndSimulationAgree(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Run(t.Context(), Options{Out: &out, Progress: t.Output(), JSON: true, Seed: 7}))
	deals, courses := 0, map[string]bool{}
	lines := 0
	for scanner := bufio.NewScanner(&out); scanner.Scan(); lines++ {
		var m Match
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &m))
		require.Equal(t, m.Predicted, m.Actual, "%s and %s", m.Buyer, m.Seller)
		require.True(t, m.Equal)
		if m.Actual.Price > 0 {
			deals++
		}
		course, err := json.Marshal(m.Actual)
		require.NoError(t, err)
		courses[string(course)] = true
	}
	require.Equal(t, len(Strategies)*(len(Strategies)-1), lines)
	require.Greater(t, deals, lines/4)
	require.Greater(t, len(courses), lines/2, "the strategies differ")
}

// TestAllStrategiesDoOnChainWhatTheSimulationPredicts plays every named strategy, and some with parameters, as
// buyer and as seller.
func TestAllStrategiesDoOnChainWhatTheSimulationPredicts(t *testing.T) {
	var out bytes.Buffer
	names := append(strategy.Names(), "negmas-boulware:e=6", "negmas-tit-for-tat:kindness=0.1")
	require.NoError(t, Run(t.Context(), Options{
		Out: &out, Progress: t.Output(), JSON: true, Seed: 3, Strategies: names, ring: true,
	}))
	lines := 0
	for scanner := bufio.NewScanner(&out); scanner.Scan(); lines++ {
		var m Match
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &m))
		require.Equal(t, m.Predicted, m.Actual, "%s and %s", m.Buyer, m.Seller)
	}
	require.Equal(t, len(names), lines)
}

func TestEachPartOfAnOutcomeIsCompared(t *testing.T) {
	base := func() Outcome {
		return Outcome{Status: "Settled", Offers: []uint64{1, 2}, Price: 2, Fee: 3, Refund: 4, Decay: 5}
	}
	require.True(t, base().equal(base()))
	for _, change := range []func(*Outcome){
		func(o *Outcome) { o.Status = "Rejected" }, func(o *Outcome) { o.Offers[0]++ },
		func(o *Outcome) { o.Offers = o.Offers[:1] }, func(o *Outcome) { o.Price++ },
		func(o *Outcome) { o.Fee++ }, func(o *Outcome) { o.Refund++ }, func(o *Outcome) { o.Decay++ },
	} {
		other := base()
		change(&other)
		require.False(t, base().equal(other))
	}
}
