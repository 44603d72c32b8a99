package service_test

import (
	"database/sql"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// rows returns the number of rows of the tables that messages change, and the newest state.
func rows(t *testing.T, db *sql.DB) (counts [5]string) {
	t.Helper()
	for i, query := range []string{
		`SELECT COUNT(*) FROM hire_conversations`, `SELECT COUNT(*) FROM hire_entries`,
		`SELECT COUNT(*) FROM hire_events`, `SELECT COALESCE(SUM(last), 0) FROM hire_recipients`,
		`SELECT COALESCE(MAX(state), '') FROM hire_conversations`,
	} {
		require.NoError(t, db.QueryRowContext(t.Context(), query).Scan(&counts[i]))
	}
	return counts
}

// Each hostile message is refused with the expected reason, and changes nothing.
func TestHostileMessagesChangeNothing(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, h *home) {
		k, other, stranger := h.talk(), h.talk(), hiretest.NewAgent()
		first := h.send(t, k, hire.RoleSeeker, hire.TypeProposal)
		h.send(t, other, hire.RoleSeeker, hire.TypeProposal)
		countered := h.send(t, k, hire.RoleWorker, hire.TypeCounter)
		h.pass(time.Second)
		accept := k.Message(t, hire.RoleSeeker, hire.TypeAccept, h.now())
		draft := func(change func(*hire.Draft)) *hire.Message {
			d := hire.Draft{
				From: k.Seeker.ID, To: k.Worker.ID, At: h.now(), Conversation: k.Conversation,
				Payload: k.Payload(hire.TypeProposal, h.now()),
			}
			change(&d)
			return hiretest.Sign(t, k.Seeker, d)
		}
		reply := func(to hire.Hash) *hire.Message {
			return draft(func(d *hire.Draft) { d.Payload.(*hire.Proposal).InReplyTo = to })
		}
		db := hiretest.Connect(t, h.address)
		before := rows(t, db)
		for name, c := range map[string]struct {
			message *hire.Message
			reason  hire.Reason
		}{
			"altered field":  {altered(t, accept, "5 USDC", "9 USDC"), hire.ReasonSignature},
			"altered sender": {altered(t, accept, k.Seeker.ID, stranger.ID), hire.ReasonSignature},
			"forged by the other side": {hiretest.Sign(t, k.Worker, hire.Draft{
				From: k.Seeker.ID, To: k.Worker.ID, At: h.now(), Conversation: k.Conversation,
				Payload: k.Payload(hire.TypeProposal, h.now()),
			}), hire.ReasonSignature},
			"replayed":            {first, hire.ReasonDuplicate},
			"replayed, the last":  {countered, hire.ReasonDuplicate},
			"reordered":           {reply(first.Hash()), hire.ReasonOrder},
			"without in_reply_to": {reply(""), hire.ReasonOrder},
			"in another conversation": {
				draft(func(d *hire.Draft) { d.Conversation = other.Conversation }), hire.ReasonOrder,
			},
			"from the past": {draft(func(d *hire.Draft) { d.At = h.now().Add(-time.Minute) }), hire.ReasonClock},
			"from the future": {
				draft(func(d *hire.Draft) { d.At = h.now().Add(time.Minute) }), hire.ReasonClock,
			},
			"before the latest one": {draft(func(d *hire.Draft) { d.At = start.Add(-time.Second) }), hire.ReasonOrder},
			"another role": {
				draft(func(d *hire.Draft) { d.Payload = k.Payload(hire.TypeCounter, h.now()) }), hire.ReasonRole,
			},
			"another state": {
				draft(func(d *hire.Draft) { d.Payload = k.Payload(hire.TypeInquiry, h.now()) }), hire.ReasonState,
			},
			"other terms": {draft(func(d *hire.Draft) {
				d.Payload = &hire.Accept{Reply: hire.Reply{InReplyTo: k.Last}, Terms: hire.Terms{
					Price: "3 USDC", Deadline: k.Terms.Deadline,
				}}
			}), hire.ReasonTerms},
			"a recipient that is not hosted": {draft(func(d *hire.Draft) {
				d.To, d.Payload = stranger.ID, other.Payload(hire.TypeProposal, h.now())
			}), hire.ReasonParty},
			"an unknown id":      {draft(func(d *hire.Draft) { d.From = "agent_001" }), hire.ReasonIdentity},
			"a U+0000":           {draft(func(d *hire.Draft) { d.Conversation = "\x00" }), hire.ReasonMalformed},
			"a missing deal":     {hiretest.NewTalk(k.Seeker, h.worker).Message(t, hire.RoleSeeker, hire.TypeAccept, h.now()), hire.ReasonState},
			"a worker's inquiry": {hiretest.NewTalk(h.worker, stranger).Message(t, hire.RoleSeeker, hire.TypeInquiry, h.now()), hire.ReasonParty},
			"to itself": {
				hiretest.NewTalk(h.worker, h.worker).Message(t, hire.RoleSeeker, hire.TypeProposal, h.now()), hire.ReasonParty,
			},
		} {
			require.Equal(t, c.reason, reasonOf(t, h.Receive(t.Context(), c.message)), name)
			require.Equal(t, before, rows(t, db), name)
		}
		require.NoError(t, h.Receive(t.Context(), accept), "the honest message is still accepted")
	})
}

