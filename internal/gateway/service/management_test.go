package service_test

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/model"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

func TestAChangeOfAStrategyIsANewVersion(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		n := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0]
		list, err := f.Strategies(ctx, f.siteA, 0, store.Page{})
		require.NoError(t, err)
		first := list.Items[0]
		second, err := f.UpdateStrategy(ctx, f.siteA, first.ID,
			[]byte(`{"preferred_price_per_fetch_micro": 3000, "allowed_purposes": ["inference", "search"]}`))
		require.NoError(t, err)
		require.EqualValues(t, 2, second.Version)
		require.EqualValues(t, 3000, second.PreferredPrice)
		require.EqualValues(t, 1000, second.MinPrice, "other fields stay")
		require.True(t, second.IsActive)
		first, err = f.Strategy(ctx, f.siteA, first.ID)
		require.NoError(t, err)
		require.False(t, first.IsActive)
		require.EqualValues(t, 2000, first.PreferredPrice)
		counter := service.CounterRequest{Negotiation: n.Negotiation.ID, Terms: at(1500)}
		answer, err := f.Counter(ctx, f.openAI, counter)
		require.NoError(t, err)
		require.Less(t, answer.Terms.Price, n.Terms.Price, "the negotiation keeps its version")
		facts, err := f.PublicStrategy(ctx, "site-a.local")
		require.NoError(t, err)
		require.Equal(t, []terms.Purpose{terms.Inference, terms.Search}, facts.Purposes)

		activated, err := f.UpdateStrategy(ctx, f.siteA, first.ID, []byte(`{"is_active": true}`))
		require.NoError(t, err)
		require.Equal(t, first.ID, activated.ID)
		_, err = f.UpdateStrategy(ctx, f.siteA, first.ID, []byte(`{"is_active": false}`))
		require.NoError(t, err)
		_, err = f.PublicStrategy(ctx, "site-a.local")
		fails(t, err, service.Conflict, service.CodeClosed)

		for change, field := range map[string]string{
			`{"min_price_per_fetch_micro": 2500}`:        "min_price_per_fetch_micro",
			`{"version": 9}`:                             "version",
			`{"publisher_id": 9}`:                        "publisher_id",
			`{"currency": "EUR"}`:                        "currency",
			`{"max_rounds": 1, "max_rounds": 2}`:         "max_rounds",
			`{"volume_tiers": [{"from_fetches": null}]}`: "volume_tiers[0].from_fetches",
		} {
			_, err = f.UpdateStrategy(ctx, f.siteA, first.ID, []byte(change))
			require.Equal(t, field, fails(t, err, service.Invalid, "invalid").Field, "%s", err)
		}
		_, err = f.UpdateStrategy(ctx, f.siteB, first.ID, []byte(`{}`))
		fails(t, err, service.NotFound, "not_found")
		_, err = f.Strategy(ctx, f.openAI, first.ID)
		fails(t, err, service.Forbidden, "scope-missing")
		_, err = f.CreateStrategy(ctx, f.administrator, []byte(`{"min_price_per_fetch_micro": 1,
			"preferred_price_per_fetch_micro": 2, "max_price_per_fetch_micro": 3}`), "")
		require.Equal(t, "publisher_id", fails(t, err, service.Invalid, "invalid").Field)
	})
}

func TestThePublishersFloorRaisesItsStrategies(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		floor := int64(6000)
		_, err := f.UpdatePublisher(ctx, f.siteA, 0, service.PublisherChange{FloorMicro: &floor})
		require.NoError(t, err)
		facts, err := f.PublicStrategy(ctx, "site-a.local")
		require.NoError(t, err)
		require.EqualValues(t, floor, facts.Floor)
		below := f.propose(t, f.openAI, at(5999), "site-a.local")
		require.Equal(t, engine.Reject, below.Action)
		require.Equal(t, engine.ReasonFloor, below.Answers[0].Reason)
		require.Equal(t, engine.Accept, f.propose(t, f.openAI, at(6000), "site-a.local").Action)
		name := "Another name"
		_, err = f.UpdatePublisher(ctx, f.siteA, 0, service.PublisherChange{Name: &name})
		fails(t, err, service.Forbidden, "scope-missing")
		_, err = f.CreateStrategy(ctx, f.siteA, []byte(`{"min_price_per_fetch_micro": 1000,
			"preferred_price_per_fetch_micro": 2000, "max_price_per_fetch_micro": 5000}`), "")
		require.Equal(t, "min_price_per_fetch_micro", fails(t, err, service.Invalid, "invalid").Field)
		inactive := false
		_, err = f.UpdatePublisher(ctx, f.administrator, f.siteA.ID, service.PublisherChange{Active: &inactive})
		require.NoError(t, err)
		_, err = f.Propose(ctx, f.openAI, service.ProposeRequest{
			Proposals: []service.Proposal{{"site-a.local", at(6000)}},
		})
		fails(t, err, service.NotFound, "not_found")
	})
}

