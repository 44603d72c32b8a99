package hire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestConversationsArePaged(t *testing.T) {
	h := newTestHome(t)
	state := in(t, PhaseNegotiating).state
	for n := range 2*pageLength + 1 {
		h.conversations = append(h.conversations, Conversation{fmt.Sprint("conv_", n), seeker, worker, state})
	}
	var all []Conversation
	query := ConversationQuery{Open: true, Session: 1<<64 - 1}
	for {
		page, err := h.as(seeker).Conversations(t.Context(), query)
		require.NoError(t, err)
		require.EqualValues(t, 7, page.Latest)
		all = append(all, page.Conversations...)
		if query.After = page.Next; query.After == "" {
			break
		}
	}
	require.Equal(t, h.conversations, all)
	require.Equal(t, []string{
		"GET /hire/conversations?agent=agent_seeker_001&open=true&session=18446744073709551615",
		"GET /hire/conversations?after=100&agent=agent_seeker_001&open=true&session=18446744073709551615",
		"GET /hire/conversations?after=200&agent=agent_seeker_001&open=true&session=18446744073709551615",
	}, h.requests)
}

// link returns a log line.
func link(t testing.TB, sequence int, at time.Time, message string) string {
	t.Helper()
	entry, err := json.Marshal(map[string]any{
		"chain": "1", "sequence": sequence, "time": at, "kind": "message", "data": json.RawMessage(message),
	})
	require.NoError(t, err)
	line, err := json.Marshal(map[string]any{"chain": "1", "sequence": sequence, "hash": noHash, "text": string(entry)})
	require.NoError(t, err)
	return string(line) + "\n"
}

func TestLogHasTheMessagesOfTheConversation(t *testing.T) {
	h, k := newTestHome(t), in(t, PhaseContracted)
	for i, m := range k.log {
		h.log = append(h.log, link(t, i+1, m.At().Add(time.Millisecond), string(m.Text())))
	}
	log, err := h.as(worker).Log(t.Context(), "conv_xyz", seeker)
	require.NoError(t, err)
	require.Len(t, log.Arrivals, len(k.log))
	var state State
	for i, arrival := range log.Arrivals {
		require.Equal(t, k.log[i].Text(), arrival.Message.Text())
		require.Equal(t, h.log[i], string(arrival.Link)+"\n")
		state, err = state.Next(arrival.Message, arrival.At, k.rules)
		require.NoError(t, err)
	}
	require.Equal(t, k.state.Last, state.Last)
	require.Equal(t, "GET /hire/log?agent=agent_abc123&conversation_id=conv_xyz&seeker=agent_seeker_001", h.requests[0])

	_, err = h.as("stranger").Log(t.Context(), "conv_xyz", seeker)
	requireReason(t, ReasonParty, err)
	whole := h.log
	for want, lines := range map[string][]string{
		"entry 2 instead of 1":                   whole[1:],
		"entry 3 instead of 2":                   {whole[0], whole[2]},
		"entry 1 instead of 2":                   {whole[0], whole[0]},
		"entry 1: message of another":            {link(t, 1, start, strings.Replace(string(k.log[0].Text()), "conv_xyz", "conv_1", 1))},
		"entry 2: hire: unsupported_version":     {whole[0], link(t, 2, start, `{}`)},
		"entry 1: unexpected end":                {whole[0][:50]},
		"entry 1: invalid character 'x'":         {"x\n"},
		"entry 1: hire: malformed: not JSON":     {`{"sequence":1,"text":"{}"}`},
		"entry 1: unexpected end of JSON input":  {`{"sequence":1}`},
		"entry 2: unexpected end of JSON input":  {whole[0], "\n"},
		"entry 1: json: cannot unmarshal number": {`{"sequence":1,"text":1}`},
	} {
		h.log = lines
		_, err := h.as(seeker).Log(t.Context(), "conv_xyz", seeker)
		require.ErrorContains(t, err, want)
		require.NotErrorAs(t, err, new(*Refusal), "the home has not refused the request")
	}
	h.log = nil
	log, err = h.as(seeker).Log(t.Context(), "conv_xyz", seeker)
	require.NoError(t, err)
	require.Empty(t, log.Arrivals)
}

