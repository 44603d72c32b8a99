package keeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestNextTaskOfANegotiation(t *testing.T) {
	tranches := protocol.Negotiation{
		Status: protocol.NegotiationStatusAccepted, MilestoneBps: [8]uint16{5000, 5000},
		ReviewHours: 1, MilestoneDeadline: 90_000, TurnDeadline: 50_000,
	}
	claimed, disputed := tranches, tranches
	claimed.MilestonesClaimed = 2
	disputed.MilestonesClaimed, disputed.MilestonesDisputed = 1, 1
	for name, c := range map[string]struct {
		negotiation protocol.Negotiation
		want        task
	}{
		"an invitation":       {protocol.Negotiation{Status: protocol.NegotiationStatusCreated, TurnDeadline: 7}, task{kind: Expire, due: 7}},
		"an opening":          {protocol.Negotiation{Status: protocol.NegotiationStatusProposed, TurnDeadline: 7}, task{kind: Expire, due: 7}},
		"an offer":            {protocol.Negotiation{Status: protocol.NegotiationStatusCountered, TurnDeadline: 7}, task{kind: Expire, due: 7}},
		"a deal":              {protocol.Negotiation{Status: protocol.NegotiationStatusSettled, TurnDeadline: 7, CreatedAt: 4}, task{kind: Close, earliest: 5}},
		"no deal":             {protocol.Negotiation{Status: protocol.NegotiationStatusRejected, CreatedAt: 4}, task{kind: Close, earliest: 5}},
		"too late":            {protocol.Negotiation{Status: protocol.NegotiationStatusExpired, CreatedAt: 4}, task{kind: Close, earliest: 5}},
		"tranches":            {tranches, task{kind: Settle, due: 90_000}},
		"one under review":    {claimed, task{kind: Release, due: 50_000, index: 1}},
		"one for the arbiter": {disputed, task{kind: Settle, due: 90_000 + 86_400}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, taskFor(&c.negotiation)) })
	}
}

// The program rejects a closing in the second of creation.
func TestClosingWaitsForTheSecondAfterCreation(t *testing.T) {
	over := &haggle.Snapshot{Address: solana.PublicKey{1}, Negotiation: protocol.Negotiation{
		Status: protocol.NegotiationStatusRejected, CreatedAt: 1_800_000_000,
	}}
	k := &Keeper{records: make(map[solana.PublicKey]*record)}
	k.queued.L, k.urgent, k.closes = &k.lock, &lane{}, &lane{}
	k.update(over, 0)
	none := func(solana.PublicKey) time.Duration { return 0 }
	due, next := k.queueDue(over.CreatedAt, none)
	require.Zero(t, due)
	require.Equal(t, time.Second, next)
	due, _ = k.queueDue(over.CreatedAt+1, none)
	require.Equal(t, 1, due)
}

func TestKeepersWaitDifferently(t *testing.T) {
	config := Config{Grace: time.Minute, Jitter: 10 * time.Second}
	one := &Keeper{config: config, self: solana.PublicKey{1}}
	other := &Keeper{config: config, self: solana.PublicKey{2}}
	same := 0
	for i := range 100 {
		negotiation := solana.PublicKey{byte(i)}
		require.Equal(t, one.patience(negotiation), one.patience(negotiation))
		require.GreaterOrEqual(t, one.patience(negotiation), time.Minute)
		require.Less(t, one.patience(negotiation), 70*time.Second)
		if (one.patience(negotiation) - other.patience(negotiation)).Abs() < time.Second/2 {
			same++
		}
	}
	require.Less(t, same, 25)
	one.config.Jitter = 0
	require.Equal(t, time.Minute, one.patience(solana.PublicKey{}))
}

// An action that another sender did first is lost, by whatever error that shows; an unknown outcome is a
// failure.
func TestActionOfAnotherSenderIsLost(t *testing.T) {
	for _, sooner := range []error{
		&haggle.AlreadyDone{Action: "expire_negotiation"}, &haggle.StateChangedError{Action: "close_negotiation"},
		protocol.Refusal(protocol.ErrInvalidState),
		&protocol.AccountError{Err: protocol.ErrAccountNotFound},
	} {
		require.Equal(t, lost, outcomeOf(sooner), sooner)
		k := &Keeper{}
		require.Zero(t, k.done(t.Context(), 5_000, 5_000, nil, sooner).Cost, sooner)
	}
	require.Equal(t, Failed, outcomeOf(&transaction.UnknownOutcomeError{Cause: errors.New("silence")}))
	require.Equal(t, Failed, outcomeOf(transaction.ErrExpired))
}

// An error that proves nothing may come from a transaction that lands: the budget keeps the cost.
func TestAnUnknownOutcomeStaysInTheBudget(t *testing.T) {
	unknown := &transaction.UnknownOutcomeError{Cause: context.DeadlineExceeded}
	for _, err := range []error{unknown, fmt.Errorf("act: %v", unknown), context.DeadlineExceeded, io.ErrUnexpectedEOF} {
		require.EqualValues(t, 9_000, (&Keeper{}).done(t.Context(), 9_000, 5_000, nil, err).Cost, "%v", err)
	}
}

// A confirmed action includes the cost, even if another error occurs.
func TestJournalErrorDoesNotHideTheCost(t *testing.T) {
	k := &Keeper{}
	full := errors.New("the disk is full")
	for outcome, want := range map[transaction.Outcome]uint64{
		transaction.Confirmed: 9_000, transaction.Failed: 5_000, transaction.Expired: 0, transaction.NotSent: 0,
	} {
		failure := &haggle.JournalError{Op: "finish", Outcome: outcome, Err: full}
		require.Equal(t, want, k.done(t.Context(), 9_000, 5_000, nil, failure).Cost, outcome)
	}
}