func TestKeysHaveAtMostTheScopesOfTheirMaker(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		calls := f.calls(t)
		text, _, err := f.CreateKey(ctx, f.administrator, service.KeyRequest{
			PublisherID: f.siteA.ID, Name: "reports", Scopes: []string{"analytics:read", "keys:write"},
		})
		require.NoError(t, err)
		reporter, err := calls(text)
		require.NoError(t, err)
		require.Equal(t, f.siteA.ID, reporter.ID)
		_, err = f.Analytics(ctx, reporter, 0, time.Time{}, time.Time{})
		require.NoError(t, err)
		_, err = f.Strategies(ctx, reporter, 0, store.Page{})
		fails(t, err, service.Forbidden, "scope-missing")
		_, _, err = f.CreateKey(ctx, reporter, service.KeyRequest{Name: "all"})
		fails(t, err, service.Forbidden, "scope-missing")
		_, strong, err := f.CreateKey(ctx, f.siteA, service.KeyRequest{Name: "all"})
		require.NoError(t, err)
		_, _, _, err = f.RotateKey(ctx, reporter, strong.ID, time.Hour)
		fails(t, err, service.Forbidden, "scope-missing")
		_, err = f.RevokeKey(ctx, f.openAI, strong.ID)
		fails(t, err, service.NotFound, "not_found")
		_, _, err = f.CreateKey(ctx, f.siteA, service.KeyRequest{Name: "x", Scopes: []string{"administer"}})
		require.Equal(t, "scopes", fails(t, err, service.Invalid, "invalid").Field)
		_, _, err = f.CreateKey(ctx, f.siteA, service.KeyRequest{Name: "x", ClientID: f.openAI.ID})
		fails(t, err, service.NotFound, "not_found")

		keys, err := f.Keys(ctx, f.siteA, 0, 0, store.Page{})
		require.NoError(t, err)
		require.Len(t, keys.Items, 2)
		require.NotContains(t, asJSON(t, keys), text.Reveal())
		rotated, _, _, err := f.RotateKey(ctx, f.administrator, reporter.KeyID, 0)
		require.NoError(t, err)
		_, err = calls(text)
		require.ErrorContains(t, err, "expired")
		again, err := calls(rotated)
		require.NoError(t, err)
		require.Equal(t, reporter.Scopes, again.Scopes)
		_, err = f.RevokeKey(ctx, f.siteA, again.KeyID)
		require.NoError(t, err)
		_, err = calls(rotated)
		require.ErrorContains(t, err, "revoked")
	})
}

