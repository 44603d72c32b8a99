package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tmaxmax/go-sse"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/rest"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// streaming serves the negotiation API as in production: the checks of [newServer] hold responses back.
func (g *gateway) streaming(t *testing.T, change func(*rest.Config, *http.Server)) *httptest.Server {
	t.Helper()
	config := newConfig(t, g.store)
	s := httptest.NewUnstartedServer(nil)
	server := rest.NewServer(nil)
	if change != nil {
		change(&config, server)
	}
	server.Handler = rest.Negotiation(config)
	s.Config = server
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// stream is an open event stream.
type stream struct {
	t      *testing.T
	header http.Header
	body   io.ReadCloser
	// received gets the events, and is closed at the end of the stream.
	received chan sse.Event
}

// watch opens a stream. last is the Last-Event-ID; empty for none.
func watch(t *testing.T, url, id, key, last string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/events/"+id, nil)
	require.NoError(t, err)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	got, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.Equal(t, 200, got.StatusCode)
	require.Equal(t, "text/event-stream", got.Header.Get("Content-Type"))
	s := &stream{t, got.Header, got.Body, make(chan sse.Event)}
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(s.received)
		for event, err := range sse.Read(got.Body, &sse.ReadConfig{MaxEventSize: 1 << 20}) {
			if err != nil {
				return
			}
			select {
			case s.received <- event:
			case <-ctx.Done():
				return
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		_ = got.Body.Close()
		reader.Wait()
	})
	return s
}

// next returns the next event's id and document.
func (s *stream) next() (id string, document map[string]any) {
	s.t.Helper()
	select {
	case event, open := <-s.received:
		require.True(s.t, open, "the stream has ended")
		require.NoError(s.t, json.Unmarshal([]byte(event.Data), &document), event.Data)
		return event.LastEventID, document
	case <-time.After(time.Minute):
		require.Fail(s.t, "no event")
		return "", nil
	}
}

// ends asserts that the stream ends without a further event.
func (s *stream) ends() {
	s.t.Helper()
	select {
	case event, open := <-s.received:
		require.False(s.t, open, event.Data)
	case <-time.After(time.Minute):
		require.Fail(s.t, "the stream does not end")
	}
}

// opened opens a negotiation, and returns its id.
func (g *gateway) opened(t *testing.T, key string) string {
	t.Helper()
	opened := call(t, "POST", g.negotiation+"/api/negotiations", key, fmt.Sprintf(proposal, 1500))
	return fmt.Sprint(inner(must(t, 201, opened), "negotiation", "id"))
}

func TestEventsOfANegotiation(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		k := g.register(t)
		id, url := g.opened(t, k.client), g.streaming(t, nil).URL
		streams := map[string]*stream{}
		for _, key := range []string{k.client, k.publisher, k.administrator} {
			streams[key] = watch(t, url, id, key, "")
		}
		require.Equal(t, "no-store", streams[k.client].header.Get("Cache-Control"))
		seen := map[string]bool{}
		check := func(pending bool, round int, status string) (last string) {
			t.Helper()
			for key, s := range streams {
				name, document := s.next()
				require.Equal(t, must(t, 200, call(t, "GET", url+"/api/negotiations/"+id, key, "")), document)
				require.Equal(t, pending, document["answer_pending"] == true)
				require.EqualValues(t, round, document["current_round"])
				require.Equal(t, status, document["status"])
				last = name
			}
			require.False(t, seen[last], last)
			seen[last] = true
			return last
		}
		first := check(false, 1, "negotiating")
		g.write(t, id, engine.PartyClient, 1600)
		pending := check(true, 2, "negotiating")
		g.write(t, id, engine.PartyPublisher, 1900)
		answered := check(false, 2, "negotiating")

		// A client that connects again gets the changes since its last event.
		behind, current := watch(t, url, id, k.client, pending), watch(t, url, id, k.client, answered)
		name, _ := behind.next()
		require.Equal(t, answered, name)
		name, _ = watch(t, url, id, k.client, first).next()
		require.Equal(t, answered, name)
		must(t, 200, call(t, "POST", url+"/api/negotiations/"+id+"/leave", k.publisher, `{"reason":"price"}`))
		last := check(false, 2, "rejected")
		name, document := current.next()
		require.Equal(t, last, name)
		require.Equal(t, "rejected", document["status"])
		current.ends()
		for _, s := range streams {
			s.ends()
		}
		again := call(t, "GET", url+"/api/events/"+id, k.client, "", "Last-Event-ID", last)
		must(t, 204, again)
		late := watch(t, url, id, k.client, answered)
		name, _ = late.next()
		require.Equal(t, last, name)
		late.ends()
	})
}

func TestEventsOfOthersNegotiations(t *testing.T) {
	g := open(t, sqlite(t))
	k := g.register(t)
	id := g.opened(t, k.client)
	for _, key := range []string{k.other, ""} {
		must(t, 404, call(t, "GET", g.negotiation+"/api/events/"+id, key, ""))
	}
	must(t, 404, call(t, "GET", g.negotiation+"/api/events/01890000-0000-7000-8000-000000000000", k.client, ""))
	must(t, 422, call(t, "GET", g.negotiation+"/api/events/1", k.client, ""))
	must(t, 401, call(t, "GET", g.negotiation+"/api/events/"+id, "hgl_wrong", ""))
}

