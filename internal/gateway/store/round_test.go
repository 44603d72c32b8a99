package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
)

// A negotiation goes through all states, and every row is in the database.
func TestANegotiationEndsWithALicense(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		n := f.negotiate(t)
		require.Equal(t, engine.Negotiating, n.Status)
		require.Equal(t, 1, n.CurrentRound)
		require.Equal(t, "Company acme", n.ClientName)
		f.pass(time.Minute)
		result, err := f.Round(t.Context(), RoundRequest{Negotiations: []string{n.ID}},
			func(states []State) (Outcome, error) {
				require.JSONEq(t, definition, string(states[0].Definition))
				require.Equal(t, []any{engine.PartyPublisher, 1}, []any{states[0].OfferBy, states[0].CurrentRound})
				require.JSONEq(t, price, string(states[0].CurrentTerms))
				return counter(states)
			})
		require.NoError(t, err)
		require.JSONEq(t, `{"round": 2}`, string(result.Answer))
		_, _, err = f.GenerateLicense(t.Context(), n.ID, nil)
		require.EqualError(t, err, "negotiation is negotiating")

		accept := AcceptRequest{Client: n.Client, Offers: []Offer{{n.ID, 2}}}
		_, err = f.Accept(t.Context(), AcceptRequest{Client: n.Client, Offers: []Offer{{n.ID, 1}}}, at1800)
		require.ErrorIs(t, err, ErrOfferChanged)
		_, err = f.Accept(t.Context(), AcceptRequest{Client: n.Client + 1, Offers: accept.Offers}, at1800)
		require.ErrorIs(t, err, ErrNotFound)
		_, err = f.Accept(t.Context(), accept, at1800)
		require.NoError(t, err)
		_, err = f.Accept(t.Context(), accept, at1800)
		require.EqualError(t, err, "negotiation is accepted")

		stored, err := f.Negotiation(t.Context(), n.ID)
		require.NoError(t, err)
		require.JSONEq(t, price, string(stored.FinalTerms))
		require.EqualValues(t, 1800, *stored.AgreedPriceMicro)
		require.Equal(t, start.Add(time.Minute), stored.CompletedAt)
		require.Equal(t, start, stored.InitiatedAt)

		license, created, err := f.GenerateLicense(t.Context(), n.ID, stored.FinalTerms)
		require.NoError(t, err)
		require.True(t, created)
		again, created, err := f.GenerateLicense(t.Context(), n.ID, stored.FinalTerms)
		require.NoError(t, err)
		require.False(t, created)
		require.Equal(t, license, again)
		require.EqualValues(t, 1, count(t, f.db, `SELECT COUNT(*) FROM policies`))
		stored, err = f.Negotiation(t.Context(), n.ID)
		require.NoError(t, err)
		require.Equal(t, license.ID, stored.License)
		_, err = f.RevokeLicense(t.Context(), n.Publisher+1, n.ID, "other publisher")
		require.ErrorIs(t, err, ErrNotFound)
		revoked, err := f.RevokeLicense(t.Context(), n.Publisher, n.ID, "not paid")
		require.NoError(t, err)
		require.Equal(t, start.Add(time.Minute), revoked.RevokedAt)

		rounds, err := f.Rounds(t.Context(), n.ID)
		require.NoError(t, err)
		var actions []string
		for _, r := range rounds {
			actions = append(actions, string(r.Actor)+" "+r.Action)
		}
		require.Equal(t, []string{"client propose", "publisher counter", "client propose", "publisher counter",
			"client accept"}, actions)
		require.Equal(t, 3*time.Second, rounds[1].LLMTime)
		require.EqualValues(t, 245, rounds[1].LLMTokens)
		for _, r := range []Round{rounds[1], rounds[3]} {
			require.EqualValues(t, 1, count(t, f.db, `SELECT COUNT(*) FROM negotiation_messages
				WHERE negotiation_id = $1 AND round_id = $2 AND sender = 'publisher' AND message = 'Closer.'`,
				n.ID, r.ID))
		}
		require.EqualValues(t, 2, count(t, f.db, `SELECT COUNT(*) FROM negotiation_messages`))

		entries, err := f.AuditEntries(t.Context(), n.ID, 0, 100)
		require.NoError(t, err)
		var kinds []string
		for _, e := range entries {
			var entry struct{ Kind string }
			require.NoError(t, json.Unmarshal([]byte(e.Text), &entry))
			kinds = append(kinds, entry.Kind)
		}
		require.Equal(t, "round round status round round round status licence licence_revoked",
			strings.Join(kinds, " "))
		require.Contains(t, entries[1].Text, `"score":0.7`)
		require.Contains(t, entries[1].Text, `Closer.`)
	})
}

