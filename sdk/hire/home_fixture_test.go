package hire

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// testHome is a home with TLS. Each request first meets the next fault.
type testHome struct {
	t      *testing.T
	origin string
	client *Client

	lock          sync.Mutex
	faults        []func(w http.ResponseWriter, r *http.Request)
	requests      []string
	inbox         []*Message
	conversations []Conversation
	log           []string
	deliveries    map[string][]byte
	// expect holds the latest refused delivery's Expect.
	expect string
}

const pageLength = 100

func newTestHome(t *testing.T) *testHome {
	h := &testHome{t: t, deliveries: map[string][]byte{}}
	mux := http.NewServeMux()
	mux.Handle("POST "+InboxPath, Inbox(func(_ context.Context, m *Message) error {
		h.inbox = append(h.inbox, m)
		return m.Verify(publicOf(m.From()))
	}, slog.New(slog.DiscardHandler)))
	for path, serve := range map[string]func(w http.ResponseWriter, r *http.Request, agent string) error{
		"GET " + ConversationsPath: h.serveConversations, "GET " + LogPath: h.serveLog,
		"PUT " + DeliveriesPath + "{hash}": h.putDelivery, "GET " + DeliveriesPath + "{hash}": h.getDelivery,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			agent, err := Authenticate(r, h.origin, func(_ context.Context, id string) (ed25519.PublicKey, error) {
				return publicOf(id), nil
			}, time.Now())
			if err == nil {
				err = serve(w, r, agent)
			}
			if refusal := new(Refusal); errors.As(err, &refusal) {
				WriteRefusal(w, refusal)
			}
		})
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := h.fault(r); fault != nil {
			fault(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	h.origin, h.client = server.URL, &Client{Local: true, Transport: server.Client().Transport.(*http.Transport)}
	t.Cleanup(func() {
		h.client.Close()
		server.Close()
	})
	return h
}

// as returns the agent's connection.
func (h *testHome) as(agent string) *Home {
	return &Home{Origin: h.origin, Agent: agent, Key: keyOf(agent), Client: h.client}
}

func (h *testHome) fault(r *http.Request) func(http.ResponseWriter, *http.Request) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.requests = append(h.requests, r.Method+" "+r.URL.RequestURI())
	if len(h.faults) == 0 {
		return nil
	}
	fault := h.faults[0]
	h.faults = h.faults[1:]
	return fault
}

func (h *testHome) serveConversations(w http.ResponseWriter, r *http.Request, agent string) error {
	begin, _ := strconv.Atoi(r.URL.Query().Get("after"))
	end := min(begin+pageLength, len(h.conversations))
	page := ConversationPage{Latest: 7, Conversations: h.conversations[begin:end]}
	if end < len(h.conversations) {
		page.Next = strconv.Itoa(end)
	}
	w.Header().Set("Content-Type", jsonType)
	return json.NewEncoder(w).Encode(page)
}

func (h *testHome) serveLog(w http.ResponseWriter, _ *http.Request, agent string) error {
	if agent != seeker && agent != worker {
		return refuse(ReasonParty, "not a party")
	}
	w.Header().Set("Content-Type", "application/jsonl")
	_, err := io.WriteString(w, strings.Join(h.log, ""))
	return err
}

func (h *testHome) putDelivery(w http.ResponseWriter, r *http.Request, agent string) error {
	if query := r.URL.Query(); agent != worker || query.Get("conversation_id") != "conv_xyz" || query.Get("seeker") != seeker {
		h.expect = r.Header.Get("Expect")
		return refuse(ReasonParty, "not the worker")
	}
	content, err := io.ReadAll(r.Body)
	if err == nil && len(content) > 0 {
		err = httpsig.VerifyContentDigest(r.Header, content)
	}
	if err != nil {
		return refuse(ReasonSignature, "body: %v", err)
	}
	h.deliveries[r.PathValue("hash")] = content
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (h *testHome) getDelivery(w http.ResponseWriter, r *http.Request, _ string) error {
	content, stored := h.deliveries[r.PathValue("hash")]
	if !stored {
		http.NotFound(w, r)
		return nil
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, err := w.Write(content)
	return err
}

// Home faults.
func unavailable(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
}

func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, "{")
	panic(http.ErrAbortHandler)
}

func elsewhere(w http.ResponseWriter, _ *http.Request) {
	http.Redirect(w, &http.Request{Method: http.MethodGet}, "https://other.example/", http.StatusFound)
}

func htmlPage(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, "<html>please log in</html>")
}

func missing(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }
