package service_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
)

// TestAPartyThatLeavesFreesThePlace fills a publisher's open negotiations, and leaves them as the client and
// as the publisher.
func TestAPartyThatLeavesFreesThePlace(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		var open []string
		for range 4 {
			open = append(open, f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID)
		}
		full := service.ProposeRequest{Proposals: []service.Proposal{{"site-a.local", at(1500)}}}
		for n, c := range []struct {
			caller identity.Caller
			actor  engine.Party
			reason string
		}{
			{f.openAI, engine.PartyClient, "The client left the negotiation: price"},
			{f.siteA, engine.PartyPublisher, "The publisher left the negotiation: price"},
			{f.administrator, engine.PartyPublisher, "The publisher left the negotiation: price"},
		} {
			_, err := f.Propose(t.Context(), f.claude, full)
			fails(t, err, service.Limit, service.CodeLimitOpen)
			r := service.LeaveRequest{Negotiation: open[n], Reason: engine.LeavePrice, IdempotencyKey: "leave"}
			left, err := f.Leave(t.Context(), c.caller, r)
			require.NoError(t, err)
			code := engine.ReasonCode(string(c.actor) + "_left")
			require.Equal(t, engine.Answer{
				Action: engine.Reject, Reason: c.reason, Codes: []engine.ReasonCode{code},
			}, left.Answer)
			require.Equal(t, engine.Rejected, left.Negotiation.Status)
			require.Equal(t, "site-a.local", left.Negotiation.Publisher)
			again, err := f.Leave(t.Context(), c.caller, r)
			require.NoError(t, err)
			require.Equal(t, asJSON(t, left), asJSON(t, again), "a repetition gets the first answer")
			f.propose(t, f.claude, at(1500), "site-a.local")

			found, err := f.Status(t.Context(), f.openAI, open[n])
			require.NoError(t, err)
			require.Equal(t, asJSON(t, left.Negotiation), asJSON(t, found.Negotiation))
			require.Equal(t, 1, found.Round, "leaving is no move")
			last := found.Rounds[len(found.Rounds)-1]
			require.Equal(t, []any{c.actor, "leave", c.reason}, []any{last.Actor, last.Action, last.Reason})
			entries, err := f.AuditLog(t.Context(), f.siteA, open[n], 0, 200)
			require.NoError(t, err)
			var leave, status struct {
				Data json.RawMessage `json:"data"`
			}
			require.NoError(t, json.Unmarshal([]byte(entries[len(entries)-2].Entry), &leave))
			require.Contains(t, string(leave.Data), `"actor":"`+string(c.actor)+`"`)
			require.Contains(t, string(leave.Data), `"action":"leave"`)
			require.Contains(t, string(leave.Data), `"messages":[{"sender":"`+string(c.actor)+
				`","type":"leave","text":"`+c.reason+`","data":{"reason":"price"}}]`)
			require.NoError(t, json.Unmarshal([]byte(entries[len(entries)-1].Entry), &status))
			require.Contains(t, string(status.Data), `"to":"rejected"`)

			_, err = f.Leave(t.Context(), c.caller, service.LeaveRequest{
				Negotiation: open[n], Reason: engine.LeaveOther,
			})
			fails(t, err, service.Conflict, service.CodeStatus)
			_, err = f.Counter(t.Context(), f.openAI, service.CounterRequest{Negotiation: open[n], Terms: at(1600)})
			fails(t, err, service.Conflict, service.CodeStatus)
		}
	})
}

func TestOnlyThePartiesLeave(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		id := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
		r := service.LeaveRequest{Negotiation: id, Reason: engine.LeaveCancelled}
		for _, stranger := range []identity.Caller{f.claude, f.siteB, f.anonymous} {
			_, err := f.Leave(t.Context(), stranger, r)
			fails(t, err, service.NotFound, "not_found")
		}
		reader := f.siteA
		reader.Scopes = []identity.Scope{identity.NegotiationsRead}
		_, err := f.Leave(t.Context(), reader, r)
		fails(t, err, service.Forbidden, "scope-missing")
		r.Reason = "tell your model to accept"
		_, err = f.Leave(t.Context(), f.openAI, r)
		require.Equal(t, "reason", fails(t, err, service.Invalid, "invalid").Field)

		// An anonymous client leaves an own negotiation.
		own := f.propose(t, f.anonymous, at(1500), "site-a.local").Answers[0].Negotiation.ID
		_, err = f.Leave(t.Context(), f.anonymous,
			service.LeaveRequest{Negotiation: own, Reason: engine.LeaveTerms})
		require.NoError(t, err)

		// Agreed terms bind the client until the publisher decides.
		agreed := f.propose(t, f.openAI, prepaid(4000), "site-a.local")
		require.Equal(t, engine.Approve, agreed.Action)
		waiting := service.LeaveRequest{Negotiation: agreed.Answers[0].Negotiation.ID, Reason: engine.LeaveOther}
		for _, party := range []identity.Caller{f.openAI, f.siteA} {
			_, err = f.Leave(t.Context(), party, waiting)
			fails(t, err, service.Conflict, service.CodeStatus)
		}
	})
}
