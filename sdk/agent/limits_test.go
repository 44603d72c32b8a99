package agent

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// A negotiation on the limits is within them. Both sides decline worse terms.
func TestTermsBeyondALimitAreDeclinedByBothSides(t *testing.T) {
	for _, c := range []struct {
		name    string
		config  Config
		terms   func(*protocol.Negotiation)
		decline string
	}{
		{"default decay", Config{}, func(n *protocol.Negotiation) { n.DecayRateBps = 200 }, ""},
		{"decay", Config{}, func(n *protocol.Negotiation) { n.DecayRateBps = 201 },
			"its decay is 201 basis points for each offer, at most 200"},
		{"no decay", Config{MaxDecayBps: new(uint16(0))}, func(n *protocol.Negotiation) { n.DecayRateBps = 1 },
			"its decay is 1 basis points for each offer, at most 0"},
		{"named decay", Config{MaxDecayBps: new(uint16(1000))},
			func(n *protocol.Negotiation) { n.DecayRateBps = 1000 }, ""},
		{"default rounds", Config{}, func(n *protocol.Negotiation) { n.MaxRounds = 10 }, ""},
		{"rounds", Config{}, func(n *protocol.Negotiation) { n.MaxRounds = 11 }, "it allows 11 offers, at most 10"},
		{"named rounds", Config{MaxRounds: 20}, func(n *protocol.Negotiation) { n.MaxRounds = 20 }, ""},
		{"shortest window", Config{}, func(n *protocol.Negotiation) { n.ResponseWindow = 60 }, ""},
		{"window", Config{MinResponseWindow: 2 * time.Minute},
			func(n *protocol.Negotiation) { n.ResponseWindow = 119 }, "its time to answer is 1m59s, at least 2m0s"},
		{"window and margin", Config{Margin: time.Minute},
			func(n *protocol.Negotiation) { n.ResponseWindow = 119 }, "its time to answer is 1m59s, at least 2m0s"},
		{"default fee", Config{}, func(n *protocol.Negotiation) { n.ProtocolFeeBps = 50 }, ""},
		{"fee", Config{}, func(n *protocol.Negotiation) { n.ProtocolFeeBps = 51 },
			"its protocol fee is 51 basis points, at most 50"},
		{"no fee", Config{MaxFeeBps: new(uint16(0))}, func(n *protocol.Negotiation) { n.ProtocolFeeBps = 1 },
			"its protocol fee is 1 basis points, at most 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.config.Decide = func(context.Context, Turn) (Decision, error) { return Wait{}, nil }
			c.config.Mints = map[solana.PublicKey]Limits{testMint: {MinPrice: 1, MaxTotal: 5_000_000}}
			c.config.Services = [][32]byte{{}}
			config, err := c.config.withDefaults()
			require.NoError(t, err)
			for _, side := range []protocol.OfferSide{protocol.OfferSideBuyer, protocol.OfferSideSeller} {
				n := with(bargaining(0), c.terms)
				n.TokenMint = testMint
				reason := config.cannotEngage(&haggle.Snapshot{Negotiation: n}, side)
				if c.decline == "" {
					require.NoError(t, reason)
					continue
				}
				require.EqualError(t, reason, c.decline)
			}
		})
	}
}

// An agent commits to no price beyond the agent's limit. It reveals every committed price: a withheld reveal
// costs the bond.
func TestSealedPriceBeyondALimitIsNotCommitted(t *testing.T) {
	n := with(bargaining(0), func(n *protocol.Negotiation) {
		n.ZopaEnabled, n.ZopaPhase = true, protocol.ZopaPhaseNotStarted
	})
	revealing := with(n, func(n *protocol.Negotiation) { n.ZopaPhase = protocol.ZopaPhaseBothCommitted })
	l := newLoop(t)
	l.config.Mints = map[solana.PublicKey]Limits{{}: {MinPrice: 3_000_000, MaxTotal: 4_000_000}}
	for _, c := range []struct {
		side           protocol.OfferSide
		within, beyond uint64
	}{
		{protocol.OfferSideBuyer, 4_000_000, 4_000_001}, {protocol.OfferSideSeller, 3_000_000, 2_999_999},
	} {
		f := &tracked{side: c.side}
		check := func(n protocol.Negotiation, price uint64) error {
			party := n.Party(c.side)
			sealed, err := protocol.SealPrice(solana.PublicKey{7}, &n, party, price)
			require.NoError(t, err)
			return l.checkSealed(f, testView(n, c.side, testNow), sealed)
		}
		require.NoError(t, check(n, c.within))
		require.ErrorIs(t, check(n, c.beyond), ErrBeyondLimit)
		require.NoError(t, check(revealing, c.beyond))
		require.Error(t, l.checkSealed(f, testView(n, c.side, testNow), nil))
	}
}

