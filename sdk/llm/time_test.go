package llm_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// TestDecisionIsNeverLate draws response windows and models of any speed, some of which ignore their context.
// Each decision returns before the turn's deadline less the reserve, and before the call ends.
func TestDecisionIsNeverLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(3, 4))
		answers := 0
		for range 1_000 {
			turn := newTurn(protocol.OfferSideBuyer)
			seconds := random.Int64N(120)
			turn.Deadline = turn.Now + seconds
			call := time.Duration(random.Int64N(int64(2 * time.Minute)))
			ctx, cancel := context.WithTimeout(t.Context(), call)
			model := slow(time.Duration(random.Int64N(int64(time.Minute))), random.IntN(2) == 0)
			if random.IntN(4) == 0 {
				wait := time.Duration(random.Int64N(int64(time.Minute)))
				model = failing(3, &llm.TemporaryError{Status: 429, RetryAfter: wait, Err: errors.New("slow down")})
			}
			options := llm.Options{CallTimeout: 15 * time.Second, Reserve: 5 * time.Second}
			record, took := decide(t, ctx, model, turn, options)
			require.NoError(t, ctx.Err(), "the call has ended")
			if left := time.Duration(seconds)*time.Second - options.Reserve; took > 0 {
				require.LessOrEqual(t, took, left)
			}
			if record.Fallback == "" {
				answers++
			}
			cancel()
			time.Sleep(time.Minute) // the stubborn requests return
		}
		require.Greater(t, answers, 100)
		require.Less(t, answers, 900)
	})
}

// TestDecisionOfASlowModelIsCarriedOut needs 20 seconds of a response window of 60.
func TestDecisionOfASlowModelIsCarriedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := newTurn(protocol.OfferSideSeller, 2_000_000)
		turn.Deadline = turn.Now + 60
		record, took := decide(t, t.Context(), slow(20*time.Second, false), turn, llm.Options{})
		require.Empty(t, record.Fallback)
		require.Equal(t, 20*time.Second, took)
		require.Equal(t, took, record.Duration)
	})
}

func TestRetriesHonourRetryAfterAndTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			err      error
			failures int64
			seconds  int64
			calls    int64
			took     time.Duration
			failure  llm.Failure
		}{
			"waits as long as the API asks": {&llm.TemporaryError{Status: 429, RetryAfter: 7 * time.Second,
				Err: errors.New("slow down")}, 2, 60, 3, 14 * time.Second, ""},
			"gives up at once if the API asks for more time than is left": {&llm.TemporaryError{Status: 429,
				RetryAfter: time.Hour, Err: errors.New("slow down")}, 2, 60, 1, 0, llm.FailureTemporary},
			"gives up after three requests": {&llm.TemporaryError{Status: 503, RetryAfter: time.Second,
				Err: errors.New("overloaded")}, 9, 60, 3, 2 * time.Second, llm.FailureTemporary},
			"repeats no refusal": {&llm.RefusalError{}, 9, 60, 1, 0, llm.FailureRefusal},
			"repeats no unusable response": {&llm.ResponseError{Err: errors.New("cut")}, 9, 60, 1, 0,
				llm.FailureResponse},
			"repeats no other error":             {errors.New("unauthorized"), 9, 60, 1, 0, llm.FailureOther},
			"sends nothing if no time is left":   {nil, 0, 10, 0, 0, llm.FailureTime},
			"sends nothing if the time is over":  {nil, 0, -100, 0, 0, llm.FailureTime},
			"sends a request in the last second": {nil, 0, 11, 1, 0, ""},
		} {
			turn := newTurn(protocol.OfferSideBuyer)
			turn.Deadline = turn.Now + test.seconds
			model := failing(test.failures, test.err)
			record, took := decide(t, t.Context(), model, turn, llm.Options{})
			require.Equal(t, test.calls, model.calls.Load(), name)
			require.Equal(t, test.took, took, name)
			require.Equal(t, test.failure, record.Answers[0].Failure, name)
			require.Equal(t, test.failure != "", record.Fallback != "", name)
			require.EqualValues(t, test.calls, record.Usage.Requests, name)
		}
	})
}

// TestNoRequestIsSentForLessThanASecond has 900 ms left.
func TestNoRequestIsSentForLessThanASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := newTurn(protocol.OfferSideBuyer)
		turn.Deadline = turn.Now + 2
		model := failing(0, nil)
		record, _ := decide(t, t.Context(), model, turn, llm.Options{Reserve: 1100 * time.Millisecond})
		require.Equal(t, llm.FailureTime, record.Answers[0].Failure)
		require.Zero(t, model.calls.Load())
	})
}

// TestTimeoutOfARequestIsRetried hangs in the first request.
func TestTimeoutOfARequestIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &scriptedModel{name: "test:hangs"}
		m.respond = func(ctx context.Context, _ llm.Request) (*llm.Response, error) {
			if m.calls.Load() == 1 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return answered(choosing(1))
		}
		options := llm.Options{CallTimeout: 4 * time.Second}
		record, took := decide(t, t.Context(), m, newTurn(protocol.OfferSideBuyer), options)
		require.Empty(t, record.Fallback)
		require.Greater(t, took, 4*time.Second)
		require.Less(t, took, 6*time.Second)
		require.Positive(t, record.Usage.AssumedTokens, "the usage of the first request is unknown")
	})
}

