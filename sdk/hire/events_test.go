package hire

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// pipes is a network in memory, whose connections wait in fake time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// eventHome serves event streams in a bubble of fake time. serve receives the connection number, from 1.
func eventHome(t *testing.T, serve func(w http.ResponseWriter, r *http.Request, connection int)) (h *Home, log *strings.Builder) {
	const at = "http://localhost:1"
	network := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	var connections atomic.Int32
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent, err := Authenticate(r, at, func(context.Context, string) (ed25519.PublicKey, error) {
			return publicOf(seeker), nil
		}, time.Now())
		if err != nil || agent != seeker || r.URL.Path != EventsPath {
			t.Error(err, agent, r.URL)
		}
		serve(w, r, int(connections.Add(1)))
	})}
	served := make(chan error)
	go func() { served <- server.Serve(network) }()
	log = new(strings.Builder)
	h = &Home{
		Origin: at, Agent: seeker, Key: keyOf(seeker), Logger: slog.New(slog.NewTextHandler(log, nil)),
		Client: &Client{Local: true, Transport: &http.Transport{DialContext: network.dial}},
	}
	t.Cleanup(func() {
		h.Client.Close()
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	return h, log
}

// begin begins an event stream, and writes the text. It reports whether the reader still reads.
func begin(w http.ResponseWriter, text string) bool {
	w.Header().Set("Content-Type", "text/event-stream")
	_, err := io.WriteString(w, text)
	return err == nil && http.NewResponseController(w).Flush() == nil
}

// messages returns three messages to the seeker, and their events.
func messages(t *testing.T) (all []*Message, text string) {
	for n := range 3 {
		m, err := Sign(keyOf(worker), Draft{
			From: worker, To: seeker, At: start.Add(time.Duration(n) * time.Second), Conversation: "conv_xyz",
			Payload: &Clarification{Questions: []Text{NewText("Which colors?")}},
		})
		require.NoError(t, err)
		all = append(all, m)
		text += event(n+1, m)
	}
	return all, text
}

func event(number int, m *Message) string {
	return fmt.Sprintf("id: %d\nevent: message\ndata: %s\n\n", number, m.Text())
}

// serveRest sends the events that the reader does not have, and waits for the reader's end.
func serveRest(w http.ResponseWriter, r *http.Request, all []*Message) {
	after, _ := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	for n := after; n < len(all); n++ {
		begin(w, event(n+1, all[n]))
	}
	<-r.Context().Done()
}

// requireEvents requires the events of messages, the first ones.
func requireEvents(t *testing.T, h *Home, all []*Message) {
	t.Helper()
	var got []*Message
	for event, err := range h.Events(t.Context(), 0) {
		require.NoError(t, err)
		got = append(got, event.Message)
		require.EqualValues(t, len(got), event.Number)
		if len(got) == len(all) {
			break
		}
	}
	for i, m := range got {
		require.Equal(t, all[i].Text(), m.Text())
	}
}

// The connection breaks after every number of bytes.
func TestEventsArriveOnceAndInOrder(t *testing.T) {
	all, text := messages(t)
	for length := range len(text) + 1 {
		synctest.Test(t, func(t *testing.T) {
			h, _ := eventHome(t, func(w http.ResponseWriter, r *http.Request, connection int) {
				if connection > 1 {
					serveRest(w, r, all)
					return
				}
				begin(w, text[:length])
				if length%2 == 0 {
					panic(http.ErrAbortHandler)
				}
			})
			requireEvents(t, h, all)
		})
	}
}

func TestHostileStreamIsReplaced(t *testing.T) {
	all, text := messages(t)
	to := func(id string) *Message {
		m, err := Sign(keyOf(worker), Draft{From: worker, To: id, At: start, Conversation: "conv_xyz", Payload: &Clarification{}})
		require.NoError(t, err)
		return m
	}
	all = append(all, to(seeker)) // after the text
	endless := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for begin(w, strings.Repeat(text, 1+1000/len(text))) {
			}
		}
	}
	stream := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { begin(w, text) }
	}
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"endless line":      {endless("data"), "token too long"},
		"endless event":     {endless("data: {\n"), "token too long"},
		"endless comment":   {endless(":\n"), "token too long"},
		"large event":       {stream("id: 1\ndata: " + strings.Repeat(" ", maxEvent) + "\n\n"), "token too long"},
		"large message":     {stream("id: 1\ndata: " + strings.Repeat(" ", MaxSize+1) + "\n\n"), "event 1: hire: malformed"},
		"end":               {stream(""), "stream ended"},
		"incomplete event":  {stream(strings.TrimSuffix(event(1, all[0]), "\n")), "stream ended"},
		"gap":               {stream(event(2, all[0])), "instead of number 1"},
		"zero":              {stream(event(0, all[0])), "instead of number 1"},
		"again":             {stream(event(1, all[0]) + event(1, all[0])), "instead of number 2"},
		"backwards":         {stream(text + event(2, all[0])), "instead of number 4"},
		"no number":         {stream("data: " + string(all[0].Text()) + "\n\n"), "instead of number 1"},
		"no second number":  {stream(event(1, all[0]) + "data: " + string(all[1].Text()) + "\n\n"), "instead of number 2"},
		"other spelling":    {stream(strings.Replace(event(1, all[0]), "1", "01", 1)), "instead of number 1"},
		"another type":      {stream(strings.Replace(event(1, all[0]), "message", "order", 1)), "event 1: unknown type"},
		"no message":        {stream("id: 1\ndata: {}\n\n"), "event 1: hire: unsupported_version"},
		"another recipient": {stream(event(1, to("agent_other"))), "message to another recipient"},
		"another content": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) },
			"another type than text/event-stream"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://localhost:1/other", http.StatusFound)
		}, "redirects are not followed"},
		"not found":   {http.NotFound, "status 404"},
		"unavailable": {unavailable, "status 503"},
		"no response": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, log := eventHome(t, func(w http.ResponseWriter, r *http.Request, connection int) {
					if connection > 1 {
						serveRest(w, r, all)
						return
					}
					c.serve(w, r)
				})
				requireEvents(t, h, all)
				require.Contains(t, log.String(), c.want)
				require.Equal(t, 1, strings.Count(log.String(), "event stream lost"))
			})
		})
	}
}

