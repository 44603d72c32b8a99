package llm_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// bargained returns the turn of a buyer after offers of 1.5 and 2 tokens. The linear strategy offers 3.166666
// next, and its band ends at 2.766666.
func bargained() agent.Turn {
	return newTurn(protocol.OfferSideBuyer, 1_500_000, 4_400_000, 2_000_000, 3_900_000)
}

func TestOfferIsMovedToTheEdgeOfTheBand(t *testing.T) {
	for price, want := range map[string]struct{ offered, correction string }{
		"3":           {"3", ""},
		"3.10":        {"3.1", ""},
		"3.000000999": {"3", ""},
		"3.5":         {"3.166666", "raised to the least utility of the band"},
		"1000000":     {"3.166666", "raised to the least utility of the band"},
		"2":           {"2.766666", "lowered to the highest utility of the band"},
		"0":           {"2.766666", "lowered to the highest utility of the band"},
	} {
		record, _ := decide(t, t.Context(), saying("test:model", pricing(price)), bargained(), llm.Options{})
		require.Equal(t, "offer", record.Move.Move, price)
		require.Equal(t, want.offered, record.Move.Offer.Price, price)
		require.Equal(t, want.correction, record.Correction, price)
		require.Equal(t, [2]int{4, 8}, [2]int{record.Round, record.Rounds})
		require.Equal(t, price, record.Answers[0].Price)
		require.Empty(t, record.Fallback)
	}
	record, _ := decide(t, t.Context(), saying("test:model", pricing("3.5")), bargained(), llm.Options{SlackBps: 500})
	require.Equal(t, "3.366666", record.Move.Offer.Price, "the owner permits a twentieth of the range less")
	record, _ = decide(t, t.Context(), saying("test:model", pricing("0")), bargained(), llm.Options{LeadBps: 10_000})
	require.Equal(t, "0.5", record.Move.Offer.Price, "the program's least offer")
	record, _ = decide(t, t.Context(), saying("test:model", choosing(2)), bargained(), llm.Options{})
	require.Equal(t, "2.966666", record.Move.Offer.Price)
	require.Equal(t, 2, record.Answers[0].Candidate)
}

// TestAcceptanceNeedsTheStrategysTarget tries standing offers around target and slack.
func TestAcceptanceNeedsTheStrategysTarget(t *testing.T) {
	for _, test := range []struct {
		standing uint64
		slack    uint16
		move     string
		fallback string
	}{
		{3_400_000, 0, "offer", "the acceptance is below the band"},
		{3_400_000, 500, "offer", "the acceptance is below the band"},
		{3_300_000, 500, "accept", ""},
		{3_100_000, 0, "accept", ""},
	} {
		turn := newTurn(protocol.OfferSideBuyer, 1_500_000, 4_400_000, 2_000_000, test.standing)
		record, _ := decide(t, t.Context(), saying("test:model", accepting), turn, llm.Options{SlackBps: test.slack})
		require.Equal(t, test.move, record.Move.Move, test)
		require.Equal(t, test.fallback, record.Fallback, test)
		require.Equal(t, test.fallback, record.Answers[0].Override, test)
	}
	first := newTurn(protocol.OfferSideBuyer)
	record, _ := decide(t, t.Context(), saying("test:model", accepting), first, llm.Options{})
	require.Equal(t, "there is no offer to accept", record.Fallback)
}

