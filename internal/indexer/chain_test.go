package indexer

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// The database holds a real chain's events and accounts, and the amounts add up.
func TestTheDatabaseEqualsTheChain(t *testing.T) {
	s := newScenario(t)
	database := newSQLite(t)
	// The indexer runs in the middle, and again at the end.
	s.endow()
	s.bargain(7)
	runOnce(t, s.ctx, database, s.Client.RPC(), rpc.CommitmentConfirmed)
	s.all()
	runOnce(t, s.ctx, database, s.Client.RPC(), rpc.CommitmentConfirmed)

	t.Run("every event is there once and in order", func(t *testing.T) {
		events, signatures := s.onChain()
		var stored []protocol.Event
		var storedSignatures []solana.Signature
		require.NoError(t, database.statements().each(s.ctx, func(scan scanner) error {
			var data []byte
			var signature string
			if err := scan(&data, &signature); err != nil {
				return err
			}
			event, err := protocol.DecodeEvent(data)
			stored, storedSignatures = append(stored, event), append(storedSignatures, solana.MustSignatureFromBase58(signature))
			return err
		}, `SELECT data, signature FROM events ORDER BY slot, position, event_index`))
		require.Equal(t, events, stored)
		require.Equal(t, signatures, storedSignatures)
		require.Zero(t, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM events WHERE instruction_index IS NULL OR instruction_index < 1`))
	})

	t.Run("accounts are as the chain has them", func(t *testing.T) {
		count := 0
		for n, err := range s.Client.FindNegotiations(s.ctx, haggle.Filter{}) {
			require.NoError(t, err)
			count++
			row := database.statements().row(s.ctx, `SELECT status, current_round, effective_escrow, session_id, turn_deadline, bump, milestone_bps
				FROM account_states WHERE negotiation = $1 AND present ORDER BY life DESC`, n.Address.String())
			var status, effective, session, shares string
			var round, deadline, bump int64
			require.NoError(t, row.Scan(&status, &round, &effective, &session, &deadline, &bump, &shares))
			require.Equal(t, n.Status.String(), status)
			require.EqualValues(t, n.CurrentRound, round)
			require.Equal(t, decimal(&n.EffectiveEscrow), effective)
			require.Equal(t, decimal(&n.SessionID), session)
			require.Equal(t, n.TurnDeadline, deadline)
			require.EqualValues(t, n.Bump, bump)
			require.Equal(t, "[0,0,0,0,0,0,0,0]", shares)
			// The events alone give the same values.
			require.Equal(t, status, single[string](t, s.ctx, database,
				`SELECT status FROM negotiations WHERE negotiation = $1 ORDER BY life DESC LIMIT 1`, n.Address.String()))
			require.Equal(t, effective, single[string](t, s.ctx, database,
				`SELECT effective_escrow FROM negotiations WHERE negotiation = $1 ORDER BY life DESC LIMIT 1`, n.Address.String()))
		}
		require.Equal(t, count, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM accounts WHERE present`))
		require.Equal(t, 3, count)
	})

	t.Run("money is conserved, and adds up to what the protocol has counted", func(t *testing.T) {
		require.Zero(t, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM violations`))
		require.Zero(t, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM negotiations WHERE NOT complete`))
		config, err := s.Client.GetConfig(s.ctx)
		require.NoError(t, err)
		require.EqualValues(t, config.TotalNegotiations, single[int](t, s.ctx, database, `SELECT SUM(closed) FROM totals`))
		require.EqualValues(t, config.TotalSettledVolume, single[int](t, s.ctx, database, `SELECT SUM(CAST(settled_amount AS INTEGER)) FROM totals`))
		require.EqualValues(t, config.TotalFeesCollected, single[int](t, s.ctx, database, `SELECT SUM(CAST(fees AS INTEGER)) FROM totals`))
		treasury, err := token.AssociatedAddress(s.Treasury, s.Mint, solana.TokenProgramID)
		require.NoError(t, err)
		held, err := s.Chain.Tokens(s.ctx, treasury)
		require.NoError(t, err)
		require.EqualValues(t, held, single[int](t, s.ctx, database, `SELECT SUM(CAST(swept AS INTEGER)) FROM outcomes`))
	})

	t.Run("negotiations at one address are separate", func(t *testing.T) {
		require.Equal(t, 1, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM outcomes WHERE life = 2`))
		require.Equal(t, "Rejected", single[string](t, s.ctx, database, `SELECT o.status FROM outcomes o JOIN outcomes p ON p.negotiation = o.negotiation
			WHERE o.life = 1 AND p.life = 2`))
		require.Equal(t, "10000000", single[string](t, s.ctx, database, `SELECT escrow_amount FROM outcomes WHERE life = 2`))
	})

	t.Run("bonds, milestones and accepted offers", func(t *testing.T) {
		require.Equal(t, 1, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM outcomes WHERE bond_state = 'Split' AND status = 'Expired'`))
		require.Equal(t, 1, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM outcomes WHERE milestone_count = 3 AND status = 'Settled'`))
		require.Equal(t, 4, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM offers WHERE accepted`))
		require.Equal(t, 1, single[int](t, s.ctx, database, `SELECT COUNT(DISTINCT mint) FROM offers`))
	})

	t.Run("another run changes nothing", func(t *testing.T) {
		before := contents(t, s.ctx, database)
		runOnce(t, s.ctx, database, s.Client.RPC(), rpc.CommitmentConfirmed)
		require.Equal(t, before, contents(t, s.ctx, database))
	})

	t.Run("finalized does not hold what is merely confirmed", func(t *testing.T) {
		final := newSQLite(t)
		runOnce(t, s.ctx, final, s.Client.RPC(), rpc.CommitmentFinalized)
		require.Zero(t, single[int](t, s.ctx, final, `SELECT COUNT(*) FROM slots, progress WHERE slot > finalized_slot OR NOT final`))
		require.Positive(t, single[int](t, s.ctx, final, `SELECT COUNT(*) FROM events`))
	})
}
