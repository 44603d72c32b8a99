package bargain_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// TestIsReusedFromTheSecondCallOn requires that the first session makes no tables for later ones.
func TestIsReusedFromTheSecondCallOn(t *testing.T) {
	domain, u := contract(t)
	p, err := bargain.NewPreferences(domain, u, 0)
	require.NoError(t, err)
	require.False(t, p.IsReused())
	require.True(t, p.IsReused())
	require.True(t, p.IsReused())
}

// unbounded hides a utility's known bounds.
type unbounded struct{ bargain.Utility }

// TestExtremesWithAndWithoutAnInverse requires equal extremes and ranges from a utility with known bounds,
// and from a utility with bounds taken from the inverse.
func TestExtremesWithAndWithoutAnInverse(t *testing.T) {
	domain, u := contract(t)
	worst, best := bargain.Outcome(0), bargain.Outcome(0)
	for o := range bargain.Outcome(domain.Size()) {
		if u.Of(o) < u.Of(worst) {
			worst = o
		}
		if u.Of(o) > u.Of(best) {
			best = o
		}
	}
	for _, utility := range []bargain.Utility{u, unbounded{u}} {
		p, err := bargain.NewPreferences(domain, utility, -bargain.MaxUtility)
		require.NoError(t, err)
		least, most, ok := p.Range()
		require.True(t, ok)
		require.Equal(t, u.Of(worst), least)
		require.Equal(t, u.Of(best), most)
		low, high := p.Extremes()
		p, err = bargain.NewPreferences(domain, utility, u.Of(best))
		require.NoError(t, err)
		least, most = p.Bounds()
		require.Equal(t, u.Of(worst), least, "also below the reservation value")
		require.Equal(t, u.Of(best), most)
		require.Equal(t, worst, low)
		require.Equal(t, best, high)
		require.Equal(t, best, p.Inverse().Descend().Next())
	}
}

// TestMemoKeepsValues uses keys of two types with the same number, and more keys than are kept.
func TestMemoKeepsValues(t *testing.T) {
	type first int
	type second int
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 10, 1))
	require.NoError(t, err)
	line, err := utility.PriceLine(domain, false)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, line, 0)
	require.NoError(t, err)
	built := 0
	memo := func(key any) any {
		return p.Memo(key, func() any { built++; return built })
	}
	require.Equal(t, 1, memo(first(1)))
	require.Equal(t, 2, memo(second(1)))
	require.Equal(t, 1, memo(first(1)))
	for n := range 200 {
		memo(first(2 + n))
	}
	require.Equal(t, 202, built)
	require.Equal(t, 2, memo(second(1)))
	require.Equal(t, 3, memo(first(2)))
	require.Equal(t, 203, memo(first(201)), "beyond 128 values it is built again")
	require.Equal(t, 204, memo(first(201)))
}

// TestGoroutinesShareMemos checks that several goroutines share a value built by any goroutine.
func TestGoroutinesShareMemos(t *testing.T) {
	domain, u := contract(t)
	p, err := bargain.NewPreferences(domain, u, 0)
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for key := range 100 {
				if got := p.Memo(key, func() any { return 2 * key }); got != 2*key {
					t.Errorf("%d: %v", key, got)
				}
			}
		})
	}
	group.Wait()
	for key := range 100 {
		p.Memo(key, func() any { return 2 * key })
		require.Equal(t, 2*key, p.Memo(key, func() any { return "built again" }))
	}
}

// TestValuesOverTime checks the values of an agreement worth 0.8 and no agreement, worth 0.4, at half time
// and after two steps. The factor 1/4 becomes 1/2 at half time, and 1/16 after two steps.
func TestValuesOverTime(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 10, 1))
	require.NoError(t, err)
	line, err := utility.PriceLine(domain, true)
	require.NoError(t, err)
	tenth := fixed.One / 10
	for name, test := range map[string]struct {
		discount        bargain.Discount
		agreement, none fixed.Number
	}{
		"none":           {bargain.Discount{}, 8 * tenth, 4 * tenth},
		"over time":      {bargain.Discount{Factor: fixed.One / 4}, 4 * tenth, 2 * tenth},
		"per step":       {bargain.Discount{Factor: fixed.One / 4, PerStep: true}, tenth / 2, tenth / 4},
		"cost over time": {bargain.Discount{Cost: tenth}, 7*tenth + tenth/2, 3*tenth + tenth/2},
		"cost per step":  {bargain.Discount{Cost: tenth, PerStep: true}, 6 * tenth, 2 * tenth},
		"kept":           {bargain.Discount{Factor: fixed.One / 4, KeepReservation: true}, 4 * tenth, 4 * tenth},
		"kept, cost":     {bargain.Discount{Cost: tenth, KeepReservation: true}, 7*tenth + tenth/2, 4 * tenth},
	} {
		p, err := bargain.NewDiscounted(domain, line, 4*tenth, test.discount)
		require.NoError(t, err)
		require.InDelta(t, test.agreement.Float(), p.ValueAt(8, 2, fixed.One/2).Float(), 1e-11, name)
		require.InDelta(t, test.none.Float(), p.ValueAt(bargain.NoOutcome, 2, fixed.One/2).Float(), 1e-11, name)
	}
}
