package transport_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/internal/hire/transport"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

func TestCardAndHealthAreForEverybody(t *testing.T) {
	h := newHome(t, options{})
	client := &hire.Client{Local: true}
	defer client.Close()
	card, err := client.Card(t.Context(), h.worker.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"logo"}, card.Skills)
	response, err := http.Get(h.worker.ID + transport.HealthPath)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
	_, err = transport.NewServer(transport.Config{Service: h.Service, Origin: "https://other.example", Card: []byte("{}")})
	require.Error(t, err)
}

// Readers need the agent's signature, and read only the agent's own data.
func TestReadersAreAuthenticated(t *testing.T) {
	server.OnBoth(t, func(t *testing.T, address string) {
		h := newHome(t, options{address: address})
		k, stranger := h.talk(), hiretest.NewAgent()
		h.agree(t, k)
		named := url.Values{"conversation_id": {k.Conversation}, "seeker": {k.Seeker.ID}}
		delivery := hire.DeliveriesPath + strings.Repeat("0", 64)
		for path, query := range map[string]url.Values{
			hire.EventsPath: nil, hire.ConversationsPath: nil, hire.LogPath: named, delivery: nil,
		} {
			for name, c := range map[string]struct {
				request func(*http.Request)
				key     hiretest.Agent
				status  int
				reason  string
			}{
				"by another key": {func(*http.Request) {}, stranger, http.StatusForbidden, "bad_signature"},
				"without an agent": {
					func(r *http.Request) { r.URL.RawQuery = query.Encode() }, k.Seeker, http.StatusBadRequest, "malformed",
				},
				"with an unknown parameter": {
					func(r *http.Request) { r.URL.RawQuery += "&x=1" }, k.Seeker, http.StatusBadRequest, "malformed",
				},
				"with two agents": {
					func(r *http.Request) { r.URL.RawQuery += "&agent=" + k.Seeker.ID }, k.Seeker, http.StatusBadRequest, "malformed",
				},
				"with a U+0000": {
					func(r *http.Request) { r.URL.RawQuery = "agent=%00&" + query.Encode() }, k.Seeker, http.StatusBadRequest, "malformed",
				},
				"of an unknown agent": {
					func(r *http.Request) { r.URL.RawQuery = "agent=agent_001&" + query.Encode() }, k.Seeker, http.StatusForbidden,
					"unknown_identity",
				},
			} {
				r := h.request(t, k.Seeker, http.MethodGet, path, query, nil)
				c.request(r)
				status, body, header := h.do(t, c.key.Key, r)
				require.Equal(t, c.status, status, "%s %s", path, name)
				require.Equal(t, "application/json", header.Get("Content-Type"))
				require.Contains(t, body, `{"reason":"`+c.reason+`","text":"`)
			}
			unsigned, err := http.Get(h.request(t, k.Seeker, http.MethodGet, path, query, nil).URL.String())
			require.NoError(t, err)
			require.NoError(t, unsigned.Body.Close())
			require.Equal(t, http.StatusForbidden, unsigned.StatusCode)
		}
		status, body, _ := h.do(t, stranger.Key, h.request(t, stranger, http.MethodGet, hire.LogPath, named, nil))
		require.Equal(t, http.StatusForbidden, status)
		require.Contains(t, body, "wrong_party")
		status, _, _ = h.do(t, k.Seeker.Key, h.request(t, k.Seeker, http.MethodHead, hire.EventsPath, nil, nil))
		require.Equal(t, http.StatusMethodNotAllowed, status)
	})
}

func TestConversationsAreListed(t *testing.T) {
	server.OnBoth(t, func(t *testing.T, address string) {
		h := newHome(t, options{address: address})
		k := h.talk()
		h.agree(t, k)
		negotiating := hiretest.NewTalk(k.Seeker, h.worker)
		h.send(t, negotiating, hire.RoleSeeker, hire.TypeProposal)
		list := func(query url.Values) (page hire.ConversationPage) {
			status, body, header := h.do(t, k.Seeker.Key,
				h.request(t, k.Seeker, http.MethodGet, hire.ConversationsPath, query, nil))
			require.Equal(t, http.StatusOK, status, body)
			require.Equal(t, "application/json", header.Get("Content-Type"))
			require.NoError(t, json.Unmarshal([]byte(body), &page))
			require.EqualValues(t, 2, page.Latest)
			return page
		}
		require.Len(t, list(nil).Conversations, 2)
		open := list(url.Values{"open": {"true"}}).Conversations
		require.Len(t, open, 1)
		require.Equal(t, negotiating.Conversation, open[0].ID)
		require.Equal(t, k.Seeker.ID, open[0].Seeker)
		require.Equal(t, h.worker.ID, open[0].Worker)
		require.Equal(t, hire.PhaseNegotiating, open[0].State.Phase)
		require.Equal(t, negotiating.Last, open[0].State.Last)
		require.Empty(t, list(url.Values{"session": {"18446744073709551615"}}).Conversations)
		for name, value := range map[string]string{"open": "maybe", "session": "-1", "after": "\x00"} {
			status, body, _ := h.do(t, k.Seeker.Key,
				h.request(t, k.Seeker, http.MethodGet, hire.ConversationsPath, url.Values{name: {value}}, nil))
			require.Equal(t, http.StatusBadRequest, status, name)
			require.Contains(t, body, name+": ")
		}
	})
}

