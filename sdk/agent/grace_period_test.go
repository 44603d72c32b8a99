package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestTransientErrorsAreRetriedUntilTheGracePeriodEnds(t *testing.T) {
	noAnswer := errors.New("the node does not answer")
	address := solana.PublicKey{7}
	ctx, end := context.WithCancelCause(t.Context())
	l := &loop{ctx: ctx, end: end, single: &single{address: address, until: time.Now().Add(time.Minute)}}
	l.endAfterGracePeriod(&tracked{address: address}, noAnswer)
	require.NoError(t, ctx.Err())

	v := testView(bargaining(1), protocol.OfferSideSeller, testNow)
	v.Address = address
	l.extendGracePeriod(v)
	require.WithinDuration(t, time.Now().Add(5000*time.Second+gracePeriod), l.single.until, time.Minute)
	v.now = v.GlobalDeadline + 100
	l.extendGracePeriod(v)
	require.WithinDuration(t, time.Now().Add(gracePeriod), l.single.until, time.Minute)

	l.single.until = time.Now().Add(-time.Second)
	l.endAfterGracePeriod(&tracked{address: solana.PublicKey{8}}, noAnswer)
	require.NoError(t, ctx.Err(), "an error of another negotiation")
	l.endAfterGracePeriod(&tracked{address: address}, noAnswer)
	require.ErrorIs(t, context.Cause(ctx), noAnswer)
}