func TestSilentStreamIsReplaced(t *testing.T) {
	all, _ := messages(t)
	for name, silent := range map[string]http.HandlerFunc{
		"no response": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"no data": func(w http.ResponseWriter, r *http.Request) {
			begin(w, ": stream\n\n")
			<-r.Context().Done()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			h, log := eventHome(t, func(w http.ResponseWriter, r *http.Request, connection int) {
				if connection > 1 {
					serveRest(w, r, all)
					return
				}
				silent(w, r)
			})
			began := time.Now()
			requireEvents(t, h, all)
			require.Contains(t, log.String(), "no data in time", name)
			require.Less(t, time.Since(began), silenceLimit+time.Second, name)
		})
	}
}

func TestHeartbeatsKeepTheStream(t *testing.T) {
	all, _ := messages(t)
	synctest.Test(t, func(t *testing.T) {
		h, log := eventHome(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			for range 1000 {
				begin(w, ": heartbeat\n\n")
				time.Sleep(15 * time.Second)
			}
			serveRest(w, r, all)
		})
		requireEvents(t, h, all)
		require.Empty(t, log.String())
	})
}

// The time that the caller takes for an event is not silence.
func TestSlowReaderKeepsTheStream(t *testing.T) {
	all, _ := messages(t)
	synctest.Test(t, func(t *testing.T) {
		h, log := eventHome(t, func(w http.ResponseWriter, r *http.Request, _ int) { serveRest(w, r, all) })
		for event, err := range h.Events(t.Context(), 0) {
			require.NoError(t, err)
			time.Sleep(time.Hour)
			if event.Number == 3 {
				break
			}
		}
		require.Empty(t, log.String())
	})
}

func TestEventsResumeAfterANumber(t *testing.T) {
	all, _ := messages(t)
	synctest.Test(t, func(t *testing.T) {
		h, _ := eventHome(t, func(w http.ResponseWriter, r *http.Request, _ int) { serveRest(w, r, all) })
		for event, err := range h.Events(t.Context(), 2) {
			require.NoError(t, err)
			require.EqualValues(t, 3, event.Number)
			break
		}
	})
}

