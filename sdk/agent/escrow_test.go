package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// delivering is a seller's loop with a deal in milestones.
type delivering struct {
	*loop
	f *tracked
	// lock protects verified and delivered, which other goroutines write: the settlements that were verified, and
	// the turns of OnMilestone.
	lock      sync.Mutex
	verified  []haggle.Settlement
	delivered []Turn
	// err is the result of a slow verification.
	err   error
	takes time.Duration
	// failed holds the reported errors.
	failed []error
}

func newDelivering(t *testing.T) *delivering {
	d := &delivering{loop: newLoop(t), f: &tracked{
		address: solana.PublicKey{7}, side: protocol.OfferSideSeller, participation: engaged, position: 1,
	}}
	d.config.Mints = map[solana.PublicKey]Limits{{}: {MinPrice: 1, FinalizedAbove: 5, SingleSourceUpTo: 6}}
	d.config.OnMilestone = func(_ context.Context, turn Turn) (MilestoneMove, error) {
		d.lock.Lock()
		defer d.lock.Unlock()
		d.delivered = append(d.delivered, turn)
		return Wait{}, nil
	}
	d.config.Failed = func(_ solana.PublicKey, err error) { d.failed = append(d.failed, err) }
	d.verifySettlement = func(ctx context.Context, settlement haggle.Settlement) error {
		d.lock.Lock()
		d.verified = append(d.verified, settlement)
		d.lock.Unlock()
		select {
		case <-time.After(d.takes):
			return d.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	d.tracked[d.f.address] = d.f
	return d
}

// observe lets the loop process a snapshot at the given time, and then lets some time pass.
func (d *delivering) observe(n protocol.Negotiation, now int64, length time.Duration) {
	d.reads.clear()
	d.f.reading, d.f.created = false, n.CreatedAt
	v := d.viewOf(d.f, &haggle.Snapshot{Address: d.f.address, Negotiation: n}, now)
	d.execute(d.f, v, v.plan())
	d.process(length)
}

// verifications returns the verified settlements.
func (d *delivering) verifications() []haggle.Settlement {
	d.lock.Lock()
	defer d.lock.Unlock()
	return slices.Clone(d.verified)
}

// deliveries returns the turns of OnMilestone.
func (d *delivering) deliveries() []Turn {
	d.lock.Lock()
	defer d.lock.Unlock()
	return slices.Clone(d.delivered)
}

// during runs a test with a delivering loop.
func during(t *testing.T, test func(t *testing.T, d *delivering)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := newDelivering(t)
		test(t, d)
		close(d.stopped)
	})
}

func TestOnMilestoneIsCalledAfterTheEscrowIsVerified(t *testing.T) {
	during(t, func(t *testing.T, d *delivering) {
		open := inMilestones(false)
		d.takes = 4 * time.Second
		d.observe(open, testNow, 2*time.Second)
		require.Len(t, d.verifications(), 1)
		d.observe(open, testNow, time.Second)
		require.Len(t, d.verifications(), 1, "the verification is running")
		require.Empty(t, d.deliveries())
		d.process(2 * time.Second)
		require.True(t, d.f.reading, "a refresh follows at once")
		require.Equal(t, []haggle.Settlement{{
			Negotiation: d.f.address, CreatedAt: open.CreatedAt, Seller: testSeller, Price: 2_000_000, Agreed: true,
			FinalizedAbove: 5, SingleSourceUpTo: 6,
		}}, d.verifications())
		d.observe(open, testNow, time.Second)
		require.Len(t, d.deliveries(), 1)

		// The following milestone's delivery needs no further verification.
		d.f.switchPosition(2)
		d.observe(with(open, func(n *protocol.Negotiation) { n.MilestonesDecided, n.PaidGross = 1, 1_000_000 }), testNow, time.Second)
		require.Len(t, d.verifications(), 1)
		require.Len(t, d.deliveries(), 2)
		require.Empty(t, d.failed)

		// Another price is another escrow.
		d.f.switchPosition(3)
		d.observe(with(open, func(n *protocol.Negotiation) { n.SettledAmount++ }), testNow, time.Second)
		require.Len(t, d.verifications(), 2)
		require.Len(t, d.deliveries(), 2)
	})
}