// altered returns a message with a part of the text replaced.
func altered(t *testing.T, m *hire.Message, from, to string) *hire.Message {
	t.Helper()
	text := strings.ReplaceAll(string(m.Text()), from, to)
	require.NotEqual(t, string(m.Text()), text)
	changed, err := hire.Parse([]byte(text))
	require.NoError(t, err)
	return changed
}

// A stranger using an existing conversation id opens a separate conversation, and disturbs nobody.
func TestStrangerCannotOccupyAConversation(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, h *home) {
		k := h.talk()
		squatter := hiretest.NewTalk(hiretest.NewAgent(), h.worker)
		squatter.Conversation = k.Conversation
		h.send(t, squatter, hire.RoleSeeker, hire.TypeProposal)
		h.agree(t, k)
		h.send(t, squatter, hire.RoleWorker, hire.TypeReject)
		require.Equal(t, hire.PhaseContracted, h.state(t, k).Phase)
		require.Equal(t, hire.PhaseDeclined, h.state(t, squatter).Phase)
		_, err := h.Log(t.Context(), squatter.Seeker.ID, k.Conversation, k.Seeker.ID)
		require.Equal(t, hire.ReasonParty, reasonOf(t, err))
	})
}

// If a sender received no response, the message can be sent again, even long after storage.
func TestStoredMessageIsConfirmedLater(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, h *home) {
		k := h.talk()
		first := h.send(t, k, hire.RoleSeeker, hire.TypeProposal)
		h.send(t, k, hire.RoleWorker, hire.TypeReject)
		h.pass(time.Hour)
		require.Equal(t, hire.ReasonDuplicate, reasonOf(t, h.Receive(t.Context(), first)))
		require.Len(t, h.messages(t, k), 2)
	})
}

func TestOpenHomeHostsEverybody(t *testing.T) {
	onBoth(t, func(c *service.Config) { c.Open = true }, func(t *testing.T, h *home) {
		h.agree(t, hiretest.NewTalk(hiretest.NewAgent(), hiretest.NewAgent()))
	})
	listed := hiretest.NewAgent()
	onBoth(t, func(c *service.Config) { c.Hosts = []string{listed.ID} }, func(t *testing.T, h *home) {
		h.agree(t, hiretest.NewTalk(hiretest.NewAgent(), listed))
	})
}

func TestAcceptedMessageWithoutReplyIsLogged(t *testing.T) {
	onBoth(t, func(c *service.Config) { c.Rules.Lenient = true }, func(t *testing.T, h *home) {
		k := h.talk()
		h.send(t, k, hire.RoleSeeker, hire.TypeProposal)
		h.send(t, k, hire.RoleWorker, hire.TypeCounter)
		require.NotContains(t, h.log.String(), "in_reply_to")
		k.Last = ""
		h.pass(time.Second)
		m := h.send(t, k, hire.RoleSeeker, hire.TypeAccept)
		require.Contains(t, h.log.String(), "message without in_reply_to accepted")
		require.Contains(t, h.log.String(), string(m.Hash()))
		require.Equal(t, hire.ReasonDuplicate, reasonOf(t, h.Receive(t.Context(), m)))
	})
}

