package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const planted = "sk-planted-7f3a9c"

// leaking returns a model that breaks the rules of [llm.Model]: its errors contain a key.
func leaking(err func(text string) error) *scriptedModel {
	return &scriptedModel{name: "test:leaking", respond: func(context.Context, llm.Request) (*llm.Response, error) {
		return nil, err("Authorization: Bearer " + planted)
	}}
}

// TestKeysAppearNowhere plants a key in model errors, a panic and the principal's text, and searches logs at
// all levels, records, JSON and formatted values.
func TestKeysAppearNowhere(t *testing.T) {
	for name, model := range map[string]*scriptedModel{
		"temporary":   leaking(func(s string) error { return &llm.TemporaryError{Status: 500, Err: errors.New(s)} }),
		"network":     leaking(func(s string) error { return &llm.TemporaryError{Err: errors.New(s)} }),
		"unusable":    leaking(func(s string) error { return &llm.ResponseError{Err: errors.New(s)} }),
		"other":       leaking(func(s string) error { return errors.New(s) }),
		"panic":       leaking(func(s string) error { panic(s) }),
		"no JSON":     saying("test:leaking", planted),
		"invalid":     saying("test:leaking", `{"move":"`+planted+`","price":"`+planted+`"}`),
		"other field": saying("test:leaking", `{"move":"offer","candidate":1,"key":"`+planted+`"}`),
	} {
		var logs bytes.Buffer
		var records []llm.Record
		player := newPlayer(t, model, llm.Options{
			Opening: buyerOpening, Principal: "My key is " + planted,
			Logger:  slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Decided: func(r llm.Record) error { records = append(records, r); return nil }, Attempts: 1,
		})
		decision, err := player.Decide(t.Context(), bargained())
		require.NoError(t, err)
		require.NoError(t, player.Admit(t.Context(), invited()))
		require.Len(t, records, 2)
		text, err := json.Marshal(records)
		require.NoError(t, err)
		spending, err := json.Marshal(player.Spending())
		require.NoError(t, err)
		for place, shown := range map[string]string{
			"log": logs.String(), "JSON": string(text), "spending": string(spending),
			"format": fmt.Sprintf("%+v %#v %v", records, records, decision),
		} {
			require.NotContains(t, shown, "planted", "%s: %s", name, place)
		}
		require.Contains(t, logs.String(), "no answer of a language model", name)
		require.Contains(t, logs.String(), `msg="no usable answer of a language model: carrying out the default"`, name)
	}
}

// TestPromptsAreLoggedOnRequestOnly compares the logs with and without LogPrompts.
func TestPromptsAreLoggedOnRequestOnly(t *testing.T) {
	for _, permitted := range []bool{false, true} {
		var logs bytes.Buffer
		model := saying("test:model", `{"reason":"because of its text","move":"offer","candidate":1,"price":""}`)
		player := newPlayer(t, model, llm.Options{
			Opening: buyerOpening, Principal: "Buy for my garden.", LogPrompts: permitted,
			Logger: slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		_, err := player.Decide(t.Context(), newTurn(protocol.OfferSideBuyer, 1_500_000, 4_000_000))
		require.NoError(t, err)
		require.NotEmpty(t, logs.String())
		for _, private := range []string{"Buy for my garden.", "because of its text", "strategy_move"} {
			require.Equal(t, permitted, bytes.Contains(logs.Bytes(), []byte(private)), private)
		}
	}
}

// TestReasonsInRecordsArePrintableAndShort covers terminal codes, invalid UTF-8 and long texts.
func TestReasonsInRecordsArePrintableAndShort(t *testing.T) {
	long := "x"
	for range 400 {
		long += "é"
	}
	for reason, want := range map[string]string{
		`\u001b[31mred\u0007\n`: " [31mred  ", `a\u202eb`: "a b", long: long[:299], "\xffx": " x",
	} {
		model := saying("test:model", `{"reason":"`+reason+`","move":"offer","candidate":1,"price":""}`)
		record, _ := decide(t, t.Context(), model, bargained(), llm.Options{})
		require.Equal(t, want, record.Answers[0].Reason)
	}
}