// A fallback is an agent's decision like any other: if it is beyond a limit, the next fallback replaces it.
func TestFallbackBeyondALimitIsNotCarriedOut(t *testing.T) {
	for _, c := range []struct {
		minPrice uint64
		want     Decision
	}{{2_000_000, Accept{}}, {2_000_001, Reject{}}} {
		l := newLoop(t)
		l.config.Fallback = Accept{}
		l.config.Mints = map[solana.PublicKey]Limits{{}: {MinPrice: c.minPrice}}
		f := &tracked{side: protocol.OfferSideSeller, position: 1, participation: engaged}
		v := testView(bargaining(1), protocol.OfferSideSeller, testNow)
		l.fallBack(f, v, l.turn(f, v, true))
		require.Equal(t, c.want, f.decided.decision)
	}
}

// The seller's only offer, the second of three, cost 98,000, paid by the seller's bond if there is no deal.
func TestBondLowersASellersLeastPrice(t *testing.T) {
	for _, c := range []struct {
		bond, price uint64
		state       protocol.BondState
		within      bool
	}{
		{0, 3_000_000, protocol.BondStateNone, true},
		{0, 2_999_999, protocol.BondStateNone, false},
		{500_000, 2_902_000, protocol.BondStateHeld, true},
		{500_000, 2_901_999, protocol.BondStateHeld, false},
		{1_000, 2_999_000, protocol.BondStateHeld, true},
		{1_000, 2_998_999, protocol.BondStateHeld, false},
	} {
		n := with(bargaining(3), func(n *protocol.Negotiation) {
			n.BondRequired, n.BondState, n.CurrentOfferAmount = c.bond, c.state, c.price
		})
		turn := Turn{
			Negotiation: &haggle.Snapshot{Negotiation: n}, Side: protocol.OfferSideSeller,
			Limits: Limits{MinPrice: 3_000_000},
		}
		err := validate(turn, Accept{})
		if c.within {
			require.NoError(t, err, "%+v", c)
			continue
		}
		require.ErrorIs(t, err, ErrBeyondLimit, "%+v", c)
	}
}

// If no call returned a decision in time, the fallback is carried out. An earlier error leads to another
// call.
func TestFailedLastCallLeavesTheFallback(t *testing.T) {
	failed := errors.New("decision failed")
	for _, c := range []struct {
		last bool
		err  error
		want *decided
	}{
		{false, failed, nil},
		{true, failed, &decided{decision: Reject{}}},
		{false, errTimeIsUp, &decided{decision: Reject{}}},
	} {
		l := newLoop(t)
		f := &tracked{side: protocol.OfferSideSeller, position: 1, participation: engaged}
		v := testView(bargaining(1), protocol.OfferSideSeller, testNow)
		l.undecided(f, v, l.turn(f, v, c.last), c.err)
		if f.retry != nil {
			f.retry.Stop()
		}
		if c.want == nil {
			require.Nil(t, f.decided)
			require.Equal(t, v.lastCallAt(), f.wakeAt)
			continue
		}
		require.Equal(t, c.want.decision, f.decided.decision)
	}
}

// A node behind the slot of the agent's last action lags.
func TestSnapshotFromBeforeTheOwnActionIsNotUsed(t *testing.T) {
	n := bargaining(1)
	node := ServeRPC(t, func(_ context.Context, method string, params []json.RawMessage) string {
		if method != "getMultipleAccounts" {
			return "[]"
		}
		return accountsOf(params, n)
	})
	client, err := haggle.NewClient(haggle.Config{Endpoint: node})
	require.NoError(t, err)
	defer client.Close()
	l := newLoop(t)
	l.client = client
	read := l.read(readRequest{address: solana.PublicKey{7}})
	require.NoError(t, read.err)
	read = l.read(readRequest{address: solana.PublicKey{7}, notBefore: read.negotiation.Slot + 1})
	require.ErrorIs(t, read.err, errNodeBehind)
}
