package agent_test

import (
	"errors"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// TestPlayersDecideAsInTheSimulation plays simulated sessions turn by turn through Player.Decide.
func TestPlayersDecideAsInTheSimulation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := onchain.Rules{
			Escrow: rapid.Uint64Range(100_000, 1<<45).Draw(t, "escrow"), MaxRounds: uint8(rapid.IntRange(1, 20).Draw(t, "rounds")),
			DecayRateBps: uint16(rapid.IntRange(0, 500).Draw(t, "decay")), MinOfferBps: 1_000, FeeBps: 50,
			ResponseWindow: 300, Deadline: 3_600,
		}
		n := &haggle.Snapshot{}
		n.Status, n.EscrowAmount, n.EffectiveEscrow = protocol.NegotiationStatusProposed, rules.Escrow, rules.Escrow
		n.MaxRounds, n.DecayRateBps, n.MinOfferBps = rules.MaxRounds, rules.DecayRateBps, rules.MinOfferBps
		n.ProtocolFeeBps, n.ResponseWindow, n.GlobalDeadline = rules.FeeBps, rules.ResponseWindow, rules.Deadline
		n.Buyer, n.Seller = solana.PublicKey{1}, solana.PublicKey{2}
		domain, err := onchain.Domain(rules.Escrow)
		require.NoError(t, err)
		var players [2]agent.Player
		var simulated [2]onchain.Player
		for side := range players {
			players[side] = agent.Player{
				Strategy: rapid.SampledFrom([]bargain.Strategy{
					strategy.Linear(), strategy.GeniusBoulware(), strategy.NegmasConceder(), strategy.Random(), strategy.TitForTat(),
				}).Draw(t, "strategy"),
				Opening:     rapid.Uint64Range(0, rules.Escrow).Draw(t, "opening"),
				Reservation: rapid.Uint64Range(0, rules.Escrow*9/10).Draw(t, "reservation"), Seed: 5,
			}
			reservation := players[side].Reservation
			if side == 1 {
				reservation = onchain.Gross(&n.Negotiation, reservation)
			}
			p, opening, err := onchain.Preferences(domain, protocol.OfferSide(side), players[side].Opening, reservation)
			require.NoError(t, err)
			simulated[side] = onchain.Player{Strategy: players[side].Strategy, Preferences: p, Opening: opening}
		}
		result, err := rules.Run(5, simulated[0], simulated[1])
		require.NoError(t, err)
		turn := agent.Turn{Negotiation: n}
		for {
			turn.Side = n.Turn()
			decision, err := players[turn.Side].Decide(t.Context(), turn)
			require.NoError(t, err)
			offer, offers := decision.(agent.Offer)
			if !offers {
				want := map[bargain.Ending]agent.Decision{
					bargain.EndingAgreement: agent.Accept{}, bargain.EndingLeft: agent.Reject{},
				}
				require.Equal(t, want[result.Ending], decision)
				break
			}
			amount := domain.Issue(0).Amount(uint64(result.History[len(turn.History)].Outcome))
			require.Equal(t, amount, offer.Amount)
			onchain.Apply(&n.Negotiation, turn.Side, offer.Amount, 0)
			n.CurrentOfferBy = n.Party(turn.Side)
			turn.History = append(turn.History, agent.PastOffer{Round: n.CurrentRound, Side: turn.Side, Amount: offer.Amount})
		}
		require.Len(t, result.History, len(turn.History))
	})
}

func TestPlayersWaitForMissingOffersUntilTheLastCall(t *testing.T) {
	n := &haggle.Snapshot{}
	n.Status, n.EscrowAmount, n.EffectiveEscrow, n.MaxRounds = protocol.NegotiationStatusProposed, 1_000_000, 1_000_000, 4
	n.CurrentRound, n.OfferSide, n.CurrentOfferAmount, n.CurrentOfferBy = 2, protocol.OfferSideSeller, 700_000, solana.PublicKey{2}
	n.GlobalDeadline, n.Seller = 3_600, solana.PublicKey{2}
	turn := agent.Turn{
		Negotiation: n, Side: protocol.OfferSideBuyer,
		History: []agent.PastOffer{{Round: 2, Side: protocol.OfferSideSeller, Amount: 700_000}},
	}
	player := agent.Player{Strategy: strategy.Linear(), Opening: 300_000, Reservation: 600_000}
	_, err := player.Decide(t.Context(), turn)
	require.EqualError(t, err, "agent: not all offers are known: 1 of 2")
	turn.LastCall = true
	decision, err := player.Decide(t.Context(), turn)
	require.NoError(t, err)
	require.Equal(t, agent.Offer{Amount: 600_000}, decision)
}

