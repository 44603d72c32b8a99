package agent

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
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

// If no call has returned a decision in time, the fallback is carried out. An earlier error leads to another
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

// A node that has not reached the slot of the agent's last action is behind.
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
