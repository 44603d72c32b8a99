package agent

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// A function that returns invalid decisions is called twice: the second call receives the reason, and is the
// last call if the first call was.
func TestInvalidDecisionIsRecordedWithItsTime(t *testing.T) {
	open := inMilestones(false)
	for name, c := range map[string]struct {
		negotiation protocol.Negotiation
		now         int64
		want        error
	}{
		"decision":       {bargaining(1), testNow, protocol.ErrOfferTooLow},
		"milestone move": {open, open.LatestClaim(2) - claimMargin, protocol.ErrInvalidParams},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var turns []Turn
				l := newLoop(t)
				l.config.DecisionTime = DefaultDecisionTime
				l.config.Mints = map[solana.PublicKey]Limits{{}: {MinPrice: 1}}
				l.config.Decide = func(_ context.Context, turn Turn) (Decision, error) {
					turns = append(turns, turn)
					return Offer{Amount: 1}, nil
				}
				l.config.OnMilestone = func(_ context.Context, turn Turn) (MilestoneMove, error) {
					turns = append(turns, turn)
					return ClaimMilestone{Index: 8}, nil
				}
				f := &tracked{position: 1, side: protocol.OfferSideSeller, participation: engaged}
				v := l.viewOf(f, &haggle.Snapshot{Negotiation: c.negotiation}, c.now)
				f.escrowed = l.escrowOf(v)
				l.execute(f, v, v.plan())
				l.process(time.Second)
				require.Len(t, turns, maxInvalid)
				require.NoError(t, turns[0].Invalid)
				require.ErrorIs(t, turns[1].Invalid, c.want)
				require.Equal(t, turns[0].LastCall, turns[1].LastCall)
				require.Equal(t, answer{at: c.now, invalid: maxInvalid, reason: f.answer.reason}, f.answer)
				require.ErrorIs(t, f.answer.reason, c.want)
				require.Nil(t, f.call)
				close(l.stopped)
			})
		})
	}
}
