package llm_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/agent/issues"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// thinking returns a model that responds slowly. It accepts if permitted, and otherwise offers the middle
// candidate.
func thinking(name string, length time.Duration) *scriptedModel {
	return &scriptedModel{name: name, respond: func(ctx context.Context, request llm.Request) (*llm.Response, error) {
		var facts llm.Facts
		if err := json.Unmarshal([]byte(request.Input), &facts); err != nil {
			return nil, err
		}
		if len(facts.Moves) == 0 {
			return answered(accepted)
		}
		select {
		case <-time.After(length):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if len(facts.Moves) > 1 {
			return answered(accepting)
		}
		return answered(choosing((len(facts.Candidates) + 1) / 2))
	}}
}

// start starts a local chain for the test.
func start(t *testing.T) *localnet.Net {
	t.Helper()
	net, err := localnet.Start(t.Context(), localnet.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	return net
}

var service = protocol.ServiceHash("Summarise a paper")

// invite creates a negotiation over 5 tokens with five offers and 60 seconds to answer.
func invite(t *testing.T, net *localnet.Net) solana.PublicKey {
	t.Helper()
	created, err := net.Client.CreateNegotiation(haggle.CreateRequest{
		Buyer: net.Buyer.PublicKey(), Seller: net.Seller.PublicKey(), Mint: net.Mint, Decimals: localnet.Decimals,
		EscrowAmount: 5_000_000, ServiceHash: service, MaxRounds: 5, ResponseWindow: time.Minute,
		Deadline: 10 * time.Minute, Key: rand.Text(),
	}).Build(t.Context())
	require.NoError(t, err)
	_, err = created.Do(t.Context(), net.Buyer)
	require.NoError(t, err)
	return created.Negotiation
}

// settle runs an agent for each party, and returns the seller's result.
func settle(t *testing.T, net *localnet.Net, buyer, seller agent.Config) *agent.Result {
	t.Helper()
	negotiation := invite(t, net)
	results := [2]*agent.Result{}
	var both sync.WaitGroup
	for side, party := range []struct {
		key    *wallet.Keypair
		config agent.Config
	}{{net.Buyer, buyer}, {net.Seller, seller}} {
		both.Go(func() {
			party.config.Logger = quiet
			party.config.Failed = func(_ solana.PublicKey, err error) { t.Errorf("party %d: %v", side, err) }
			runtime, err := agent.New(net.Client, party.key, party.config)
			if assert.NoError(t, err) {
				results[side], err = runtime.RunOne(t.Context(), negotiation)
				assert.NoError(t, err)
			}
		})
	}
	both.Wait()
	require.NotNil(t, results[1])
	require.Equal(t, protocol.NegotiationStatusSettled, results[1].Status)
	return results[1]
}

// TestModelThatTakesTwentySecondsSettles has a seller whose model decides about the invitation and its turns,
// against a buyer that plays a strategy.
func TestModelThatTakesTwentySecondsSettles(t *testing.T) {
	t.Parallel()
	net := start(t)
	mints := map[solana.PublicKey]agent.Limits{net.Mint: {
		Decimals: localnet.Decimals, MinPrice: 2_000_000, MaxTotal: 4_000_000, SingleSourceUpTo: 5_000_000,
		FinalizedAbove: 5_000_000,
	}}
	var records []llm.Record
	model := thinking("test:slow", 20*time.Second)
	seller := newPlayer(t, model, llm.Options{
		Principal: "Sell.", Opening: 4_500_000,
		Decided: func(r llm.Record) error { records = append(records, r); return nil },
		Budget:  llm.Budget{Tokens: 1 << 20},
	})
	seller.Mints = mints
	buyer := agent.Player{Strategy: strategy.Linear(), Opening: 2_000_000, Reservation: 4_000_000}
	result := settle(t, net, agent.Config{Mints: mints, Decide: buyer.Decide}, agent.Config{
		Mints: mints, Services: [][32]byte{service}, Decide: seller.Decide, Admit: seller.Admit,
	})
	require.GreaterOrEqual(t, result.Price-result.Fee, uint64(2_000_000))
	require.Greater(t, len(records), 1)
	for _, record := range records {
		require.Empty(t, record.Fallback)
		if record.Question == "turn" {
			require.GreaterOrEqual(t, record.Duration, 20*time.Second)
		}
	}
	spending := seller.Spending()
	require.Len(t, spending, 1)
	require.EqualValues(t, model.calls.Load(), spending[0].Requests)
}

// TestModelsBargainAboutSeveralIssues has models on both sides, which choose documents over price and days.
func TestModelsBargainAboutSeveralIssues(t *testing.T) {
	t.Parallel()
	net := start(t)
	domain, err := bargain.NewDomain(
		bargain.Price("price", 2_000_000, 4_000_000, 10_000), bargain.Integer("days", 1, 30))
	require.NoError(t, err)
	shared := issues.Folder{Path: t.TempDir()}
	mints := map[solana.PublicKey]agent.Limits{net.Mint: {
		Decimals: localnet.Decimals, MinPrice: 1, MaxTotal: 5_000_000, SingleSourceUpTo: 5_000_000,
		FinalizedAbove: 5_000_000,
	}}
	var lock sync.Mutex
	var records []llm.Record
	configs := [2]agent.Config{}
	preferences := [2]*bargain.Preferences{}
	for side := range configs {
		price := utility.Line{First: fixed.One, Count: domain.Issue(0).Count}
		days := utility.Line{First: fixed.One, Count: domain.Issue(1).Count}
		weights := []fixed.Number{fixed.One / 4, fixed.One / 4 * 3}
		if side == 1 {
			price.First, price.Last, days.First, days.Last = 0, fixed.One, 0, fixed.One
			weights[0], weights[1] = weights[1], weights[0]
		}
		u, err := utility.NewAdditive(domain, 0, weights, price, days)
		require.NoError(t, err)
		preferences[side], err = bargain.NewPreferences(domain, u, fixed.One/5)
		require.NoError(t, err)
		player := newPlayer(t, thinking("test:model", 0), llm.Options{Decided: func(r llm.Record) error {
			lock.Lock()
			defer lock.Unlock()
			records = append(records, r)
			return nil
		}})
		several := issues.Player{
			Strategy: strategy.Linear(), Preferences: preferences[side], Documents: shared,
			Memory: issues.Folder{Path: t.TempDir(), Private: true}, Choose: player.Choose,
		}
		configs[side] = agent.Config{Mints: mints, Services: [][32]byte{service}, Decide: several.Decide}
	}
	result := settle(t, net, configs[0], configs[1])
	last := records[len(records)-1]
	require.Equal(t, "accept", last.Move.Move)
	agreed, err := terms.Price(domain, outcomeOf(t, domain, last.Move.Offer.Terms))
	require.NoError(t, err)
	require.Equal(t, agreed, result.Price)
	chosen := 0
	for _, record := range records {
		if record.Fallback == "" {
			chosen++
		}
		if record.Move.Offer != nil {
			o := outcomeOf(t, domain, record.Move.Offer.Terms)
			side := map[string]int{"buyer": 0, "seller": 1}[record.Role]
			require.True(t, preferences[side].IsRational(o))
		}
	}
	require.Greater(t, chosen, 1)
}

// outcomeOf returns the outcome of the terms of a record.
func outcomeOf(t *testing.T, domain *bargain.Domain, terms map[string]string) bargain.Outcome {
	t.Helper()
	for o := range bargain.Outcome(domain.Size()) {
		price := domain.Issue(0).Amount(domain.Value(o, 0))
		tokens, err := json.Number(terms["price"]).Float64()
		require.NoError(t, err)
		if uint64(tokens*1e6+0.5) == price && domain.Issue(1).Text(domain.Value(o, 1)) == terms["days"] {
			return o
		}
	}
	require.Fail(t, "unknown terms", "%v", terms)
	return bargain.NoOutcome
}
