package negmas

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/roundrobin"
)

// TestDemoPredictsAsNegmas requires the demonstration's prediction for every negotiation played by NegMAS: all
// offers, their number, the agreement. A GENIUS agent's offer can be one base unit off NegMAS', which always
// rounds in the agent's favor: see [Demo.PredictUp].
func TestDemoPredictsAsNegmas(t *testing.T) {
	demo := NewDemo()
	exact, ruled := 0, 0
	recorded := recordedDemo(t)
	for _, session := range recorded.Sessions {
		require.Len(t, session.Answers, 1)
		theirs := session.Answers[0]
		ours, err := demo.Predict(session.Session)
		require.NoError(t, err)
		up, err := demo.PredictUp(session.Session)
		require.NoError(t, err)
		require.True(t, up.Equals(theirs), "%v: NegMAS %v, engine %v", session.Session, theirs, up)
		if theirs.IsRuled {
			ruled++
		}
		if ours.Equals(theirs) {
			exact++
			continue
		}
		require.True(t, strings.HasPrefix(session.Second, "genius-"), "%v: NegMAS %v, predicted %v",
			session.Session, theirs, ours)
		require.Len(t, ours.Offers, len(theirs.Offers))
		for round, price := range ours.Offers {
			if round%2 == 1 && price != theirs.Offers[round] {
				price++
			}
			require.Equal(t, theirs.Offers[round], price, "%v: offer %d", session.Session, round+1)
		}
	}
	require.Equal(t, 12, exact, "equal to the unit")
	require.Less(t, ruled, len(recorded.Sessions), "NegMAS alone predicts some")
}

// TestDemoRecordingIsComplete requires results for every pair of strategies available in NegMAS, with the
// terms of the demonstration, and a reason for every other strategy.
func TestDemoRecordingIsComplete(t *testing.T) {
	demo := NewDemo()
	recorded := recordedDemo(t)
	hash, err := demo.Hash()
	require.NoError(t, err)
	require.Equal(t, map[string]string{DemoName: hash}, recorded.Scenarios, "run make negmas-domains")
	var sessions []Session
	for _, session := range recorded.Sessions {
		sessions = append(sessions, session.Session)
	}
	require.Equal(t, demo.Sessions(), sessions, "run make negmas-domains")

	page, err := os.ReadFile("../../docs/NEGMAS_DOMAINS.md")
	require.NoError(t, err)
	lacking := 0
	for _, name := range roundrobin.Strategies {
		if reason := demo.Lacking(name); reason != "" {
			lacking++
			require.Contains(t, string(page), "- `"+name+"`: "+reason)
		}
	}
	with := len(roundrobin.Strategies) - lacking
	require.Len(t, sessions, with*(with-1))
	require.Len(t, demo.Pairs(), len(roundrobin.Strategies)*(len(roundrobin.Strategies)-1))
}

func recordedDemo(t *testing.T) *Recorded {
	data, err := os.ReadFile("testdata/" + DemoFile)
	require.NoError(t, err)
	r := new(Recorded)
	require.NoError(t, json.Unmarshal(data, r))
	require.Equal(t, "0.16.0", r.Version)
	return r
}