func TestDeliveryArrivesUnchanged(t *testing.T) {
	h := newTestHome(t)
	for _, content := range [][]byte{[]byte("a logo"), {}, bytes.Repeat([]byte{0xff}, MaxDelivery)} {
		hash, err := h.as(worker).PutDelivery(t.Context(), "conv_xyz", seeker, content)
		require.NoError(t, err)
		got, err := h.as(seeker).Delivery(t.Context(), hash)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, got))
	}
	_, err := h.as(seeker).PutDelivery(t.Context(), "conv_xyz", seeker, make([]byte, MaxDelivery))
	requireReason(t, ReasonParty, err)
	require.Equal(t, "100-continue", h.expect, "the home refuses before the content is sent")
	_, err = h.as(worker).PutDelivery(t.Context(), "conv_xyz", seeker, make([]byte, MaxDelivery+1))
	require.ErrorContains(t, err, "at most 8388608")

	_, err = h.as(seeker).Delivery(t.Context(), noHash)
	require.ErrorIs(t, err, ErrNoDelivery)
	h.deliveries[string(noHash)] = []byte("a virus")
	_, err = h.as(seeker).Delivery(t.Context(), noHash)
	require.ErrorContains(t, err, "other content")
	h.deliveries[string(noHash)] = make([]byte, MaxDelivery+1)
	_, err = h.as(seeker).Delivery(t.Context(), noHash)
	require.ErrorContains(t, err, "longer than 8388608 bytes")
	_, err = h.as(seeker).Delivery(t.Context(), "../card")
	require.ErrorContains(t, err, "64 lower-case")
}

func TestReadsSurviveFaults(t *testing.T) {
	h := newTestHome(t)
	h.faults = []func(http.ResponseWriter, *http.Request){unavailable, cut, cut}
	page, err := h.as(seeker).Conversations(t.Context(), ConversationQuery{})
	require.NoError(t, err)
	require.Empty(t, page.Conversations)
	require.Len(t, h.requests, 4)
	for want, fault := range map[string]func(http.ResponseWriter, *http.Request){
		"redirects are not followed": elsewhere, "another type than application/json": htmlPage, "status 404 without": missing,
	} {
		h.faults = []func(http.ResponseWriter, *http.Request){fault}
		_, err := h.as(seeker).Conversations(t.Context(), ConversationQuery{})
		require.ErrorContains(t, err, want)
	}
}

func TestHomeRefusesOtherKeys(t *testing.T) {
	h := newTestHome(t)
	forged := h.as(seeker)
	forged.Key = keyOf(worker)
	_, err := forged.Conversations(t.Context(), ConversationQuery{})
	requireReason(t, ReasonSignature, err)
}

func TestMessagesGoToTheHomesInbox(t *testing.T) {
	h := newTestHome(t)
	m := proposal(t)
	require.NoError(t, h.as(seeker).Send(t.Context(), m))
	require.Len(t, h.inbox, 1)
	require.Equal(t, m.Hash(), h.inbox[0].Hash())
}

func TestHomeNeedsItsFields(t *testing.T) {
	_, err := (&Home{Origin: origin}).Conversations(t.Context(), ConversationQuery{})
	require.ErrorContains(t, err, "key not set")
	_, err = (&Home{Key: keyOf(seeker), Origin: origin + "/"}).Delivery(t.Context(), noHash)
	require.ErrorContains(t, err, "origin")
	require.ErrorContains(t, (&Home{Origin: "http://agent.example"}).Send(t.Context(), proposal(t)), "origin")
	_, err = (&Home{Key: keyOf(seeker), Origin: newTestHome(t).origin}).Delivery(t.Context(), noHash)
	require.ErrorIs(t, err, errNotPublic)
}

func FuzzParseLog(f *testing.F) {
	m, err := Sign(keyOf(worker), Draft{From: worker, To: seeker, At: start, Conversation: "c", Payload: &Clarification{}})
	require.NoError(f, err)
	f.Add([]byte(link(f, 1, start, string(m.Text())) + link(f, 2, start, string(m.Text()))))
	f.Add([]byte("{\"sequence\":1,\"text\":\"{\\\"data\\\":null}\"}\r\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := parseLog(data, "c")
		if err != nil {
			return
		}
		var links [][]byte
		for _, arrival := range log.Arrivals {
			require.Equal(t, "c", arrival.Message.Conversation())
			links = append(links, arrival.Link)
		}
		again, err := parseLog(bytes.Join(links, []byte("\n")), "c")
		require.NoError(t, err)
		require.Equal(t, log, again, "the links are the log")
	})
}