func TestAdministratorKeys(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		registry := service.Registry{Store: f.store}
		first, second := identity.NewAPIKey(), identity.NewAPIKey()
		_, err := f.store.FirstAdministratorKey(ctx, first.Hash())
		require.NoError(t, err)
		_, err = f.store.FirstAdministratorKey(ctx, second.Hash())
		require.ErrorIs(t, err, store.ErrNotFound, "only the first start prints a key")
		record, err := registry.KeyByHash(ctx, first.Hash())
		require.NoError(t, err)
		require.Equal(t, identity.Administrator, record.Kind)
		_, err = f.store.ReplaceAdministratorKeys(ctx, second.Hash())
		require.NoError(t, err)
		record, err = registry.KeyByHash(ctx, first.Hash())
		require.NoError(t, err)
		require.False(t, record.Revoked.IsZero())
		_, err = registry.KeyByHash(ctx, identity.NewAPIKey().Hash())
		require.ErrorIs(t, err, identity.ErrUnknown)
		for _, caller := range []identity.Caller{f.siteA, f.openAI, f.anonymous} {
			_, err = f.CreatePublisher(ctx, caller, store.Publisher{}, "")
			fails(t, err, service.Forbidden, "scope-missing")
			_, err = f.RegisterClient(ctx, caller, service.Client{})
			fails(t, err, service.Forbidden, "scope-missing")
			_, err = f.Clients(ctx, caller, store.Page{})
			fails(t, err, service.Forbidden, "scope-missing")
		}
		_, err = f.Propose(ctx, f.administrator, service.ProposeRequest{})
		fails(t, err, service.Forbidden, "scope-missing")
	})
}

func TestSigningClientsAreFoundByTheirKey(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		public, _, err := ed25519.GenerateKey(nil)
		require.NoError(t, err)
		text := base64.RawURLEncoding.EncodeToString(public)
		signer, err := f.RegisterClient(ctx, f.administrator, service.Client{Name: "Signer", PublicKey: text})
		require.NoError(t, err)
		bot, err := f.RegisterClient(ctx, f.administrator, service.Client{
			Name: "Bot", PublicKey: text, Agent: "https://Bot.example/",
		})
		require.NoError(t, err)
		require.Equal(t, "https://bot.example", bot.Agent)
		registry := service.Registry{Store: f.store}
		found, err := registry.ClientByPublicKey(ctx, public)
		require.NoError(t, err)
		require.Equal(t, identity.Registration{ID: signer.ID, Name: "Signer", PublicKey: public}, found)
		list, err := f.Clients(ctx, f.administrator, store.Page{Size: 1})
		require.NoError(t, err)
		require.Equal(t, []service.Client{bot}, list.Items)
		require.NotEmpty(t, list.Next)
		_, err = f.RegisterClient(ctx, f.administrator, service.Client{Name: "Again", PublicKey: text})
		fails(t, err, service.Conflict, service.CodeExists)
		for _, name := range []string{"OpenAI", "openai", " OPENAI ", "SIGNER", "\uff33igner"} {
			_, err = f.RegisterClient(ctx, f.administrator, service.Client{Name: name})
			taken := fails(t, err, service.Conflict, service.CodeExists)
			require.Equal(t, "client_name", taken.Field)
			require.Equal(t, fmt.Sprintf("client_name: another client has the name %q; choose another one", name),
				taken.Detail)
		}
		_, err = f.RegisterClient(ctx, f.administrator, service.Client{Name: "0penAI"})
		confusable := fails(t, err, service.Conflict, service.CodeConfusable)
		require.Equal(t, "client_name", confusable.Field)
		require.Equal(t, fmt.Sprintf(`client_name: "0penAI" is confusable with "OpenAI", the name of client %d: their `+
			"Unicode UTS 39 skeletons are equal; choose another one", f.openAI.ID), confusable.Detail)
		_, err = f.UpdatePublisher(ctx, f.administrator, f.siteA.ID, service.PublisherChange{Name: new("site-b.1ocal")})
		require.Equal(t, "name", fails(t, err, service.Conflict, service.CodeConfusable).Field)
		_, err = f.CreatePublisher(ctx, f.administrator, store.Publisher{
			Hostname: "c.example", Name: "Site-B.local", Currency: "USD",
		}, "")
		require.Equal(t, `name: another publisher has the name "Site-B.local"; choose another one`,
			fails(t, err, service.Conflict, service.CodeExists).Detail)
		_, err = f.RegisterClient(ctx, f.administrator, service.Client{Name: "x", PublicKey: "short"})
		require.Equal(t, "public_key", fails(t, err, service.Invalid, "invalid").Field)
		_, _, err = f.CreateKey(ctx, f.administrator, service.KeyRequest{ClientID: signer.ID, Name: "k"})
		fails(t, err, service.Conflict, "client-kind")
		_, err = f.Clients(ctx, f.administrator, store.Page{After: "x"})
		require.Equal(t, "cursor", fails(t, err, service.Invalid, "invalid").Field)
		_, err = f.Clients(ctx, f.administrator, store.Page{Size: store.MaxPage + 1})
		wide := fails(t, err, service.Invalid, "invalid")
		require.Equal(t, []string{"limit", "limit: 201 is not from 1 to 200"}, []string{wide.Field, wide.Detail})
	})
}

