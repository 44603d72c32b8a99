package concession

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func prices(l Linear, count uint64) (all []uint64) {
	for index := range count {
		all = append(all, l.Price(index))
	}
	return all
}

func TestConcedesInEqualSteps(t *testing.T) {
	buyer := Linear{Opening: 2_000_000, Reservation: 3_500_000, Offers: 4}
	require.Equal(t, []uint64{2_000_000, 2_500_000, 3_000_000, 3_500_000, 3_500_000}, prices(buyer, 5))
	seller := Linear{Opening: 4_500_000, Reservation: 3_000_000, Offers: 4}
	require.Equal(t, []uint64{4_500_000, 4_000_000, 3_500_000, 3_000_000, 3_000_000}, prices(seller, 5))
	require.Equal(t, []uint64{7, 7}, prices(Linear{Opening: 1, Reservation: 7, Offers: 1}, 2))
	require.Equal(t, []uint64{7}, prices(Linear{Opening: 1, Reservation: 7}, 1))
	require.Equal(t, []uint64{0, math.MaxUint64 / 2, math.MaxUint64}, prices(Linear{Reservation: math.MaxUint64, Offers: 3}, 3))
}

func TestNeverBeyondTheReservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := Linear{rapid.Uint64().Draw(t, "opening"), rapid.Uint64().Draw(t, "reservation"), rapid.Uint64Range(1, 20).Draw(t, "offers")}
		previous := plan.Opening
		for index := range plan.Offers {
			price := plan.Price(index)
			if plan.Opening <= plan.Reservation {
				require.True(t, previous <= price && price <= plan.Reservation)
			} else {
				require.True(t, previous >= price && price >= plan.Reservation)
			}
			previous = price
		}
		require.Equal(t, plan.Reservation, previous)
	})
}