// Each log line is a link in the audit chain.
func TestLogIsAnAuditChain(t *testing.T) {
	server.OnBoth(t, func(t *testing.T, address string) {
		h := newHome(t, options{address: address})
		k := h.talk()
		h.agree(t, k)
		status, body, header := h.do(t, k.Seeker.Key, h.request(t, k.Seeker, http.MethodGet, hire.LogPath,
			url.Values{"conversation_id": {k.Conversation}, "seeker": {k.Seeker.ID}}, nil))
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "application/jsonl", header.Get("Content-Type"))
		previous, count := "", 0
		for line := range strings.Lines(body) {
			var link audit.Link
			require.NoError(t, json.Unmarshal([]byte(line), &link))
			require.Equal(t, audit.Hash(previous, link.Text), link.Hash)
			previous = link.Hash
			count++
		}
		require.Equal(t, 4, count)
	})
}

func TestDeliveryArrivesAsItWasSent(t *testing.T) {
	server.OnBoth(t, func(t *testing.T, address string) {
		h := newHome(t, options{address: address})
		k := h.talk()
		h.agree(t, k)
		content := bytes.Repeat([]byte{0, 1, 255}, hire.MaxDelivery/3)
		sum := sha256.Sum256(content)
		path := hire.DeliveriesPath + hex.EncodeToString(sum[:])
		put := func(agent hiretest.Agent, path string, content []byte) (int, string) {
			status, body, _ := h.do(t, agent.Key, h.request(t, agent, http.MethodPut, path, url.Values{
				"conversation_id": {k.Conversation}, "seeker": {k.Seeker.ID},
			}, bytes.NewReader(content)))
			return status, body
		}
		status, body := put(k.Seeker, path, content)
		require.Equal(t, http.StatusForbidden, status)
		require.Contains(t, body, "wrong_party")
		status, body = put(h.worker, path, content[1:])
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, body, "not the content with this SHA-256")
		status, body = put(h.worker, path, append(content, 0, 0, 0, 0, 0, 0))
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, body, "longer than 8 MiB")
		for range 2 {
			status, body = put(h.worker, path, content)
			require.Equal(t, http.StatusNoContent, status, body)
		}
		for _, agent := range []hiretest.Agent{k.Seeker, h.worker} {
			status, body, header := h.do(t, agent.Key, h.request(t, agent, http.MethodGet, path, nil, nil))
			require.Equal(t, http.StatusOK, status)
			require.Equal(t, "application/octet-stream", header.Get("Content-Type"))
			require.Equal(t, strconv.Itoa(len(content)), header.Get("Content-Length"))
			require.True(t, string(content) == body)
		}
		stranger := hiretest.NewAgent()
		status, _, _ = h.do(t, stranger.Key, h.request(t, stranger, http.MethodGet, path, nil, nil))
		require.Equal(t, http.StatusNotFound, status)
	})
}

// A full home tells its senders and readers when to try again.
func TestOverloadHasRetryAfter(t *testing.T) {
	h := newHome(t, options{service: func(c *service.Config) {
		c.Limits.OpenConversations, c.Limits.Streams = 1, 1
	}})
	h.send(t, h.talk(), hire.RoleSeeker, hire.TypeProposal)
	m := h.talk().Message(t, hire.RoleSeeker, hire.TypeProposal, time.Now())
	response, err := http.Post(h.worker.ID+hire.InboxPath, "application/json", bytes.NewReader(m.Text()))
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.Equal(t, "10", response.Header.Get("Retry-After"))
	h.open(t, h.worker, nil, "")
	stranger := hiretest.NewAgent()
	status, _, header := h.do(t, stranger.Key, h.request(t, stranger, http.MethodGet, hire.EventsPath, nil, nil))
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "5", header.Get("Retry-After"))
}
