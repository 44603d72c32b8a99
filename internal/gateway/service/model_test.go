package service_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/model"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/store/storetest"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// A language model's text is for the publisher and the publisher's audit log alone. The test records an
// answer as a job does.
func TestTextOfALanguageModelIsForThePublisher(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		id := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
		const prose = "Your proposal is reasonable; our minimum is 0.001."
		report := &model.Report{Model: "openai:gpt-4", Text: prose, LowestMicro: 1750, HighestMicro: 2750, Tokens: 245}
		analysis, err := json.Marshal(service.RecordedAnalysis{Tone: engine.Friendly, Model: report})
		require.NoError(t, err)
		write := func(offer terms.Terms, round store.Round) {
			round.Terms = offer.Canonical()
			require.NoError(t, storetest.Move(ctx, f.store, id, round))
		}
		write(at(1600), store.Round{Actor: engine.PartyClient})
		waiting, err := f.Status(ctx, f.openAI, id)
		require.NoError(t, err)
		require.True(t, waiting.AnswerPending)
		_, err = f.Counter(ctx, f.openAI, service.CounterRequest{Negotiation: id, Terms: at(1700)})
		require.Equal(t, time.Second, fails(t, err, service.Conflict, service.CodePending).RetryAfter)
		_, err = f.Accept(ctx, f.openAI, service.AcceptRequest{Offers: []service.Offer{{id, 2}}})
		fails(t, err, service.Conflict, service.CodeOfferChanged)
		write(at(1900), store.Round{
			Actor: engine.PartyPublisher, Reasoning: engine.ReasonPrice, Analysis: analysis, LLMModel: report.Model,
			LLMTokens: report.Tokens,
		})

		read, err := f.Status(ctx, f.openAI, id)
		require.NoError(t, err)
		require.False(t, read.AnswerPending)
		text := asJSON(t, read)
		require.NotContains(t, text, "reasonable")
		require.NotContains(t, text, "gpt-4")
		require.Equal(t, engine.ReasonPrice, read.Rounds[3].Reason)
		require.Equal(t, 2, read.Rounds[3].Number, "the answer belongs to the round of the proposal")
		accepted, err := f.Accept(ctx, f.openAI, service.AcceptRequest{Offers: []service.Offer{{id, 2}}})
		require.NoError(t, err)
		require.NotContains(t, asJSON(t, accepted), "reasonable")
		_, err = f.AuditLog(ctx, f.openAI, id, 0, 200)
		require.Error(t, err)

		own, err := f.Status(ctx, f.siteA, id)
		require.NoError(t, err)
		require.Equal(t, report, own.Rounds[3].Analysis.Model)
		entries, err := f.AuditLog(ctx, f.siteA, id, 0, 200)
		require.NoError(t, err)
		require.Contains(t, asJSON(t, entries), "reasonable")
	})
}
