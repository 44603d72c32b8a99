package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// invited returns an invitation for a seller.
func invited() *haggle.Snapshot {
	n := newTurn(protocol.OfferSideSeller).Negotiation
	n.Status, n.TurnDeadline, n.Time = protocol.NegotiationStatusCreated, n.GlobalDeadline, n.CreatedAt+10
	n.TokenMint, n.DecayRateBps = solana.PublicKey{5}, 150
	return n
}

const (
	accepted = `{"reason":"the escrow is enough","answer":"accept"}`
	declined = `{"reason":"too little","answer":"reject"}`
)

func TestModelDecidesAboutInvitations(t *testing.T) {
	const noUsable, disagree = "no model has given a usable answer", "the models disagree"
	broken, yes, no := errors.New("unauthorized"), saying("test:yes", accepted), saying("test:no", declined)
	for name, test := range map[string]struct {
		models   []llm.Model
		declines bool
		refused  bool
		fallback string
	}{
		"accepts":                    {[]llm.Model{yes}, false, false, ""},
		"declines":                   {[]llm.Model{no}, false, true, ""},
		"declines by majority":       {[]llm.Model{no, yes, no}, false, true, ""},
		"fails":                      {[]llm.Model{failing(9, broken)}, false, false, noUsable},
		"fails, the owner declines":  {[]llm.Model{failing(9, broken)}, true, true, noUsable},
		"prose":                      {[]llm.Model{saying("test:a", "yes")}, true, true, noUsable},
		"another word":               {[]llm.Model{saying("test:a", `{"reason":"","answer":"yes"}`)}, true, true, noUsable},
		"a move":                     {[]llm.Model{saying("test:a", accepting)}, true, true, noUsable},
		"a tie":                      {[]llm.Model{no, yes}, false, false, disagree},
		"a tie, the owner declines":  {[]llm.Model{no, yes}, true, true, disagree},
		"a failure and a refusal":    {[]llm.Model{failing(9, broken), no}, false, true, ""},
		"a failure and an agreement": {[]llm.Model{failing(9, broken), yes}, true, false, ""},
	} {
		var record llm.Record
		player := newPlayer(t, test.models[0], llm.Options{
			Ensemble: test.models[1:], DeclineOnFailure: test.declines, Logger: quiet,
			Decided: func(r llm.Record) error { record = r; return nil },
		})
		err := player.Admit(t.Context(), invited())
		require.Equal(t, test.refused, err != nil, name)
		if test.refused {
			require.ErrorIs(t, err, agent.ErrRefused, name)
			require.NotContains(t, err.Error(), "too little", "the model's text is not in errors")
		}
		require.Equal(t, test.fallback, record.Fallback, name)
		require.Equal(t, map[bool]string{true: "reject", false: "accept"}[test.refused], record.Move.Move, name)
		require.Equal(t, "invitation", record.Question)
	}
}

// TestInvitationIsAskedOnceAndInNumbers compares the facts, with and without the agent's limits.
func TestInvitationIsAskedOnceAndInNumbers(t *testing.T) {
	var request llm.Request
	model := &scriptedModel{name: "test:model"}
	model.respond = func(_ context.Context, r llm.Request) (*llm.Response, error) {
		request = r
		return answered(accepted)
	}
	player := newPlayer(t, model, llm.Options{Principal: "Sell summaries.", Logger: quiet})
	player.Mints = map[solana.PublicKey]agent.Limits{{5}: {Decimals: 6, MinPrice: 2_000_000}}
	for range 3 {
		require.NoError(t, player.Admit(t.Context(), invited()))
	}
	require.EqualValues(t, 1, model.calls.Load())
	require.JSONEq(t, `{"role":"seller","invitation":{
		"effective_escrow":"5","fee_bps_of_price":50,"escrow_decay_bps_per_offer":150,"response_window_seconds":300,
		"least_acceptable_price":"2.01005","lowest_first_offer":"0.4925","highest_first_offer":"4.925","max_offers":8,
		"seconds_from_creation_to_deadline":3600,"bond":"0"}}`, request.Input)
	require.Contains(t, request.Instructions, "Sell summaries.")
	var schema map[string]any
	require.NoError(t, json.Unmarshal(request.Schema, &schema))
	require.Equal(t, []any{"reason", "answer"}, schema["required"])

	n := invited()
	n.Status = protocol.NegotiationStatusProposed
	require.NoError(t, player.Admit(t.Context(), n))
	require.EqualValues(t, 1, model.calls.Load(), "a buyer has invited itself")
}

// TestInvitationIsAnsweredInTime asks a model that is slower than the invitation lasts.
func TestInvitationIsAnsweredInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := invited()
		n.TurnDeadline = n.Time + 40
		player := newPlayer(t, slow(time.Minute, true), llm.Options{Logger: quiet})
		begun := time.Now()
		require.NoError(t, player.Admit(t.Context(), n))
		require.Equal(t, 30*time.Second, time.Since(begun))
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		begun = time.Now()
		require.NoError(t, player.Admit(ctx, n))
		require.Equal(t, 7*time.Second, time.Since(begun))
		time.Sleep(time.Hour)
	})
}