// The server's write timeout limits whole responses. Streams last longer.
func TestQuietStreamHasHeartbeats(t *testing.T) {
	g := open(t, sqlite(t))
	g.register(t)
	id := g.opened(t, "")
	s := g.streaming(t, func(c *rest.Config, server *http.Server) {
		c.Heartbeat, c.MaxStream = 500*time.Millisecond, 4*time.Second
		server.ReadTimeout, server.WriteTimeout = time.Second, time.Second
	})
	begun := time.Now()
	got := call(t, "GET", s.URL+"/api/events/"+id, "", "")
	require.GreaterOrEqual(t, time.Since(begun), 4*time.Second)
	require.Equal(t, 1, strings.Count(got.text, "data: {"))
	require.Greater(t, strings.Count(got.text, ": heartbeat\n\n"), 3)
}

// The streams of a client end soon after its suspension, and a key's streams after its revocation.
func TestStreamEndsWithTheCredentials(t *testing.T) {
	onBoth(t, func(t *testing.T, g *gateway) {
		k := g.register(t)
		ofClient, ofNetwork := g.opened(t, k.client), g.opened(t, "")
		url := g.streaming(t, nil).URL
		client, network := watch(t, url, ofClient, k.client, ""), watch(t, url, ofNetwork, "", "")
		publisher := watch(t, url, ofClient, k.publisher, "")
		for _, s := range []*stream{client, network, publisher} {
			s.next()
		}
		all, err := g.store.Clients(t.Context(), store.Page{})
		require.NoError(t, err)
		require.Len(t, all.Items, 3)
		for _, c := range all.Items {
			must(t, 200, call(t, "PATCH", fmt.Sprintf("%s/api/clients/%d", url, c.ID), k.administrator,
				`{"suspended":true}`))
		}
		client.ends()
		network.ends()
		keys := must(t, 200, call(t, "GET", url+"/api/keys", k.publisher, ""))["items"].([]any)
		must(t, 200, call(t, "DELETE", fmt.Sprint(url, "/api/keys/", keys[0].(map[string]any)["id"]), k.publisher, ""))
		publisher.ends()
	})
}

func TestStreamsAreLimited(t *testing.T) {
	g := open(t, sqlite(t))
	k := g.register(t)
	id, url := g.opened(t, k.client), g.streaming(t, nil).URL
	var streams []*stream
	for range 8 {
		s := watch(t, url, id, k.client, "")
		s.next()
		streams = append(streams, s)
	}
	refused := call(t, "GET", url+"/api/events/"+id, k.client, "")
	require.Equal(t, "urn:haggle:problem:"+service.CodeLimitWatches, must(t, 429, refused)["type"])
	require.Equal(t, "10", refused.header.Get("Retry-After"))
	watch(t, url, id, k.publisher, "").next()
	require.NoError(t, streams[0].body.Close())
	require.Eventually(t, func() bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/events/"+id, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+k.client)
		got, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, got.Body.Close())
		return got.StatusCode == 200
	}, time.Minute, 50*time.Millisecond, "a client that disconnects frees its place")
}

func TestShutdownEndsStreams(t *testing.T) {
	g := open(t, sqlite(t))
	k := g.register(t)
	s := g.streaming(t, nil)
	open := watch(t, s.URL, g.opened(t, k.client), k.client, "")
	open.next()
	limit, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, s.Config.Shutdown(limit))
	open.ends()
}

func TestEventStreamIsDescribed(t *testing.T) {
	g := open(t, sqlite(t))
	document := must(t, 200, call(t, "GET", g.negotiation+"/openapi.json", "", ""))
	operation, _ := inner(document, "paths", "/api/events/{id}", "get").(map[string]any)
	require.Equal(t, "watch-negotiation", operation["operationId"])
	require.Len(t, operation["security"], 2, "anonymous clients watch their own negotiations")
	require.Equal(t, map[string]any{"schema": map[string]any{"type": "string"}},
		inner(operation, "responses", "200", "content", "text/event-stream"))
	require.NotContains(t, inner(operation, "responses", "204"), "content")
	for _, status := range []string{"401", "403", "404", "422", "429", "503"} {
		require.Contains(t, inner(operation, "responses", status, "content"), "application/problem+json", status)
	}
	parameters, _ := operation["parameters"].([]any)
	require.Len(t, parameters, 2)
	require.Equal(t, "Last-Event-ID", parameters[1].(map[string]any)["name"])
}

// A request with HEAD holds no connection.
func TestHeadOfAnEventStream(t *testing.T) {
	g := open(t, sqlite(t))
	k := g.register(t)
	s := g.streaming(t, func(c *rest.Config, _ *http.Server) { c.MaxStream = 30 * time.Second })
	id, begun := g.opened(t, k.client), time.Now()
	for range 2 { // on the same connection
		head := call(t, "HEAD", s.URL+"/api/events/"+id, k.client, "")
		must(t, 200, head)
		require.Equal(t, "text/event-stream", head.header.Get("Content-Type"))
	}
	require.Less(t, time.Since(begun), 25*time.Second)
}