// TestChangedNegotiationEndsTheCall cancels a decision, which returns the cause at once.
func TestChangedNegotiationEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := errors.New("the negotiation has changed")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(changed) })
		decided := 0
		player := newPlayer(t, slow(time.Minute, true), llm.Options{
			Opening: buyerOpening, Logger: quiet, Decided: func(llm.Record) error { decided++; return nil },
		})
		begun := time.Now()
		_, err := player.Decide(ctx, newTurn(protocol.OfferSideBuyer))
		require.ErrorIs(t, err, changed)
		require.Equal(t, 3*time.Second, time.Since(begun))
		require.Zero(t, decided)
		time.Sleep(time.Minute)
	})
}

// TestBreakerOpensAndCloses fails five requests: the breaker blocks further ones for 30 seconds, and closes
// after a success.
func TestBreakerOpensAndCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := failing(6, errors.New("unauthorized"))
		var record llm.Record
		player := newPlayer(t, model, llm.Options{
			Opening: buyerOpening, Logger: quiet, Decided: func(r llm.Record) error { record = r; return nil },
		})
		turn := newTurn(protocol.OfferSideBuyer)
		failure := func() llm.Failure {
			_, err := player.Decide(t.Context(), turn)
			require.NoError(t, err)
			return record.Answers[0].Failure
		}
		for range 5 {
			require.Equal(t, llm.FailureOther, failure())
		}
		require.Equal(t, llm.FailureBreaker, failure())
		require.EqualValues(t, 5, model.calls.Load())
		require.Zero(t, record.Usage, "a blocked request consumes nothing")
		time.Sleep(31 * time.Second)
		require.Equal(t, llm.FailureOther, failure(), "one request tries again")
		require.Equal(t, llm.FailureBreaker, failure())
		time.Sleep(31 * time.Second)
		require.Empty(t, failure())
		turn.Negotiation.CreatedAt++
		require.Empty(t, failure(), "it is closed")
		require.EqualValues(t, 8, model.calls.Load())
	})
}

// TestRefusalsAndCancelledDecisionsDoNotOpenTheBreaker repeats both 20 times.
func TestRefusalsAndCancelledDecisionsDoNotOpenTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hanging := slow(time.Minute, false)
		cancelled := newPlayer(t, hanging, llm.Options{Opening: buyerOpening, Logger: quiet})
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, err := cancelled.Decide(ctx, newTurn(protocol.OfferSideBuyer))
			require.ErrorIs(t, err, context.Canceled)
		}
		require.EqualValues(t, 20, hanging.calls.Load())

		model := failing(20, &llm.RefusalError{Usage: usage})
		var record llm.Record
		player := newPlayer(t, model, llm.Options{
			Opening: buyerOpening, Logger: quiet, Decided: func(r llm.Record) error { record = r; return nil },
		})
		for range 20 {
			_, err := player.Decide(t.Context(), newTurn(protocol.OfferSideBuyer))
			require.NoError(t, err)
			require.Equal(t, llm.FailureRefusal, record.Answers[0].Failure)
		}
		require.EqualValues(t, 20, model.calls.Load())
	})
}

// TestConcurrentAnswersAreLimited asks 20 questions at once with a limit of four.
func TestConcurrentAnswersAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open, most atomic.Int64
		model := &scriptedModel{name: "test:busy", respond: func(context.Context, llm.Request) (*llm.Response, error) {
			most.Store(max(most.Load(), open.Add(1)))
			time.Sleep(time.Second)
			open.Add(-1)
			return answered(choosing(1))
		}}
		player := newPlayer(t, model, llm.Options{Opening: buyerOpening, Concurrency: 4, Logger: quiet})
		for at := range 20 {
			go func() {
				turn := newTurn(protocol.OfferSideBuyer)
				turn.Negotiation.CreatedAt -= int64(at)
				_, err := player.Decide(t.Context(), turn)
				require.NoError(t, err)
			}()
		}
		time.Sleep(5500 * time.Millisecond)
		require.EqualValues(t, 4, most.Load())
		require.EqualValues(t, 20, model.calls.Load())
	})
}

// TestNoRequestIsSentAfterALongWait waits for the only place until too little time is left for a request.
func TestNoRequestIsSentAfterALongWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &scriptedModel{name: "test:busy", respond: func(context.Context, llm.Request) (*llm.Response, error) {
			time.Sleep(10 * time.Second)
			return answered(choosing(1))
		}}
		chooser, err := llm.NewChooser(model, llm.Options{Budget: plenty, Concurrency: 1, Logger: quiet})
		require.NoError(t, err)
		first, second := position(t), position(t)
		second.TimeLeftPercent--
		second.Deadline = time.Now().Add(10*time.Second + 990*time.Millisecond)
		go func() { _, _ = chooser.Choose(t.Context(), first) }()
		synctest.Wait()
		_, record, err := chooser.Decide(t.Context(), second)
		require.NoError(t, err)
		require.Equal(t, llm.FailureTime, record.Answers[0].Failure)
		require.EqualValues(t, 1, model.calls.Load())
	})
}
