package protocol_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	us     = protocol.ProgramAddress
	token  = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
	other  = "ComputeBudget111111111111111111111111111111"
	router = "Hag9cFUF8SkuA8wQL1CmkGTaBBpfdpbNTjVzBkJPYpbR"
)

func offer(amount uint64) *protocol.OfferSubmitted {
	return &protocol.OfferSubmitted{NegotiationID: protocol.ProgramID, Amount: amount, Round: 1}
}

// logged returns an event in validator log notation.
func logged(event protocol.Event) string {
	return "Program data: " + base64.StdEncoding.EncodeToString(event.AppendTo(nil))
}

func TestParseLogs(t *testing.T) {
	unknown := "Program data: " + base64.StdEncoding.EncodeToString(make([]byte, 20))
	for name, c := range map[string]struct {
		logs    []string
		amounts []uint64
		err     error
	}{
		"nothing": {},
		"one event": {
			logs:    []string{"Program " + us + " invoke [1]", logged(offer(1)), "Program " + us + " consumed 700 of 200000 compute units", "Program " + us + " success"},
			amounts: []uint64{1},
		},
		"two instructions": {
			logs: []string{
				"Program " + other + " invoke [1]", "Program " + other + " success",
				"Program " + us + " invoke [1]", logged(offer(1)), "Program " + us + " success",
				"Program " + us + " invoke [1]", logged(offer(2)), "Program " + us + " success",
			},
			amounts: []uint64{1, 2},
		},
		"after a call to another program": {
			logs: []string{
				"Program " + us + " invoke [1]",
				"Program " + token + " invoke [2]", "Program " + token + " success",
				logged(offer(3)), "Program " + us + " success",
			},
			amounts: []uint64{3},
		},
		"called by another program": {
			logs: []string{
				"Program " + router + " invoke [1]", "Program log: Instruction: Route",
				"Program " + us + " invoke [2]", logged(offer(4)), "Program " + us + " success",
				"Program return: " + us + " AA==", "Program " + router + " success",
			},
			amounts: []uint64{4},
		},
		"another program's imitation": {
			logs: []string{"Program " + router + " invoke [1]", logged(offer(5)), "Program " + router + " success"},
		},
		"an imitation within a call of ours": {
			logs: []string{
				"Program " + us + " invoke [1]",
				"Program " + router + " invoke [2]", logged(offer(5)), "Program " + router + " success",
				logged(offer(6)), "Program " + us + " success",
			},
			amounts: []uint64{6},
		},
		"an imitation after a call of ours": {
			logs: []string{
				"Program " + router + " invoke [1]",
				"Program " + us + " invoke [2]", logged(offer(7)), "Program " + us + " success",
				logged(offer(8)), "Program " + router + " success",
			},
			amounts: []uint64{7},
		},
		"imitated lines in messages": {
			logs: []string{
				"Program " + router + " invoke [1]",
				"Program log: Program " + us + " invoke [2]", "Program log: " + logged(offer(9)),
				logged(offer(9)), "Program log: Program " + us + " success", "Program " + router + " success",
			},
		},
		"messages of ours": {
			logs: []string{"Program " + us + " invoke [1]", "Program log: " + logged(offer(9)), "Program " + us + " success"},
		},
		"a line outside of any call": {logs: []string{logged(offer(9))}},
		"a failed transaction": {
			logs: []string{
				"Program " + us + " invoke [1]", logged(offer(1)), "Program " + us + " success",
				"Program " + us + " invoke [1]", logged(offer(2)), "Program " + us + " failed: custom program error: 0x1772",
			},
		},
		"a program that gave up": {
			logs: []string{
				"Program " + us + " invoke [1]", logged(offer(1)),
				"Program failed to complete: exceeded CUs meter at BPF instruction", "Program " + us + " failed: Program failed to complete",
			},
		},
		"truncated": {
			logs:    []string{"Program " + us + " invoke [1]", logged(offer(1)), "Log truncated", "Program " + us + " success"},
			amounts: []uint64{1}, err: protocol.ErrLogsTruncated,
		},
		"an event of a later version": {
			logs:    []string{"Program " + us + " invoke [1]", unknown, logged(offer(1)), "Program " + us + " success"},
			amounts: []uint64{1}, err: protocol.ErrWrongDiscriminator,
		},
		"a truncated event": {
			logs: []string{"Program " + us + " invoke [1]", logged(offer(1))[:78], "Program " + us + " success"},
			err:  protocol.ErrWrongLength,
		},
		"not base 64": {
			logs: []string{"Program " + us + " invoke [1]", "Program data: ?", "Program " + us + " success"},
			err:  protocol.ErrMalformedLogs,
		},
		"a broken line": {
			logs: []string{"Program " + us + " invoke [1]", logged(offer(1)) + "\n", "Program " + us + " success"},
			err:  protocol.ErrMalformedLogs,
		},
		"the beginning is missing": {
			logs: []string{logged(offer(1)), "Program " + us + " success"},
			err:  protocol.ErrMalformedLogs,
		},
		"the end is missing": {
			logs:    []string{"Program " + us + " invoke [1]", logged(offer(1))},
			amounts: []uint64{1}, err: protocol.ErrMalformedLogs,
		},
		"a wrong depth": {
			logs: []string{"Program " + us + " invoke [2]", logged(offer(1)), "Program " + us + " success"},
			err:  protocol.ErrMalformedLogs,
		},
	} {
		t.Run(name, func(t *testing.T) {
			events, err := protocol.ParseLogs(c.logs)
			if c.err == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, c.err)
			}
			var amounts []uint64
			for _, event := range events {
				amounts = append(amounts, event.(*protocol.OfferSubmitted).Amount)
			}
			require.Equal(t, c.amounts, amounts)
		})
	}
}

// A truncated log returns the events before the end, and an error for both the truncation and the undecodable
// events.
func TestParseLogsReportsEverything(t *testing.T) {
	events, err := protocol.ParseLogs([]string{
		"Program " + us + " invoke [1]", "Program data: AAAAAAAAAAA=", logged(offer(1)), "Log truncated",
	})
	require.Len(t, events, 1)
	require.ErrorIs(t, err, protocol.ErrLogsTruncated)
	require.ErrorIs(t, err, protocol.ErrWrongDiscriminator)
}

// Every event type is found in a transaction's logs, unchanged and at the right position.
func TestParseLogsFindsEveryEvent(t *testing.T) {
	lines := []string{"Program " + us + " invoke [1]"}
	var names, found []string
	for _, f := range loadFixtures(t).Events {
		lines = append(lines, "Program data: "+base64.StdEncoding.EncodeToString(f.Data))
		names = append(names, f.Name)
	}
	events, err := protocol.ParseLogs(append(lines, "Program "+us+" success"))
	require.NoError(t, err)
	for i, event := range events {
		found = append(found, event.EventName())
		require.Equal(t, lines[i+1], logged(event))
	}
	require.Equal(t, names, found)
}