// TestModelMayDeclineAnOfferThatTheStrategyAccepts, except on a last turn, where no model is asked.
func TestModelMayDeclineAnOfferThatTheStrategyAccepts(t *testing.T) {
	model := saying("test:model", pricing("3"))
	turn := newTurn(protocol.OfferSideBuyer, 1_500_000, 4_400_000, 2_000_000, 3_100_000)
	record, _ := decide(t, t.Context(), model, turn, llm.Options{})
	require.Equal(t, "accept", record.StrategyMove.Move)
	require.Equal(t, "3", record.Move.Offer.Price)

	for name, last := range map[string]func() agent.Turn{
		"no further turn": func() agent.Turn {
			turn := newTurn(protocol.OfferSideBuyer, 1_500_000, 4_400_000, 2_000_000, 3_100_000)
			turn.Negotiation.MaxRounds = 5
			return turn
		},
		"the deadline can come before": func() agent.Turn {
			turn := newTurn(protocol.OfferSideBuyer, 1_500_000, 4_400_000, 2_000_000, 3_100_000)
			turn.Now = turn.Negotiation.GlobalDeadline - turn.Negotiation.ResponseWindow
			turn.Deadline = turn.Negotiation.GlobalDeadline
			return turn
		},
	} {
		model.calls.Store(0)
		record, _ := decide(t, t.Context(), model, last(), llm.Options{})
		require.Equal(t, "accept", record.Move.Move, name)
		require.Equal(t, "the strategy accepts, and there may be no further turn", record.Fallback)
		require.Zero(t, model.calls.Load())
	}
}

func TestOnlyAnOwnerWhoPermitsItLetsAModelWalkAway(t *testing.T) {
	model := saying("test:model", rejecting)
	record, _ := decide(t, t.Context(), model, bargained(), llm.Options{})
	require.Equal(t, "offer", record.Move.Move)
	require.Equal(t, "the owner does not permit to end the negotiation", record.Fallback)
	record, _ = decide(t, t.Context(), model, bargained(), llm.Options{MayWalkAway: true})
	require.Equal(t, llm.Move{Move: "end", Reason: "chosen by the model"}, record.Move)
	require.Empty(t, record.Fallback)

	// A seller whose rejection would forfeit its bond.
	turn := newTurn(protocol.OfferSideSeller)
	n := turn.Negotiation
	n.ZopaEnabled, n.ZopaPhase = true, protocol.ZopaPhaseRevealed
	n.BondState, n.BondRequired = protocol.BondStateHeld, 5
	n.CurrentOfferAmount, n.CurrentOfferBy = 3_000_000, n.Address
	require.True(t, n.RejectionForfeitsBond())
	player := newPlayer(t, model, llm.Options{Opening: sellerOpening, MayWalkAway: true, Logger: quiet})
	decision, err := player.Decide(t.Context(), turn)
	require.NoError(t, err)
	require.Equal(t, agent.Wait{}, decision, "the next offer is the buyer's")
	require.EqualValues(t, 2, model.calls.Load(), "there is nothing to decide")
	turn.Limits.MinPrice = 4_999_999 // the strategy ends
	decision, err = player.Decide(t.Context(), turn)
	require.NoError(t, err)
	require.Equal(t, agent.Wait{}, decision)
}

// TestAcceptanceAfterTheLastOfferFollowsTheTarget has no rounds left: the model can accept within the slack, or else the
// strategy decides. A hardliner, too, accepts at its last turn a price within its limit.
func TestAcceptanceAfterTheLastOfferFollowsTheTarget(t *testing.T) {
	turn := newTurn(protocol.OfferSideBuyer, 1_500_000, 4_400_000, 3_000_000, 3_900_000)
	turn.Negotiation.MaxRounds = 4
	model := saying("test:model", accepting)
	record, _ := decide(t, t.Context(), model, turn, llm.Options{})
	require.Equal(t, "accept", record.Move.Move, "the target is the reservation price")
	hard := llm.Options{Strategy: strategy.Hardliner(), Name: "hardliner"}
	record, _ = decide(t, t.Context(), model, turn, hard)
	require.Equal(t, "accept", record.Move.Move)
	require.Equal(t, "the strategy accepts, and there may be no further turn", record.Fallback)
}