func TestConversationIsLimited(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, h *home) {
		k := h.talk()
		h.send(t, k, hire.RoleSeeker, hire.TypeProposal)
		for range (hire.MaxMessages - 2) / 2 {
			h.send(t, k, hire.RoleSeeker, hire.TypeClarification)
			h.send(t, k, hire.RoleWorker, hire.TypeClarification)
		}
		last := h.send(t, k, hire.RoleSeeker, hire.TypeClarification)
		m := k.Message(t, hire.RoleWorker, hire.TypeClarification, h.now())
		require.Equal(t, hire.ReasonTooMany, reasonOf(t, h.Receive(t.Context(), m)))
		require.Equal(t, hire.ReasonDuplicate, reasonOf(t, h.Receive(t.Context(), last)))
		require.Len(t, h.messages(t, k), hire.MaxMessages)
	})
}

// A full home refuses new deals until a deal ends, and goes on with the old ones.
func TestOpenConversationsAreLimited(t *testing.T) {
	onBoth(t, func(c *service.Config) { c.Limits.OpenConversations = 2 }, func(t *testing.T, h *home) {
		first, second, third := h.talk(), h.talk(), h.talk()
		h.send(t, first, hire.RoleSeeker, hire.TypeInquiry)
		h.send(t, second, hire.RoleSeeker, hire.TypeProposal)
		m := third.Message(t, hire.RoleSeeker, hire.TypeProposal, h.now())
		var overload *service.Overload
		require.ErrorAs(t, h.Receive(t.Context(), m), &overload)
		require.Positive(t, overload.RetryAfter())
		h.send(t, second, hire.RoleWorker, hire.TypeCounter)
		h.send(t, second, hire.RoleSeeker, hire.TypeReject)
		require.NoError(t, h.Receive(t.Context(), m))
		h.pass(3 * time.Minute) // both are overdue
		h.send(t, h.talk(), hire.RoleSeeker, hire.TypeProposal)
		h.send(t, h.talk(), hire.RoleSeeker, hire.TypeProposal)
	})
}

// The stored state follows from the log alone: whatever two agents send at any time, including refused and
// repeated messages.
func TestLogGivesTheStoredState(t *testing.T) {
	h := newHome(t, t.TempDir()+"/home.db", func(c *service.Config) { c.Rules.Lenient = true })
	rapid.Check(t, func(r *rapid.T) {
		k := h.talk()
		var sent []*hire.Message
		for range rapid.IntRange(1, 25).Draw(r, "messages") {
			h.pass(time.Duration(rapid.IntRange(0, 50_000_000).Draw(r, "microseconds")) * time.Microsecond)
			role := rapid.SampledFrom([]hire.Role{hire.RoleSeeker, hire.RoleWorker}).Draw(r, "role")
			of := rapid.SampledFrom([]hire.Type{
				hire.TypeProposal, hire.TypeCounter, hire.TypeAccept, hire.TypeAccept, hire.TypeReject, hire.TypeClarification,
				hire.TypeInquiry, hire.TypeCapability,
			}).Draw(r, "type")
			m := k.Message(t, role, of, h.now())
			if len(sent) > 0 && rapid.IntRange(0, 5).Draw(r, "repeat") == 0 {
				m = rapid.SampledFrom(sent).Draw(r, "message")
			}
			if err := h.Receive(t.Context(), m); err == nil {
				k.Stored(m)
				sent = append(sent, m)
			} else {
				reasonOf(t, err)
			}
		}
		var stored []hire.Hash
		if len(sent) > 0 {
			require.Equal(t, h.state(t, k), h.replayed(t, k))
			stored = h.messages(t, k)
		}
		require.Len(t, stored, len(sent))
		for i, m := range sent {
			require.Equal(t, m.Hash(), stored[i])
		}
	})
}

// replayed returns the conversation state computed from the logged messages and times.
func (h *home) replayed(t testing.TB, k *hiretest.Talk) (state hire.State) {
	t.Helper()
	links, err := h.Log(t.Context(), k.Worker.ID, k.Conversation, k.Seeker.ID)
	require.NoError(t, err)
	for link, err := range links {
		require.NoError(t, err)
		var entry audit.Entry
		require.NoError(t, json.Unmarshal([]byte(link.Text), &entry))
		state, err = state.Next(messageOf(t, link), entry.Time, h.config.Rules)
		require.NoError(t, err)
	}
	return state
}

func messageOf(t testing.TB, link audit.Link) *hire.Message {
	t.Helper()
	var entry audit.Entry
	require.NoError(t, json.Unmarshal([]byte(link.Text), &entry))
	m, err := hire.Parse(entry.Data)
	require.NoError(t, err)
	return m
}