// An error of the decision, or an invalid decision, changes nothing.
func TestARefusedDecisionChangesNothing(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		n := f.negotiate(t)
		later := n.Deadline
		agreed := int64(-1)
		for problem, d := range map[string]Update{
			"belong to status accepted": {Status: engine.Accepted},
			"only a new negotiation":    {Status: engine.Initiated, Deadline: later},
			"must be in the future":     {Status: engine.Negotiating, Deadline: start},
			"must not be negative": {Status: engine.Accepted, FinalTerms: json.RawMessage(`{}`),
				AgreedPriceMicro: &agreed},
			`offer by "": must be of the client`: {Status: engine.Negotiating, Deadline: later,
				Terms: json.RawMessage(`{}`)},
			"audit entry round: json: error calling": {Status: engine.Rejected,
				Rounds: []Round{{Actor: engine.PartyClient, Terms: json.RawMessage(`{`)}}},
		} {
			_, err := f.Round(t.Context(), RoundRequest{Negotiations: []string{n.ID}}, func([]State) (Outcome, error) {
				return Outcome{Updates: []Update{d}}, nil
			})
			require.ErrorContains(t, err, problem)
		}
		broken := errors.New("broken")
		_, err := f.Round(t.Context(), RoundRequest{Negotiations: []string{n.ID}},
			func([]State) (Outcome, error) { return Outcome{}, broken })
		require.ErrorIs(t, err, broken)
		for _, id := range []string{"", "x", strings.ToUpper(n.ID), "00000000-0000-7000-8000-000000000000"} {
			_, err = f.Round(t.Context(), RoundRequest{Negotiations: []string{id}}, counter)
			require.ErrorIs(t, err, ErrNotFound)
		}
		stored, err := f.Negotiation(t.Context(), n.ID)
		require.NoError(t, err)
		n.InitialProposal, stored.InitialProposal = nil, nil
		n.CurrentTerms, stored.CurrentTerms = nil, nil
		require.Equal(t, n, stored)
	})
}

// A repeated request gets the stored answer, byte for byte, even after the negotiation ended.
func TestARepeatedRequestGetsTheStoredAnswer(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		never := func([]State) (Outcome, error) { return Outcome{}, errors.New("decided again") }
		create := f.creation(f.publisher)
		create.Key = &Key{"acme", "k1", "body"}
		first, err := f.CreateNegotiations(t.Context(), create, counter)
		require.NoError(t, err)
		again, err := f.CreateNegotiations(t.Context(), create, never)
		require.NoError(t, err)
		require.True(t, again.Replayed)
		require.Equal(t, string(first.Answer), string(again.Answer))
		create.Key = &Key{"acme", "k1", "other body"}
		_, err = f.CreateNegotiations(t.Context(), create, never)
		require.ErrorIs(t, err, ErrKeyReused)
		require.EqualValues(t, 1, count(t, f.db, `SELECT COUNT(*) FROM negotiations`))

		id := first.Negotiations[0].ID
		round := RoundRequest{Negotiations: []string{id}, Key: &Key{"acme", "k2", "body"}}
		end := func(states []State) (Outcome, error) {
			o, err := reject(states)
			o.Answer = json.RawMessage(`{ "b":1,  "a":2}`)
			return o, err
		}
		_, err = f.Round(t.Context(), round, end)
		require.NoError(t, err)
		again, err = f.Round(t.Context(), round, never)
		require.NoError(t, err)
		require.True(t, again.Replayed)
		require.Equal(t, `{ "b":1,  "a":2}`, string(again.Answer))
		_, err = f.Round(t.Context(), RoundRequest{Negotiations: []string{id}, Key: &Key{"acme", "k2", "other"}}, never)
		require.ErrorIs(t, err, ErrKeyReused)
		// Keys of another owner are independent.
		_, err = f.Round(t.Context(), RoundRequest{Negotiations: []string{id}, Key: &Key{"other", "k2", "other"}}, never)
		require.EqualError(t, err, "negotiation is rejected: Price below minimum threshold")

		deleted, err := f.DeleteKeys(t.Context(), start.Add(time.Second), 1)
		require.NoError(t, err)
		require.EqualValues(t, 1, deleted)
	})
}

// Each round trip between the lock and COMMIT delays other transactions. SQLite needs none.
func TestRoundNeedsFewRoundTrips(t *testing.T) {
	f := newFixture(t, server.Create(t))
	n := f.negotiate(t)
	f.messages.count.Store(0)
	round := RoundRequest{Negotiations: []string{n.ID}, Key: &Key{"acme", "k", "body"}}
	_, err := f.Round(t.Context(), round, counter)
	require.NoError(t, err)
	require.EqualValues(t, 3, f.messages.count.Swap(0), "BEGIN; the lock; the writes with COMMIT")
	_, err = f.CreateNegotiations(t.Context(), f.creation(f.publisher), counter)
	require.NoError(t, err)
	require.EqualValues(t, 6, f.messages.count.Load(),
		"BEGIN; the client; the publishers' lock; their strategies; the limits; the writes with COMMIT")
}