func TestInvalidAnswersLeaveTheMoveToTheStrategy(t *testing.T) {
	for _, text := range []string{
		"", "I offer 3 tokens.", "null", `"offer"`, "{}", pricing(""), pricing("3 USDC"), pricing("3000000u"),
		pricing("-3"), pricing("3e0"),
		choosing(5), choosing(-1), `{"move":"offer","candidate":1.5}`, `{"move":"offer","candidate":1,"limit":9}`,
		`{"move":"offer","candidate":1} ` + pricing("3"), `{"move":"ACCEPT"}`,
	} {
		record, _ := decide(t, t.Context(), saying("test:model", text), bargained(), llm.Options{})
		require.Equal(t, "3.166666", record.Move.Offer.Price, text)
		require.Equal(t, "no model has given a usable answer", record.Fallback, text)
		require.Equal(t, llm.FailureInvalid, record.Answers[0].Failure, text)
		require.EqualValues(t, 60, record.Usage.OutputTokens, "an invalid answer costs as much")
	}
}

// TestTheStrategyDecidesAloneWithoutAChoice covers turns with one move or none, and turns after an invalid
// decision.
func TestTheStrategyDecidesAloneWithoutAChoice(t *testing.T) {
	model := saying("test:model", choosing(1))
	first := newTurn(protocol.OfferSideBuyer)
	first.Limits.MaxTotal = 500_000
	uncovered := newTurn(protocol.OfferSideSeller, 1_000_000)
	uncovered.Limits.MinPrice = 4_999_999
	repeated := bargained()
	repeated.Invalid = errors.New("the decision was invalid")
	for name, turn := range map[string]agent.Turn{
		"only one move is possible": first, "the strategy has no offer": uncovered,
		"the decision before was invalid": repeated,
	} {
		record, _ := decide(t, t.Context(), model, turn, llm.Options{})
		require.Equal(t, name, record.Fallback)
		require.Zero(t, model.calls.Load(), name)
		require.NotNil(t, record.Answers)
	}
}

// TestStricterLimitDecides tries reservation prices within and beyond the agent's limit.
func TestStricterLimitDecides(t *testing.T) {
	for side, model := range []*scriptedModel{
		protocol.OfferSideBuyer:  saying("test:model", pricing("1000")),
		protocol.OfferSideSeller: saying("test:model", pricing("0")),
	} {
		for _, reservation := range []uint64{0, 1_900_000, 3_000_000, 4_500_000} {
			turn := newTurn(protocol.OfferSide(side))
			if turn.Side == protocol.OfferSideSeller {
				offer(&turn, 1_000_000)
			}
			player := newPlayer(t, model, llm.Options{
				Reservation: reservation, Strategy: strategy.CAR(), SlackBps: 10_000, Logger: quiet,
			})
			decision, err := player.Decide(t.Context(), turn)
			require.NoError(t, err)
			want := min(reservation, turn.Limits.MaxTotal)
			if reservation == 0 {
				want = turn.Limits.MaxTotal
			}
			if turn.Side == protocol.OfferSideSeller {
				least := max(reservation, turn.Limits.MinPrice)
				want = decision.(agent.Offer).Amount
				require.GreaterOrEqual(t, want-turn.Negotiation.FeeOn(want), least)
				require.Less(t, want-1-turn.Negotiation.FeeOn(want-1), least)
			}
			require.Equal(t, agent.Offer{Amount: want}, decision)
		}
	}
	turn := newTurn(protocol.OfferSideBuyer)
	turn.Limits = agent.Limits{}
	_, err := newPlayer(t, saying("test:model", "{}"), llm.Options{}).Decide(t.Context(), turn)
	require.ErrorIs(t, err, agent.ErrBeyondLimit)
}

// TestOffersWithTermsAreNotAccepted unless the owner's function permits them.
func TestOffersWithTermsAreNotAccepted(t *testing.T) {
	turn := newTurn(protocol.OfferSideBuyer, 1_500_000, 2_000_000)
	turn.Negotiation.Metadata = protocol.Terms{QualityTier: 1}.Metadata()
	player := newPlayer(t, saying("test:model", accepting), llm.Options{Opening: buyerOpening, Logger: quiet})
	decision, err := player.Decide(t.Context(), turn)
	require.NoError(t, err)
	require.IsType(t, agent.Offer{}, decision)
	player.Suits = func(*haggle.Snapshot) bool { return true }
	decision, err = player.Decide(t.Context(), turn)
	require.NoError(t, err)
	require.Equal(t, agent.Accept{}, decision)
}