// A seller waits on each turn until the deadline is near, with an offer just within the buyer's limit of
// 4.00. The buyer does not accept 3.95 before the target reaches it, at any time of any turn.
func TestWaitingCounterpartyGainsNothing(t *testing.T) {
	n := &haggle.Snapshot{}
	n.Buyer, n.Seller = solana.PublicKey{1}, solana.PublicKey{2}
	n.Status, n.EscrowAmount, n.EffectiveEscrow, n.MaxRounds = protocol.NegotiationStatusProposed, 5_000_000, 5_000_000, 8
	n.GlobalDeadline, n.ResponseWindow, n.MinOfferBps, n.DecayRateBps = 3_600, 300, 1_000, 150
	player := agent.Player{Strategy: strategy.Linear(), Opening: 2_000_000, Reservation: 4_000_000}
	turn := agent.Turn{Negotiation: n, Side: protocol.OfferSideBuyer}
	var targets []uint64
	for n.CurrentRound < n.MaxRounds {
		for _, left := range []int64{600, 20, 19, 1} {
			turn.Now, turn.LastCall = n.GlobalDeadline-left, left < 20
			decision, err := player.Decide(t.Context(), turn)
			require.NoError(t, err)
			if n.CurrentRound == n.MaxRounds-2 {
				// The strategy's own target for the last offer is the reservation price.
				require.Equal(t, agent.Accept{}, decision)
				continue
			}
			require.IsType(t, agent.Offer{}, decision, "round %d, %d s left", n.CurrentRound, left)
			targets = append(targets, decision.(agent.Offer).Amount)
		}
		own := agent.PastOffer{Round: n.CurrentRound + 1, Amount: targets[len(targets)-1]}
		asked := agent.PastOffer{Round: n.CurrentRound + 2, Side: protocol.OfferSideSeller, Amount: 3_950_000}
		turn.History = append(turn.History, own, asked)
		for _, offer := range []agent.PastOffer{own, asked} {
			onchain.Apply(&n.Negotiation, offer.Side, offer.Amount, n.GlobalDeadline-1)
			n.CurrentOfferBy = n.Party(offer.Side)
		}
	}
	require.Equal(t, []uint64{
		2_000_000, 2_000_000, 2_000_000, 2_000_000, 2_666_666, 2_666_666, 2_666_666, 2_666_666, 3_333_333, 3_333_333,
		3_333_333, 3_333_333,
	}, targets)
}

func TestPlayersRecordTheirDecisions(t *testing.T) {
	n := &haggle.Snapshot{Address: solana.PublicKey{7}}
	n.Status, n.EscrowAmount, n.EffectiveEscrow, n.MaxRounds = protocol.NegotiationStatusProposed, 1_000_000, 1_000_000, 4
	n.Buyer, n.Seller, n.GlobalDeadline, n.MinOfferBps = solana.PublicKey{1}, solana.PublicKey{2}, 3_600, 1_000
	var records []agent.Record
	player := agent.Player{
		Strategy: strategy.Linear(), Name: "linear", Opening: 300_000, Reservation: 600_000,
		Decided: func(r agent.Record) error { records = append(records, r); return nil },
	}
	turn := agent.Turn{Negotiation: n, Side: protocol.OfferSideBuyer, Now: 10, Deadline: 60}
	for _, asked := range []uint64{700_000, 600_000} {
		decision, err := player.Decide(t.Context(), turn)
		require.NoError(t, err)
		turn.History = append(turn.History,
			agent.PastOffer{Round: n.CurrentRound + 1, Amount: decision.(agent.Offer).Amount},
			agent.PastOffer{Round: n.CurrentRound + 2, Side: protocol.OfferSideSeller, Amount: asked})
		n.CurrentRound += 2
		n.CurrentOfferAmount, n.OfferSide, n.CurrentOfferBy = asked, protocol.OfferSideSeller, n.Seller
	}
	_, err := player.Decide(t.Context(), turn)
	require.NoError(t, err)
	require.Len(t, records, 3)
	require.Equal(t, agent.Record{
		Negotiation: n.Address, Side: "buyer", Strategy: "linear", Time: 10, Deadline: 60, Round: 2, MaxRounds: 4,
		Standing: 700_000, Escrow: 1_000_000, Previous: 300_000, Least: 100_000, Most: 1_000_000, Move: "offer",
		Price: 600_000, Reason: "lowest outcome that meets the curve's target: concedes",
		Values: &agent.Values{
			Time: fixed.One, Utility: new(fixed.One / 10 * 4), Standing: new(fixed.One / 10 * 3),
			Reservation: fixed.One / 10 * 4,
		},
	}, records[1])
	require.Equal(t, "lowest outcome that meets the curve's target: first offer", records[0].Reason)
	require.Equal(t, &agent.Values{Utility: new(fixed.One / 10 * 7), Reservation: fixed.One / 10 * 4},
		records[0].Values)
	require.Equal(t, []any{"accept", uint64(600_000), "ACnext: at least as good as the next offer"},
		[]any{records[2].Move, records[2].Price, records[2].Reason})
	require.Equal(t, records[2].Values.Utility, records[2].Values.Standing)
	// A seller whose reservation price exceeds the escrow lacks utilities.
	seller := player
	seller.Reservation = 1_000_001
	_, err = seller.Decide(t.Context(), agent.Turn{
		Negotiation: n, Side: protocol.OfferSideSeller, LastCall: true,
	})
	require.NoError(t, err)
	require.Equal(t, "the escrow does not cover the reservation price", records[3].Reason)
	require.Nil(t, records[3].Values)

	full := errors.New("disk full")
	player.Decided = func(agent.Record) error { return full }
	_, err = player.Decide(t.Context(), turn)
	require.ErrorIs(t, err, full, "a decision without a record")
}