func TestAnalyticsAreThePublishersOwn(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.propose(t, f.openAI, at(4000), "site-a.local")
		f.propose(t, f.openAI, at(400), "site-a.local")
		f.propose(t, f.openAI, at(1500), "site-a.local")
		f.propose(t, f.openAI, at(4000), "site-b.local")
		f.offset.Add(int64(time.Minute))
		figures, err := f.Analytics(ctx, f.siteA, 0, time.Time{}, time.Time{})
		require.NoError(t, err)
		require.EqualValues(t, 3, figures.Total)
		require.EqualValues(t, 1, figures.Accepted)
		require.InDelta(t, 0.5, figures.AcceptanceRate, 1e-9)
		all, err := f.Analytics(ctx, f.administrator, 0, time.Time{}, time.Time{})
		require.NoError(t, err)
		require.EqualValues(t, 4, all.Total)
		_, err = f.Analytics(ctx, f.siteA, f.siteB.ID, time.Time{}, time.Time{})
		fails(t, err, service.NotFound, "not_found")
	})
}

// TestApprovalCeilingOfStoredStrategies reads definitions stored by earlier versions, lacking the field, and
// definitions of strategies with and without a value.
func TestApprovalCeilingOfStoredStrategies(t *testing.T) {
	const withoutCeiling = `{"min_price_per_fetch_micro": 1000, "preferred_price_per_fetch_micro": 2000,
		"max_price_per_fetch_micro": 5000`
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		old, err := f.store.ReplaceStrategy(ctx, 0, store.Strategy{
			Publisher: f.siteA.ID, Name: "default", Definition: []byte(withoutCeiling + "}"), Active: true,
		}, nil)
		require.NoError(t, err)
		sold := func(fetches uint64) engine.Action {
			proposal := at(2000)
			proposal.PrepaidFetches = fetches
			return f.propose(t, f.openAI, proposal, "site-a.local").Action
		}
		require.Equal(t, engine.Accept, sold(500_000), "1,000 units")
		require.Equal(t, engine.Approve, sold(500_001))
		read, err := f.Strategy(ctx, f.siteA, old.ID)
		require.NoError(t, err)
		require.EqualValues(t, 1_000_000_000, read.ApprovalAbove, "the publisher sees the default")

		created, err := f.CreateStrategy(ctx, f.siteA, []byte(withoutCeiling+"}"), "")
		require.NoError(t, err)
		require.EqualValues(t, 1_000_000_000, created.ApprovalAbove)
		require.Equal(t, engine.Approve, sold(500_001))
		_, err = f.UpdateStrategy(ctx, f.siteA, created.ID, []byte(`{"approval_above_micro": 1000002000}`))
		require.NoError(t, err)
		require.Equal(t, engine.Accept, sold(500_001))
		require.Equal(t, engine.Approve, sold(500_002))
		_, err = f.CreateStrategy(ctx, f.siteA, []byte(withoutCeiling+`, "approval_above_micro": 9007199254740992}`), "")
		require.Equal(t, "approval_above_micro", fails(t, err, service.Invalid, "invalid").Field)
	})
}

