package audit

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An entry's text and hash never change: old databases must stay verifiable.
func TestFormOfEntryIsFixed(t *testing.T) {
	links, head, err := Append(Head{Chain: "n"}, Entry{
		Time: time.Date(2026, 11, 22, 11, 0, 0, 1000, time.FixedZone("CET", 3600)), Kind: "round",
		Data: json.RawMessage(`{"price": 9007199254740993, "text": "<&>"}`),
	}, Entry{Kind: "status"})
	require.NoError(t, err)
	require.Equal(t, `{"chain":"n","sequence":1,"time":"2026-11-22T10:00:00.000001Z","kind":"round",`+
		`"data":{"price":9007199254740993,"text":"<&>"}}`, links[0].Text)
	require.Equal(t, `{"chain":"n","sequence":2,"time":"0001-01-01T00:00:00Z","kind":"status"}`,
		links[1].Text)
	require.Equal(t, Head{"n", 2, links[1].Hash}, head)
	require.Equal(t, "bdbba6f27e76e7c3f34f2df852b79ef1dd4b23a3c895f40c3119478b08cfbdb3", links[0].Hash)
	_, _, err = Append(Head{Chain: "n"}, Entry{Data: json.RawMessage(`{`)})
	require.ErrorContains(t, err, "audit chain n: entry 1: ")
}

func TestChainWithoutNameIsRefused(t *testing.T) {
	_, _, err := Append(Head{}, Entry{Kind: "round"})
	require.ErrorContains(t, err, "chain not named")
}

// Entries appended later continue the chain.
func TestAppendContinuesChain(t *testing.T) {
	first, head, err := Append(Head{Chain: "n"}, Entry{Kind: "a"})
	require.NoError(t, err)
	second, head, err := Append(head, Entry{Kind: "b"}, Entry{Kind: "c"})
	require.NoError(t, err)
	at, finding := VerifyChain("n", append(first, second...))
	require.Nil(t, finding)
	require.Equal(t, head, at)
	require.EqualValues(t, 3, head.Length)
}