func TestPlayersOfferNothingBeyondTheirReservation(t *testing.T) {
	n := &haggle.Snapshot{}
	n.Status, n.EscrowAmount, n.EffectiveEscrow, n.MaxRounds = protocol.NegotiationStatusProposed, 1_000_000, 1_000_000, 4
	n.GlobalDeadline = 3_600
	turn := agent.Turn{Negotiation: n, Side: protocol.OfferSideBuyer}
	for name, s := range strategy.Named() {
		player := agent.Player{Strategy: s, Opening: 300_000, Reservation: 600_000, Seed: 4}
		decision, err := player.Decide(t.Context(), turn)
		require.NoError(t, err)
		if offer, offers := decision.(agent.Offer); offers {
			require.LessOrEqual(t, offer.Amount, uint64(600_000), name)
		}
	}
}

// TestAssessmentHasTheMoveOfDecide compares both for a buyer, and a seller that the escrow does not cover.
func TestAssessmentHasTheMoveOfDecide(t *testing.T) {
	n := &haggle.Snapshot{}
	n.Status, n.EscrowAmount, n.EffectiveEscrow, n.MaxRounds = protocol.NegotiationStatusProposed, 1_000_000, 1_000_000, 4
	n.Buyer, n.Seller, n.GlobalDeadline = solana.PublicKey{1}, solana.PublicKey{2}, 3_600
	player := agent.Player{Strategy: strategy.Linear(), Opening: 300_000, Reservation: 600_000}
	turn := agent.Turn{Negotiation: n, Side: protocol.OfferSideBuyer}
	for _, asked := range []uint64{700_000, 500_000} {
		assessed, err := player.Assess(turn)
		require.NoError(t, err)
		decision, err := player.Decide(t.Context(), turn)
		require.NoError(t, err)
		require.Equal(t, decision.(agent.Offer).Amount, uint64(assessed.Target))
		require.Equal(t, bargain.MoveOffer, assessed.Move.Move)
		turn.History = append(turn.History, agent.PastOffer{Round: n.CurrentRound + 1, Amount: uint64(assessed.Target)},
			agent.PastOffer{Round: n.CurrentRound + 2, Side: protocol.OfferSideSeller, Amount: asked})
		n.CurrentRound += 2
		n.CurrentOfferAmount, n.OfferSide, n.CurrentOfferBy = asked, protocol.OfferSideSeller, n.Seller
	}
	assessed, err := player.Assess(turn)
	require.NoError(t, err)
	require.Equal(t, bargain.MoveAccept, assessed.Move.Move)
	require.EqualValues(t, 600_000, assessed.Target, "the offer that it would make")
	player.Suits = func(*haggle.Snapshot) bool { return false }
	assessed, err = player.Assess(turn)
	require.NoError(t, err)
	require.Equal(t, bargain.NoOutcome, assessed.State.Offer)
	player.Reservation, turn.Side, turn.LastCall = 1_000_001, protocol.OfferSideSeller, true
	assessed, err = player.Assess(turn)
	require.NoError(t, err)
	require.Nil(t, assessed.Preferences)
	require.Equal(t, bargain.MoveEnd, assessed.Move.Move)
	turn.LastCall, turn.History = false, nil
	_, err = player.Assess(turn)
	require.ErrorIs(t, err, agent.ErrOffersMissing)
}