// An accepted strategy can be read again, with any prompt text.
func TestAStrategyFitsItsReader(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		create := func(prompt string) (service.Strategy, error) {
			return f.CreateStrategy(t.Context(), f.siteA, []byte(`{"min_price_per_fetch_micro": 1000,
				"preferred_price_per_fetch_micro": 2000, "max_price_per_fetch_micro": 5000,
				"system_prompt": "`+prompt+`"}`), "")
		}
		prompt := strings.Repeat("<", 16_000)
		added, err := create(prompt)
		require.NoError(t, err)
		require.Equal(t, prompt, added.SystemPrompt)
		read, err := f.Strategy(t.Context(), f.siteA, added.ID)
		require.NoError(t, err)
		require.Equal(t, prompt, read.SystemPrompt)
		changed, err := f.UpdateStrategy(t.Context(), f.siteA, added.ID, []byte(`{"max_rounds": 5}`))
		require.NoError(t, err)
		require.Equal(t, prompt, changed.SystemPrompt, "a change of another field keeps it")
		_, err = f.PublicStrategy(t.Context(), "site-a.local")
		require.NoError(t, err)
		_, err = create(strings.Repeat(`\u0001`, 10_880))
		fails(t, err, service.Invalid, "invalid")
		_, err = create(`\u0000`)
		fails(t, err, service.Invalid, "invalid")
	})
}

// Neither database receives text other than host names, or a name that looks like another name.
func TestNamesThatCannotBeStored(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		for _, name := range []string{"\x00", "\xff", "Site-A.local", strings.Repeat("a.", 200) + "a"} {
			_, err := f.PublisherByHostname(t.Context(), name)
			fails(t, err, service.NotFound, "not_found")
			_, err = f.PublicStrategy(t.Context(), name)
			fails(t, err, service.NotFound, "not_found")
			_, err = f.Propose(t.Context(), f.openAI, service.ProposeRequest{
				Proposals: []service.Proposal{{name, at(4000)}},
			})
			fails(t, err, service.NotFound, "not_found")
		}
		for _, name := range []string{"   ", "OpenAI\ufe0f", "Open\u034fAI", "OpenAI\u3164"} {
			_, err := f.RegisterClient(t.Context(), f.administrator, service.Client{Name: name})
			require.Equal(t, "client_name", fails(t, err, service.Invalid, "invalid").Field, "%+q", name)
		}
	})
}

// namedModel is a language model that is never called.
type namedModel string

func (m namedModel) Name() string { return string(m) }

func (namedModel) Respond(context.Context, llm.Request) (*llm.Response, error) {
	return nil, errors.New("not to be asked")
}

func TestStrategiesNameModelsOfTheGateway(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		models, err := model.New(model.Config{
			Models: []llm.Model{namedModel("openai:gpt-4")}, Budget: llm.Budget{Tokens: 1},
		})
		require.NoError(t, err)
		with, err := service.New(service.Config{
			Store: f.store, Models: models, Enqueue: func(context.Context, store.Tx, []string) error { return nil },
		})
		require.NoError(t, err)
		definition := func(provider, name string) []byte {
			return []byte(`{"min_price_per_fetch_micro": 1000, "preferred_price_per_fetch_micro": 2000,
				"max_price_per_fetch_micro": 5000, "llm_provider": "` + provider + `", "llm_model": "` + name + `"}`)
		}
		_, err = f.CreateStrategy(t.Context(), f.siteA, definition("openai", "gpt-4"), "")
		problem := fails(t, err, service.Invalid, "invalid")
		require.Equal(t, "llm_provider", problem.Field)
		require.Contains(t, problem.Detail, "the gateway has no language models; leave llm_provider and llm_model out")

		added, err := with.CreateStrategy(t.Context(), f.siteA, definition("openai", "gpt-4"), "")
		require.NoError(t, err)
		_, err = with.UpdateStrategy(t.Context(), f.siteA, added.ID, []byte(`{"llm_model": "gpt-9"}`))
		problem = fails(t, err, service.Invalid, "invalid")
		require.Contains(t, problem.Detail, `the gateway does not have "openai:gpt-9"; it has openai:gpt-4`)

		// A gateway that has lost the model keeps the strategy, and can deactivate it.
		read, err := f.Strategy(t.Context(), f.siteA, added.ID)
		require.NoError(t, err)
		require.Equal(t, "gpt-4", read.LLMModel)
		_, err = f.UpdateStrategy(t.Context(), f.siteA, added.ID, []byte(`{"is_active": false}`))
		require.NoError(t, err)
		_, err = f.UpdateStrategy(t.Context(), f.siteA, added.ID, []byte(`{"llm_provider": "", "llm_model": ""}`))
		require.NoError(t, err)
	})
}
