package agent

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// An agent commits to no price beyond its own limit. It reveals a price that it has committed to: a withheld
// reveal costs the bond.
func TestSealedPriceBeyondALimitIsNotCommitted(t *testing.T) {
	n := with(bargaining(0), func(n *protocol.Negotiation) {
		n.ZopaEnabled, n.ZopaPhase = true, protocol.ZopaPhaseNotStarted
	})
	revealing := with(n, func(n *protocol.Negotiation) { n.ZopaPhase = protocol.ZopaPhaseBothCommitted })
	l := newLoop(t)
	l.config.Mints = map[solana.PublicKey]Limits{{}: {MinPrice: 3_000_000, MaxPrice: 4_000_000}}
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

// A fallback is an agent's decision like any other: beyond a limit the next one takes its place.
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
