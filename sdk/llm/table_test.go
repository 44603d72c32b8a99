package llm_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const decimals = 6

// The opening prices of the tests.
const (
	buyerOpening  = 1_500_000
	sellerOpening = 4_500_000
)

func opening(side protocol.OfferSide) uint64 {
	return [...]uint64{protocol.OfferSideBuyer: buyerOpening, protocol.OfferSideSeller: sellerOpening}[side]
}

// newPlayer returns a player with a budget that is never used up, unless the options have one.
func newPlayer(t *testing.T, model llm.Model, options llm.Options) *llm.Player {
	t.Helper()
	if options.Budget.Tokens == 0 && options.Budget.Cost == 0 {
		options.Budget = plenty
	}
	player, err := llm.NewPlayer(model, options)
	require.NoError(t, err)
	return player
}

// newTurn returns a turn of a side in a negotiation over 5 tokens with eight offers, after offers of both
// sides. A buyer pays at most 4 tokens, and a seller wants at least 2.
func newTurn(side protocol.OfferSide, offers ...uint64) agent.Turn {
	n := &haggle.Snapshot{Address: solana.PublicKey{7}}
	n.Status, n.EscrowAmount, n.EffectiveEscrow = protocol.NegotiationStatusProposed, 5_000_000, 5_000_000
	n.Buyer, n.Seller = solana.PublicKey{1}, solana.PublicKey{2}
	n.MaxRounds, n.MinOfferBps, n.ProtocolFeeBps = 8, 1_000, 50
	n.CreatedAt, n.ResponseWindow, n.GlobalDeadline = 10_000, 300, 13_600
	turn := agent.Turn{
		Negotiation: n, Side: side, Now: 10_100, Deadline: 10_400,
		Limits: agent.Limits{Decimals: decimals, MinPrice: 2_000_000, MaxTotal: 4_000_000},
	}
	for _, amount := range offers {
		offer(&turn, amount)
	}
	return turn
}

// offer makes the next offer on chain.
func offer(turn *agent.Turn, amount uint64) {
	n := turn.Negotiation
	side := n.Turn()
	onchain.Apply(&n.Negotiation, side, amount, turn.Now)
	n.CurrentOfferBy = n.Party(side)
	turn.History = append(turn.History, agent.PastOffer{Round: n.CurrentRound, Side: side, Amount: amount})
}

// randomTurn returns a turn with random terms, limits and offers, at which the side can move.
func randomTurn(random *rand.Rand) agent.Turn {
	n := &haggle.Snapshot{Address: solana.PublicKey{byte(random.IntN(256)), byte(random.IntN(256)), 1}}
	n.Status = protocol.NegotiationStatusProposed
	n.EscrowAmount = 100_000 + random.Uint64N(10_000_000)
	n.EffectiveEscrow = n.EscrowAmount
	n.Buyer, n.Seller, n.MaxRounds = solana.PublicKey{1}, solana.PublicKey{2}, uint8(1+random.IntN(20))
	n.MinOfferBps, n.DecayRateBps = uint16(100+random.IntN(3_000)), uint16(random.IntN(400))
	n.ProtocolFeeBps, n.CreatedAt, n.ResponseWindow = uint16(random.IntN(500)), random.Int64N(1<<40), 300
	n.GlobalDeadline = n.CreatedAt + 3_600
	side := protocol.OfferSide(random.IntN(2))
	turn := agent.Turn{Negotiation: n, Side: side, Limits: agent.Limits{
		Decimals: decimals, MinPrice: 1 + random.Uint64N(n.EscrowAmount*2/3),
		MaxTotal: n.EscrowAmount/3 + random.Uint64N(n.EscrowAmount),
	}}
	turn.Now = n.CreatedAt + random.Int64N(3_300)
	turn.Deadline = min(turn.Now+n.ResponseWindow, n.GlobalDeadline)
	for range random.IntN(int(n.MaxRounds) + 1) {
		least, most := n.OfferRange()
		offer(&turn, least+random.Uint64N(most-least+1))
	}
	if n.Turn() != side {
		turn.Side = n.Turn()
	}
	return turn
}

// decide returns a decision's record and duration.
func decide(
	t *testing.T, ctx context.Context, model llm.Model, turn agent.Turn, options llm.Options,
) (llm.Record, time.Duration) {
	t.Helper()
	var record llm.Record
	options.Decided = func(r llm.Record) error { record = r; return nil }
	options.Opening = opening(turn.Side)
	if options.Logger == nil {
		options.Logger = quiet
	}
	begun := time.Now()
	_, err := newPlayer(t, model, options).Decide(ctx, turn)
	require.NoError(t, err)
	return record, time.Since(begun)
}