func TestUnverifiedEscrowIsReportedAndRepeated(t *testing.T) {
	during(t, func(t *testing.T, d *delivering) {
		d.err = errors.New("nodes disagree")
		for range 6 {
			d.observe(inMilestones(false), testNow, time.Second)
		}
		require.Empty(t, d.deliveries())
		require.Greater(t, len(d.verifications()), 1, "repeated")
		require.Less(t, len(d.verifications()), 6, "after growing pauses")
		require.Len(t, d.failed, len(d.verifications()))
		var unverified *UnverifiedError
		require.ErrorAs(t, d.failed[0], &unverified)
		require.ErrorIs(t, d.failed[0], d.err)
		require.ErrorContains(t, d.failed[0], "escrow of "+d.f.address.String()+" not verified, do not deliver")
		require.Equal(t, protocol.NegotiationStatusAccepted, unverified.Result.Status)
		require.EqualValues(t, 2_000_000, unverified.Result.Price)

		d.err = nil
		d.process(time.Until(d.f.verifyAt))
		d.observe(inMilestones(false), testNow, time.Second)
		d.observe(inMilestones(false), testNow, time.Second)
		require.Len(t, d.deliveries(), 1)
	})
}

// The pause between attempts can be longer than the time between the last call and the end of the time to
// claim.
func TestLastCallBeforeAClaimIsTooLateVerifiesAtOnce(t *testing.T) {
	during(t, func(t *testing.T, d *delivering) {
		open := inMilestones(false)
		d.err = errors.New("nodes disagree")
		d.observe(open, testNow, time.Second)
		require.Len(t, d.verifications(), 1)
		d.f.verifyAt = time.Now().Add(time.Hour)
		d.observe(open, testNow, time.Second)
		require.Len(t, d.verifications(), 1)
		d.err = nil
		last := open.LatestClaim(2) - claimMargin
		d.observe(open, last, time.Second)
		require.Len(t, d.verifications(), 2)
		d.observe(open, last, time.Second)
		require.Len(t, d.deliveries(), 1)
		require.True(t, d.deliveries()[0].LastCall)
	})
}

func TestUnverifiedEscrowDelaysNoDeadline(t *testing.T) {
	during(t, func(t *testing.T, d *delivering) {
		d.err = errors.New("nodes disagree")
		over := inMilestones(false)
		d.observe(over, testNow, time.Second)
		d.f.verifyAt = time.Now().Add(time.Hour)
		d.observe(over, testNow, time.Second)
		require.False(t, d.f.acting)
		require.Equal(t, over.LatestClaim(2)-claimMargin, d.f.wakeAt, "the next call")
		d.client = new(haggle.Client)
		d.observe(over, over.MilestoneDeadline+sellerGrace, 0)
		require.True(t, d.f.acting, "the milestones are settled")
	})
}

// A node lied, and now shows the agent's turn again.
func TestVerificationOfAnEscrowEndsWithItsAgreement(t *testing.T) {
	during(t, func(t *testing.T, d *delivering) {
		d.takes = time.Minute
		d.observe(inMilestones(false), testNow, time.Second)
		require.Len(t, d.verifications(), 1)
		d.observe(bargaining(2), testNow, 2*time.Minute)
		require.Empty(t, d.verifying)
		require.Empty(t, d.failed)
		require.Empty(t, d.deliveries())
		require.Zero(t, d.f.escrowed)
	})
}

func TestBuyerDeliversWithoutVerification(t *testing.T) {
	during(t, func(t *testing.T, d *delivering) {
		d.f.side = protocol.OfferSideBuyer
		d.observe(inMilestones(true), testNow, time.Second)
		require.Empty(t, d.verifications())
		require.Len(t, d.deliveries(), 1)
	})
}

// The settlement event contains no parties, and can arrive during the verification.
func TestUnverifiedSettlementIsReturnedWhole(t *testing.T) {
	during(t, func(t *testing.T, d *delivering) {
		d.err, d.takes = transaction.ErrSingleSource, time.Second
		d.single = &single{address: d.f.address, until: time.Now().Add(time.Hour)}
		d.end = func(error) {}
		settled := with(inMilestones(false), func(n *protocol.Negotiation) {
			n.Status, n.PaidGross = protocol.NegotiationStatusSettled, 2_000_000
		})
		whole := resultOf(&haggle.Snapshot{Address: d.f.address, Negotiation: settled}, protocol.OfferSideSeller)
		d.f.result = whole
		d.observe(settled, testNow, time.Millisecond)
		d.f.note(haggle.EventEnvelope{Event: &protocol.NegotiationSettled{SettledAmount: 2_000_000}})
		d.process(time.Minute)
		require.Equal(t, whole, d.single.result)
		require.ErrorIs(t, d.single.lastErr, transaction.ErrSingleSource)
	})
}
