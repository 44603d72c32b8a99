package audit

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The text and the hash of an entry never change: old databases must stay verifiable.
func TestTheFormOfAnEntryIsFixed(t *testing.T) {
	links, head, err := Append(Head{Negotiation: "n"}, Entry{
		Time: time.Date(2026, 11, 22, 11, 0, 0, 1000, time.FixedZone("CET", 3600)), Kind: "round",
		Data: json.RawMessage(`{"price": 9007199254740993, "text": "<&>"}`),
	}, Entry{Kind: "status"})
	require.NoError(t, err)
	require.Equal(t, `{"negotiation":"n","sequence":1,"time":"2026-11-22T10:00:00.000001Z","kind":"round",`+
		`"data":{"price":9007199254740993,"text":"<&>"}}`, links[0].Text)
	require.Equal(t, `{"negotiation":"n","sequence":2,"time":"0001-01-01T00:00:00Z","kind":"status"}`,
		links[1].Text)
	require.Equal(t, Head{"n", 2, links[1].Hash}, head)
	require.Equal(t, "e8622dae493d6f75198d160d665c8e83af70104b91f261eb9ee949506b45b945", links[0].Hash)
	_, _, err = Append(Head{Negotiation: "n"}, Entry{Data: json.RawMessage(`{`)})
	require.ErrorContains(t, err, "audit entry 1 of negotiation n")
}