// Terms above a threshold need the publisher's approval, and the negotiation deadline no longer applies.
func TestAnApprovalEndsANegotiation(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		wait := func(s State) (Terms, error) { return Terms{ApprovalDeadline: s.Now.Add(48 * time.Hour)}, nil }
		var ids []string
		for range 3 {
			n := f.negotiate(t)
			ids = append(ids, n.ID)
			result, err := f.Accept(t.Context(), AcceptRequest{Client: n.Client, Offers: []Offer{{n.ID, 1}}}, wait)
			require.NoError(t, err)
			require.Equal(t, engine.AwaitingApproval, result.Negotiations[0].Status)
		}
		f.pass(24 * time.Hour)
		ended, err := f.Sweep(t.Context(), 10)
		require.NoError(t, err)
		require.Zero(t, ended)
		_, err = f.Round(t.Context(), RoundRequest{Negotiations: ids[:1]}, counter)
		require.EqualError(t, err, "negotiation is awaiting_approval")
		decide := func(id string, approved bool) (Result, error) {
			request := RoundRequest{Negotiations: []string{id}, Approval: true}
			return f.Round(t.Context(), request, func(states []State) (Outcome, error) {
				d := states[0].RefuseApproval("Too much traffic")
				if approved {
					d = states[0].Approve(1800, "Agreed")
				}
				return Outcome{Updates: []Update{d}}, nil
			})
		}
		result, err := decide(ids[0], true)
		require.NoError(t, err)
		require.Equal(t, engine.Accepted, result.Negotiations[0].Status)
		require.JSONEq(t, price, string(result.Negotiations[0].FinalTerms))
		result, err = decide(ids[1], false)
		require.NoError(t, err)
		require.Equal(t, engine.Rejected, result.Negotiations[0].Status)
		_, err = decide(ids[1], true)
		require.EqualError(t, err, "negotiation is rejected: Too much traffic")

		f.pass(24 * time.Hour)
		_, err = decide(ids[2], true)
		require.EqualError(t, err, "negotiation is timeout: No approval before the deadline")
	})
}

// Negotiations end after their deadline, in batches, and before the sweep a late round itself ends the
// negotiation.
func TestNegotiationsEndAfterTheirDeadline(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		var ids []string
		for range 3 {
			ids = append(ids, f.negotiate(t).ID)
		}
		f.pass(time.Hour - time.Microsecond)
		_, err := f.Round(t.Context(), RoundRequest{Negotiations: ids[2:]}, counter)
		require.NoError(t, err)
		f.pass(time.Microsecond)
		_, err = f.Round(t.Context(), RoundRequest{Negotiations: ids[:1]}, counter)
		require.EqualError(t, err, "negotiation is timeout: No activity before the deadline")
		for _, want := range []int{1, 0} {
			ended, err := f.Sweep(t.Context(), 1)
			require.NoError(t, err)
			require.Equal(t, want, ended)
		}
		for i, want := range []engine.Status{engine.TimedOut, engine.TimedOut, engine.Negotiating} {
			n, err := f.Negotiation(t.Context(), ids[i])
			require.NoError(t, err)
			require.Equal(t, want, n.Status)
			if want == engine.TimedOut {
				require.Equal(t, start, n.LastActivityAt)
				require.Equal(t, f.now(), n.CompletedAt)
			}
		}
		_, err = f.Sweep(t.Context(), 0)
		require.EqualError(t, err, "sweep: limit 0 must be 1 to 200")
	})
}

// Two requests sharing a key can lock different negotiations. The later request gets the first answer,
// whether the decision succeeds or not, and changes nothing. SQLite runs a single unit of work at a time.
func TestKeyTakenMeanwhileReplaysItsAnswer(t *testing.T) {
	f := newFixture(t, server.Create(t))
	first, failing, late := f.negotiate(t), f.negotiate(t), f.negotiate(t)
	begin := func(n Negotiation, body string) *Unit {
		u, err := f.BeginRound(t.Context(), RoundRequest{
			Negotiations: []string{n.ID}, Key: &Key{"acme", "k", body},
		})
		require.NoError(t, err)
		t.Cleanup(func() { u.End(context.Background()) })
		return u
	}
	f.publisher = f.addPublisher(t, "site-b.local") // with places for further negotiations
	other := begin(f.negotiate(t), "other")
	u, broken, taken := begin(first, "body"), begin(failing, "body"), begin(late, "body")
	outcome, err := counter(u.States)
	require.NoError(t, err)
	answered, err := u.Finish(t.Context(), outcome, nil)
	require.NoError(t, err)
	for u, failed := range map[*Unit]error{broken: errors.New("no decision"), taken: nil} {
		result, err := u.Finish(t.Context(), outcome, failed)
		require.NoError(t, err)
		require.Equal(t, Result{Answer: answered.Answer, Replayed: true}, result)
	}
	_, err = other.Finish(t.Context(), outcome, nil)
	require.ErrorIs(t, err, ErrKeyReused)
	for _, n := range []Negotiation{failing, late} {
		stored, err := f.Negotiation(t.Context(), n.ID)
		require.NoError(t, err)
		require.Equal(t, 1, stored.CurrentRound)
	}
}
