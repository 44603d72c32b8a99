package party

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

func TestStrategiesReachADealInBothRoles(t *testing.T) {
	seeker := Player{Strategy: strategy.NegmasLinear(), Opening: 3e6, Reservation: 6e6, Rounds: 8}
	worker := Player{Strategy: strategy.NegmasConceder(), Opening: 6e6, Reservation: 3e6, Rounds: 8}
	b := newTable(t)
	b.proposes("3 USDC")
	for role := hire.RoleWorker; b.seeker.state.Phase == hire.PhaseNegotiating; {
		player := seeker
		if role == hire.RoleWorker {
			player = worker
		}
		move, err := player.Decide(t.Context(), b.turn(role))
		require.NoError(t, err)
		b.plays(role, move)
		if role == hire.RoleWorker {
			role = hire.RoleSeeker
		} else {
			role = hire.RoleWorker
		}
	}
	require.Equal(t, hire.PhaseContracted, b.seeker.state.Phase)
	price := b.seeker.offers[len(b.seeker.offers)-1].Price
	require.Greater(t, price, uint64(3_015_076))
	require.LessOrEqual(t, price, uint64(6e6))
}

func TestStrategyEndsADealWithoutRoundsLeft(t *testing.T) {
	worker := Player{Strategy: strategy.NegmasBoulware(), Opening: 6e6, Reservation: 5e6, Rounds: 2}
	b := newTable(t)
	b.proposes("4 USDC")
	move, err := worker.Decide(t.Context(), b.turn(hire.RoleWorker))
	require.NoError(t, err)
	b.plays(hire.RoleWorker, move)
	b.proposes("4.1 USDC")
	move, err = worker.Decide(t.Context(), b.turn(hire.RoleWorker))
	require.NoError(t, err)
	require.Equal(t, Reject{Code: CodeNoAgreement}, move)
}

// Prices far above the own maximum must not look like the maximum.
func TestStrategyDoesNotAcceptAPriceBeyondItsReservation(t *testing.T) {
	seeker := Player{Strategy: strategy.NegmasLinear(), Opening: 3e6, Reservation: 4e6, Rounds: 4}
	b := newTable(t)
	b.proposes("3 USDC")
	b.says(hire.RoleWorker, &hire.Counter{
		Reply: b.worker.reply(), Price: "1000 USDC", EstimatedDelivery: b.worker.state.Terms.Deadline,
	})
	move, err := seeker.Decide(t.Context(), b.turn(hire.RoleSeeker))
	require.NoError(t, err)
	require.Equal(t, Propose{Price: 4e6}, move)
}

func TestStrategyRepeatsItsOfferInsteadOfAnswering(t *testing.T) {
	b := newTable(t)
	b.proposes("3 USDC")
	b.plays(hire.RoleWorker, Ask{Questions: []string{"Which colours?"}})
	move, err := Player{Strategy: strategy.NegmasLinear(), Opening: 3e6, Reservation: 6e6}.Decide(t.Context(),
		b.turn(hire.RoleSeeker))
	require.NoError(t, err)
	require.Equal(t, Propose{Price: 3e6}, move)
}