func TestOffersCarryTheCommitment(t *testing.T) {
	player := newPlayer(t, saying("test:model", pricing("3")), llm.Options{Opening: buyerOpening, Logger: quiet})
	player.Commit = func(*haggle.Snapshot) ([32]byte, error) { return [32]byte{9}, nil }
	decision, err := player.Decide(t.Context(), bargained())
	require.NoError(t, err)
	require.Equal(t, agent.Offer{Amount: 3_000_000, Terms: &protocol.Terms{StrategyHash: [32]byte{9}}}, decision)
}

// TestNoDecisionWithoutItsRecord returns the error of Decided.
func TestNoDecisionWithoutItsRecord(t *testing.T) {
	full := errors.New("disk full")
	player := newPlayer(t, saying("test:model", pricing("3")), llm.Options{
		Logger: quiet, Decided: func(llm.Record) error { return full },
	})
	_, err := player.Decide(t.Context(), bargained())
	require.ErrorIs(t, err, full)
	turn := bargained()
	turn.History = turn.History[1:]
	_, err = player.Decide(t.Context(), turn)
	require.ErrorIs(t, err, agent.ErrOffersMissing)
}

// TestIdenticalTurnIsAskedOnce repeats a turn later, and changes its position.
func TestIdenticalTurnIsAskedOnce(t *testing.T) {
	model := saying("test:model", pricing("3"))
	var record llm.Record
	player := newPlayer(t, model, llm.Options{
		Opening: buyerOpening, Logger: quiet, Decided: func(r llm.Record) error { record = r; return nil },
	})
	for _, later := range []int64{0, 30, 60} {
		turn := bargained()
		turn.Now += later
		decision, err := player.Decide(t.Context(), turn)
		require.NoError(t, err)
		require.Equal(t, agent.Offer{Amount: 3_000_000}, decision)
		require.Equal(t, later > 0, record.Cached)
		require.Equal(t, later == 0, record.Usage.Requests == 1)
		require.Equal(t, "3", record.Answers[0].Price)
	}
	require.EqualValues(t, 1, model.calls.Load())
	for name, change := range map[string]func(*agent.Turn){
		"another offer":       func(turn *agent.Turn) { turn.History[3].Amount--; turn.Negotiation.CurrentOfferAmount-- },
		"another negotiation": func(turn *agent.Turn) { turn.Negotiation.CreatedAt++ },
		"another address":     func(turn *agent.Turn) { turn.Negotiation.Address = solana.PublicKey{8} },
		"another limit":       func(turn *agent.Turn) { turn.Limits.MaxTotal-- },
	} {
		turn := bargained()
		change(&turn)
		before := model.calls.Load()
		_, err := player.Decide(t.Context(), turn)
		require.NoError(t, err)
		require.Equal(t, before+1, model.calls.Load(), name)
	}
}

// TestFailedTurnIsAskedAgain because fallbacks are not cached.
func TestFailedTurnIsAskedAgain(t *testing.T) {
	model := &scriptedModel{name: "test:model"}
	model.respond = func(context.Context, llm.Request) (*llm.Response, error) {
		if model.calls.Load() == 1 {
			return answered("prose")
		}
		return answered(pricing("3"))
	}
	player := newPlayer(t, model, llm.Options{Opening: buyerOpening, Logger: quiet})
	for _, want := range []uint64{3_166_666, 3_000_000, 3_000_000} {
		decision, err := player.Decide(t.Context(), bargained())
		require.NoError(t, err)
		require.Equal(t, agent.Offer{Amount: want}, decision)
	}
	require.EqualValues(t, 2, model.calls.Load())
}
