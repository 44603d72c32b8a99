package party

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
)

// settlingTable returns a conversation of agents that settle on chain, and accept any party as arbiter.
func settlingTable(t *testing.T) (*table, Limits) {
	b := newTable(t)
	keys := &parties{seekerKey.Public().(ed25519.PublicKey), workerKey.Public().(ed25519.PublicKey)}
	b.seeker.parties, b.worker.parties = keys, keys
	limits := limitsOf()
	limits.Arbiters = append(limits.Arbiters, hire.Base58(idOf(seekerKey)), hire.Base58(idOf(workerKey)))
	limits.Longest = 2 * escrow.MaxDelivery
	return b, limits
}

// tracks returns one side's conversation, with a runtime that settles.
func (b *table) tracks(role hire.Role, limits Limits, move Move) *tracked {
	key := seekerKey
	if role == hire.RoleWorker {
		key = workerKey
	}
	r := &runtime{
		Config: Config{
			Home: &hire.Home{Agent: idOf(key), Key: key}, Resolver: &hire.Resolver{}, Limits: limits,
			Logger: slog.New(slog.DiscardHandler),
		},
		role: role, self: idOf(key), settler: new(settler), abandoned: map[place]abandonment{},
		decide: func(context.Context, Turn) (Move, error) { return move, nil },
	}
	c := *b.side(role)
	return &tracked{
		place: place{c.id, c.counterpart}, runtime: r, conversation: c, loaded: true, changed: make(chan struct{}, 1),
	}
}

// An agreement on these terms would end unpaid, after both sides are bound.
func TestTermsThatCannotBeSettledAreRejectedBeforeTheyAreAccepted(t *testing.T) {
	for name, test := range map[string]struct {
		terms hire.Terms
		field string
	}{
		"the seeker is the arbiter": {hire.Terms{Arbiter: hire.Base58(idOf(seekerKey))}, "arbiter"},
		"the worker is the arbiter": {hire.Terms{Arbiter: hire.Base58(idOf(workerKey))}, "arbiter"},
		"the deadline is too late": {hire.Terms{
			Arbiter: arbiter, Deadline: hire.NewTime(time.Now().Add(escrow.MaxDelivery + 24*time.Hour).Truncate(time.Second)),
		}, "deadline"},
	} {
		for _, role := range []hire.Role{hire.RoleWorker, hire.RoleSeeker} {
			t.Run(name+", "+string(role), func(t *testing.T) {
				b, limits := settlingTable(t)
				b.now = time.Now()
				deadline := hire.NewTime(b.now.Add(24 * time.Hour).Truncate(time.Second))
				if test.terms.Deadline != "" {
					deadline = test.terms.Deadline
				}
				b.says(hire.RoleSeeker, &hire.Proposal{
					Task: hire.NewText("logo"), Budget: "4 USDC", Deadline: deadline, Arbiter: test.terms.Arbiter,
				})
				if role == hire.RoleSeeker {
					b.says(hire.RoleWorker, &hire.Counter{
						Reply: b.worker.reply(), Price: "5 USDC", EstimatedDelivery: deadline, Arbiter: test.terms.Arbiter,
					})
				}
				tracked := b.tracks(role, limits, Accept{})
				require.NoError(t, tracked.identify(t.Context()))

				refused := new(escrow.TermsError)
				require.ErrorAs(t, tracked.conversation.turn(limits, time.Now(), nil).Refused, &refused)
				require.Equal(t, test.field, refused.Field)
				payload, _ := tracked.decision(t.Context())
				require.Equal(t, &hire.Reject{
					Reply: tracked.conversation.reply(), Code: CodeUnsettleable, Note: hire.NewText(refused.Error()),
				}, payload)

				// Neither is an offer of these terms sent.
				_, err := payloadOf(&tracked.conversation, tracked.conversation.turn(limits, time.Now(), nil),
					Propose{Price: 5e6}, time.Now())
				require.ErrorAs(t, err, &refused)

				// If no chain is set, nothing needs settlement.
				tracked.runtime.settler, tracked.conversation.parties = nil, nil
				require.NoError(t, tracked.identify(t.Context()))
				payload, _ = tracked.decision(t.Context())
				require.IsType(t, &hire.Accept{}, payload)
			})
		}
	}
}

// The deadline passes between the two acceptances.
func TestSecondAcceptanceOfTermsThatCannotBeSettledIsWithheld(t *testing.T) {
	b, limits := settlingTable(t)
	b.now = time.Now().Add(-10 * time.Second)
	b.says(hire.RoleSeeker, &hire.Proposal{
		Task: hire.NewText("logo"), Budget: "4 USDC", Arbiter: arbiter,
		Deadline: hire.NewTime(time.Now().Add(-time.Second).Truncate(time.Second)),
	})
	b.says(hire.RoleWorker, &hire.Accept{Reply: b.worker.reply(), Terms: b.worker.state.Terms})
	tracked := b.tracks(hire.RoleSeeker, limits, nil)
	var ends []Result
	tracked.runtime.Ended = func(r Result) { ends = append(ends, r) }
	require.True(t, tracked.conversation.isMine(time.Now()))
	// The runtime has no connection: sending an acceptance would fail.
	require.NoError(t, tracked.answer(t.Context()))
	require.False(t, tracked.conversation.isMine(time.Now()))

	require.True(t, tracked.settle(t.Context(), time.Now().Add(time.Hour)))
	require.Len(t, ends, 1)
	require.Equal(t, Abandoned, ends[0].Outcome)
	refused := new(escrow.TermsError)
	require.ErrorAs(t, ends[0].Err, &refused)
	require.Equal(t, "deadline", refused.Field)
}

func TestRequestThatCannotBeSettledIsNotProposed(t *testing.T) {
	b, limits := settlingTable(t)
	tracked := b.tracks(hire.RoleSeeker, limits, nil)
	tracked.runtime.Assets = []hire.Asset{usdc}
	var ends []Result
	tracked.runtime.Ended = func(r Result) { ends = append(ends, r) }
	tracked.request = &Request{
		Conversation: "c", Worker: idOf(workerKey), Task: "logo", Symbol: "USDC", Price: 4e6,
		Deadline: time.Now().Add(24 * time.Hour), Arbiter: hire.Base58(idOf(workerKey)),
	}
	// The runtime has no connection: sending a proposal would fail.
	require.NoError(t, tracked.begin(t.Context(), time.Now()))
	require.Len(t, ends, 1)
	require.Equal(t, Abandoned, ends[0].Outcome)
	require.ErrorAs(t, ends[0].Err, new(*escrow.TermsError))
}