func TestLargestMessageIsAnEvent(t *testing.T) {
	sign := func(length int) *Message {
		m, err := Sign(keyOf(worker), Draft{
			From: worker, To: seeker, At: start, Conversation: "conv_xyz",
			Payload: &Clarification{Answers: []Text{NewText(strings.Repeat("x", length))}},
		})
		require.NoError(t, err)
		return m
	}
	m := sign(MaxSize - len(sign(0).Text()))
	require.Len(t, m.Text(), MaxSize)
	received := 0
	err := readEvents(strings.NewReader(event(1, m)), seeker, 0, func(Event) bool {
		received++
		return true
	})
	require.ErrorIs(t, err, errEnded)
	require.Equal(t, 1, received)
}

func TestRefusedEventsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, log := eventHome(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			WriteRefusal(w, &Refusal{Reason: ReasonIdentity, Text: "unknown"})
		})
		yields := 0
		for _, err := range h.Events(t.Context(), 0) {
			requireReason(t, ReasonIdentity, err)
			yields++
		}
		require.Equal(t, 1, yields)
		require.Empty(t, log.String())
		for _, err := range (&Home{Origin: h.Origin}).Events(t.Context(), 0) {
			require.ErrorContains(t, err, "key not set")
		}
		for _, err := range (&Home{Origin: "http://127.0.0.1:1", Key: h.Key}).Events(t.Context(), 0) {
			require.ErrorIs(t, err, errNotPublic)
		}
	})
}

func TestEventsEndWithTheContext(t *testing.T) {
	all, _ := messages(t)
	for name, serve := range map[string]http.HandlerFunc{
		"stream":  func(w http.ResponseWriter, r *http.Request) { serveRest(w, r, all) },
		"pause":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"request": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		synctest.Test(t, func(t *testing.T) {
			h, _ := eventHome(t, func(w http.ResponseWriter, r *http.Request, _ int) { serve(w, r) })
			ended := errors.New("ended")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(9*time.Second, func() { cancel(ended) })
			var last error
			for _, err := range h.Events(ctx, 0) {
				require.NoError(t, last)
				last = err
			}
			require.ErrorIs(t, last, ended, name)
		})
	}
}

// An unavailable home receives a request every 15 seconds, or less often if Retry-After demands it.
func TestPausesGrow(t *testing.T) {
	for after, limit := range map[string]int{"": 500, "60": 61} {
		synctest.Test(t, func(t *testing.T) {
			var requests atomic.Int64
			h, _ := eventHome(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				requests.Add(1)
				w.Header().Set("Retry-After", after)
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			for _, err := range h.Events(ctx, 0) {
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			require.LessOrEqual(t, int(requests.Load()), limit)
			require.Greater(t, int(requests.Load()), 50)
		})
	}
}

func TestPauseIsShortAfterALongConnection(t *testing.T) {
	all, _ := messages(t)
	synctest.Test(t, func(t *testing.T) {
		var ended time.Time
		h, _ := eventHome(t, func(w http.ResponseWriter, r *http.Request, connection int) {
			switch {
			case connection < 20:
				w.WriteHeader(http.StatusServiceUnavailable)
			case connection == 20:
				for range 10 {
					begin(w, ": heartbeat\n\n")
					time.Sleep(15 * time.Second)
				}
				ended = time.Now()
			default:
				serveRest(w, r, all)
			}
		})
		requireEvents(t, h, all)
		require.Less(t, time.Since(ended), time.Second)
	})
}

func FuzzReadEvents(f *testing.F) {
	m, err := Sign(keyOf(worker), Draft{From: worker, To: seeker, At: start, Conversation: "c", Payload: &Clarification{}})
	require.NoError(f, err)
	f.Add([]byte(event(1, m)+event(2, m)), uint64(0))
	f.Add([]byte("\ufeff: stream\r\n\r\nid: 8\rdata: {\rdata: }\r\rretry: 1\n\n"), uint64(7))
	f.Add([]byte("id\nid: 1\x00\nevent\ndata\n\n"), uint64(1<<64-1))
	f.Fuzz(func(t *testing.T, stream []byte, after uint64) {
		next := after
		err := readEvents(strings.NewReader(string(stream)), seeker, after, func(e Event) bool {
			next++
			require.Equal(t, next, e.Number)
			require.Equal(t, seeker, e.Message.To())
			return true
		})
		require.Error(t, err)
		require.NotErrorAs(t, err, new(*Refusal))
	})
}
