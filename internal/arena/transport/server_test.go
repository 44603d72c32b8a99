package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/arena/arenatest"
	"github.com/haggle-protocol/haggle/internal/arena/service"
	"github.com/haggle-protocol/haggle/internal/arena/store"
	"github.com/haggle-protocol/haggle/internal/arena/transport"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/client"
)

// connections exceeds what tests open, except when testing the limit.
const connections = 20

// serve runs an arena with the market "m", and returns the market's WebSocket URL.
func serve(t *testing.T) string {
	t.Helper()
	_, url := serveService(t)
	return url
}

// smallBuffers makes the server block soon when a client does not read.
type smallBuffers struct{ net.Listener }

const bufferSize = 4096

// Accept implements net.Listener.
func (l smallBuffers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		err = conn.(*net.TCPConn).SetWriteBuffer(bufferSize)
	}
	return conn, err
}

func serveService(t *testing.T) (*service.Service, string) {
	t.Helper()
	opened, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "arena.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, opened.Close()) })
	now := time.Now()
	config := arenatest.Config("m", now)
	config.Pace = 10
	require.NoError(t, opened.Create(t.Context(), config, now))
	s, err := service.New(service.Config{Store: opened, Key: arenatest.Key(arenatest.Operator), Holder: t.Name()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { assert.ErrorIs(t, s.Run(ctx), context.Canceled) })
	t.Cleanup(func() { cancel(); running.Wait() })
	mux := http.NewServeMux()
	transport.New(transport.Config{Service: s, Connections: connections, Log: slog.New(slog.DiscardHandler)}).Register(mux)
	server := httptest.NewUnstartedServer(mux)
	server.Listener = smallBuffers{server.Listener}
	server.Start()
	t.Cleanup(server.Close)
	require.Eventually(t, func() bool {
		_, err := s.Standing(t.Context(), "m", "")
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	return s, "ws" + strings.TrimPrefix(server.URL, "http") + "/arena/m"
}

// dial connects an agent, or a spectator if seed is 0.
func dial(t *testing.T, url string, seed byte, after uint64) *client.Client {
	t.Helper()
	config := client.Config{URL: url, After: after}
	if seed > 0 {
		config.Key, config.Operator = arenatest.Key(seed), arenatest.ID(arenatest.Operator)
	}
	c, err := client.Dial(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func do(t *testing.T, c *client.Client, action arena.Action) {
	t.Helper()
	_, err := c.Do(t.Context(), action)
	require.NoError(t, err)
}

// await returns the next event with a fact that fits.
func await[T arena.Fact](t *testing.T, c *client.Client, fits func(T) bool) (T, uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		event, err := c.Next(ctx)
		require.NoError(t, err)
		if fact, is := event.Fact.(T); is && fits(fact) {
			return fact, event.Number
		}
	}
}

func each[T any](T) bool { return true }

// Rules 21, 26, 49 and 50.
func TestAgentsTradeThroughWebSockets(t *testing.T) {
	url := serve(t)
	watcher := dial(t, url, 0, 0)
	require.Equal(t, "50,000 likes?", watcher.Standing().View.Config.Question)
	seller, buyer := dial(t, url, 1, 0), dial(t, url, 2, 0)
	require.Nil(t, seller.Standing().Review)
	do(t, seller, arena.Join{Name: "karpathy"})
	do(t, buyer, arena.Join{Name: "degen"})
	do(t, seller, arena.Split{Sets: 20})
	do(t, seller, arena.Invite{Agents: []string{arenatest.ID(2)}})
	invited, _ := await(t, buyer, each[arena.Invited])
	do(t, buyer, arena.AcceptInvitation{Chat: invited.Chat})
	await(t, seller, func(turn arena.Turn) bool { return turn.Chat == invited.Chat })
	do(t, seller, arena.Propose{Chat: invited.Chat, Legs: []arena.Leg{
		{Seller: arenatest.ID(1), Buyer: arenatest.ID(2), Token: arena.Yes, Price: 58, Quantity: 20},
	}})
	_, err := buyer.Do(t.Context(), arena.Agree{Chat: invited.Chat, Proposal: 1})
	refusal := new(arena.Refusal)
	require.True(t, errors.As(err, &refusal), "%v", err)
	require.Contains(t, []arena.Code{arena.CodeChanged, arena.CodeTurn}, refusal.Code, "it has not read the proposal")
	await(t, buyer, func(turn arena.Turn) bool { return turn.Chat == invited.Chat && turn.Agent == arenatest.ID(2) })
	do(t, buyer, arena.Agree{Chat: invited.Chat, Proposal: 1})
	_, number := await(t, buyer, each[arena.Tentative])

	// The connection breaks, and the agent continues where it was.
	require.NoError(t, buyer.Close())
	buyer = dial(t, url, 2, number)
	require.EqualValues(t, 4, buyer.Standing().Next)
	reviewed, _ := await(t, buyer, each[arena.Reviewed])
	do(t, buyer, arena.Finalize{Agreement: 1, Review: reviewed.Review.Number})
	changed, _ := await(t, buyer, each[arena.Changed])
	require.Equal(t, arena.Holding{Money: 88_400_000, Yes: 20}, changed.Holding)

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for traded := false; !traded; {
		event, err := watcher.Next(ctx)
		require.NoError(t, err)
		require.NotContains(t, []string{"invited", "proposed", "agreed_to", "tentative", "changed"}, event.Fact.Kind())
		_, traded = event.Fact.(arena.Traded)
	}
	_, err = watcher.Do(t.Context(), arena.Leave{})
	require.ErrorContains(t, err, "spectator")
}

// Rule 52.
func TestAgentHasOneConnection(t *testing.T) {
	url := serve(t)
	first := dial(t, url, 1, 0)
	do(t, first, arena.Join{Name: "a"})
	await(t, first, each[arena.Joined])
	second := dial(t, url, 1, 0)
	await(t, second, each[arena.Joined])
	for {
		if _, err := first.Next(t.Context()); err != nil {
			require.ErrorIs(t, err, client.ErrReplaced)
			break
		}
	}
	_, err := first.Do(t.Context(), arena.Split{Sets: 1})
	require.ErrorIs(t, err, client.ErrReplaced)
	do(t, second, arena.Split{Sets: 1})
}

// raw connects without the client, and returns the challenge.
func raw(t *testing.T, url string) (*websocket.Conn, string) {
	t.Helper()
	socket, _, err := websocket.DefaultDialer.DialContext(t.Context(), url, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	require.NoError(t, socket.SetReadDeadline(time.Now().Add(20*time.Second)))
	var frame arena.ServerFrame
	require.NoError(t, socket.ReadJSON(&frame))
	require.NotEmpty(t, frame.Challenge)
	return socket, frame.Challenge
}

// read reads one frame. It returns the code if the server has closed the connection, or 0.
func read(t *testing.T, socket *websocket.Conn) int {
	t.Helper()
	_, _, err := socket.ReadMessage()
	if err == nil {
		return 0
	}
	closed := new(websocket.CloseError)
	require.True(t, errors.As(err, &closed), "%v", err)
	return closed.Code
}

// closes reads until the server closes the connection, and returns the code.
func closes(t *testing.T, socket *websocket.Conn) int {
	t.Helper()
	for {
		if code := read(t, socket); code != 0 {
			return code
		}
	}
}

func TestConnectionsAreLimited(t *testing.T) {
	url := serve(t)
	for range connections - 1 {
		raw(t, url)
	}
	last, _ := raw(t, url)
	_, response, err := websocket.DefaultDialer.DialContext(t.Context(), url, nil)
	require.Error(t, err)
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.NoError(t, last.Close())
	require.Eventually(t, func() bool {
		socket, _, err := websocket.DefaultDialer.DialContext(t.Context(), url, nil)
		return err == nil && socket.Close() == nil
	}, 5*time.Second, 10*time.Millisecond)
}

// A reader that gets further and further behind loses its connection, and the market goes on. It reads one event of
// four: the time for a frame never ends, however slow the machine is. Rules 50 and 52.
func TestSlowReaderLosesItsConnection(t *testing.T) {
	s, url := serveService(t)
	dialer := websocket.Dialer{NetDialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return conn, conn.(*net.TCPConn).SetReadBuffer(bufferSize)
	}}
	slow, _, err := dialer.DialContext(t.Context(), url, nil)
	require.NoError(t, err)
	defer slow.Close()
	require.NoError(t, slow.WriteJSON(arena.ClientFrame{Watch: &arena.Watch{}}))
	for range 2 { // the challenge and the state: it follows the market now
		require.NoError(t, slow.ReadJSON(new(arena.ServerFrame)))
	}
	const messages = 1000
	code := 0
	for i := range uint64(messages) {
		var action arena.Action = arena.State{Interest: arena.Interest{Message: strings.Repeat("x", 200)}}
		if i == 0 {
			action = arena.Join{Name: "talker"}
		}
		m, err := arena.Sign(arenatest.Key(1), arena.Draft{
			Market: "m", Sequence: i + 1, Expires: time.Now().Add(time.Minute), Action: action,
		})
		require.NoError(t, err)
		_, err = s.Accept(t.Context(), m)
		require.NoError(t, err)
		if code == 0 && i%4 == 3 {
			code = read(t, slow)
		}
	}
	if code == 0 {
		require.NoError(t, slow.SetReadDeadline(time.Now().Add(20*time.Second)))
		code = closes(t, slow)
	}
	require.Equal(t, arena.CloseSlow, code)
}

// The hostile agents: forged, replayed, out of turn, over commitment, flooding and 10 MB. A slow reader is in
// TestSlowReaderLosesItsConnection, hostile names and texts are in TestSpectatorsWatchInABrowser.
//
// Rules 43, 46, 49 and 51.
func TestHostileAgents(t *testing.T) {
	url := serve(t)
	_, response, err := websocket.DefaultDialer.DialContext(t.Context(), url+"x", nil)
	require.Error(t, err)
	require.Equal(t, http.StatusNotFound, response.StatusCode)
	_, stale := raw(t, url)
	for name, first := range map[string]func(challenge string) any{
		"of another challenge": func(string) any { return arena.ClientFrame{Enter: arena.SignEnter(arenatest.Key(1), "m", stale, 0)} },
		"of another market": func(challenge string) any {
			return arena.ClientFrame{Enter: arena.SignEnter(arenatest.Key(1), "n", challenge, 0)}
		},
		"of another agent": func(challenge string) any {
			enter := arena.SignEnter(arenatest.Key(1), "m", challenge, 0)
			enter.Agent = arenatest.ID(2)
			return arena.ClientFrame{Enter: enter}
		},
		"a message first": func(string) any { return arena.ClientFrame{Message: json.RawMessage("{}")} },
		"nothing":         func(string) any { return struct{}{} },
		"no object":       func(string) any { return "hello" },
	} {
		t.Run(name, func(t *testing.T) {
			socket, challenge := raw(t, url)
			require.NoError(t, socket.WriteJSON(first(challenge)))
			require.Equal(t, websocket.ClosePolicyViolation, closes(t, socket))
		})
	}
	enter := func(t *testing.T, seed byte) *websocket.Conn {
		t.Helper()
		socket, challenge := raw(t, url)
		require.NoError(t, socket.WriteJSON(arena.ClientFrame{Enter: arena.SignEnter(arenatest.Key(seed), "m", challenge, 0)}))
		var frame arena.ServerFrame
		require.NoError(t, socket.ReadJSON(&frame))
		require.NotNil(t, frame.Standing)
		return socket
	}
	t.Run("10 MB", func(t *testing.T) {
		socket := enter(t, 1)
		_ = socket.WriteJSON(arena.ClientFrame{Message: json.RawMessage(`"` + strings.Repeat("x", 10<<20) + `"`)})
		// The server may reset the connection and the close reason be lost.
		_, _, err := socket.ReadMessage()
		require.Error(t, err)
	})
	t.Run("another agent's message", func(t *testing.T) {
		socket := enter(t, 1)
		m, err := arena.Sign(arenatest.Key(2), arena.Draft{
			Market: "m", Sequence: 1, Expires: time.Now().Add(time.Minute), Action: arena.Join{Name: "x"},
		})
		require.NoError(t, err)
		require.NoError(t, socket.WriteJSON(arena.ClientFrame{Message: json.RawMessage(m.Text())}))
		var frame arena.ServerFrame
		require.NoError(t, socket.ReadJSON(&frame))
		require.Equal(t, arena.CodeParty, frame.Refused.Code)
		require.EqualValues(t, 1, frame.Refused.Next)
	})
	// send sends text as a message, and returns the response.
	send := func(t *testing.T, socket *websocket.Conn, text string) (frame arena.ServerFrame) {
		t.Helper()
		require.NoError(t, socket.WriteJSON(arena.ClientFrame{Message: json.RawMessage(text)}))
		for frame.Receipt == nil && frame.Refused == nil {
			frame = arena.ServerFrame{}
			require.NoError(t, socket.ReadJSON(&frame))
		}
		return frame
	}
	sign := func(t *testing.T, seed byte, market string, sequence uint64, action arena.Action) string {
		t.Helper()
		m, err := arena.Sign(arenatest.Key(seed), arena.Draft{
			Market: market, Sequence: sequence, Expires: time.Now().Add(time.Minute), Action: action,
		})
		require.NoError(t, err)
		return string(m.Text())
	}
	t.Run("forged", func(t *testing.T) {
		forged := strings.Replace(sign(t, 5, "m", 1, arena.Join{Name: "forged"}), `"name":"forged"`, `"name":"forger"`, 1)
		require.Equal(t, arena.CodeSignature, send(t, enter(t, 5), forged).Refused.Code)
	})
	t.Run("replayed", func(t *testing.T) {
		socket := enter(t, 6)
		join, split := sign(t, 6, "m", 1, arena.Join{Name: "replayed"}), sign(t, 6, "m", 2, arena.Split{Sets: 30})
		require.NotNil(t, send(t, socket, join).Receipt)
		first := send(t, socket, split).Receipt
		require.NotNil(t, first)
		require.Equal(t, first, send(t, socket, split).Receipt, "the latest message counts once")
		require.Equal(t, arena.CodeSequence, send(t, socket, join).Refused.Code)
		require.Equal(t, arena.CodeParty, send(t, socket, sign(t, 6, "n", 3, arena.Split{Sets: 30})).Refused.Code)
		require.EqualValues(t, 70*arena.SetPrice, dial(t, url, 6, 0).Standing().Review.Holding.Money)
	})
	t.Run("out of turn, and over commitment", func(t *testing.T) {
		socket := enter(t, 7)
		require.NotNil(t, send(t, socket, sign(t, 7, "m", 1, arena.Join{Name: "eager"})).Receipt)
		for action, code := range map[arena.Action]arena.Code{
			arena.Chat{Chat: 99, Text: "x"}: arena.CodeUnknown, arena.Agree{Chat: 1, Proposal: 1}: arena.CodeUnknown,
			arena.Finalize{Agreement: 1, Review: 1}: arena.CodeUnknown, arena.Split{Sets: 101}: arena.CodeFunds, arena.Merge{Sets: 1}: arena.CodeFunds,
			arena.Withdraw{Agent: arenatest.ID(7), Amount: 1}: arena.CodeParty, arena.Resolve{Outcome: arena.OutcomeYes}: arena.CodeParty,
		} {
			require.Equal(t, code, send(t, socket, sign(t, 7, "m", 2, action)).Refused.Code, action.Kind())
		}
		require.EqualValues(t, 100*arena.SetPrice, dial(t, url, 7, 0).Standing().Review.Holding.Money)
	})
	t.Run("a flood delays only itself", func(t *testing.T) {
		flood := enter(t, 3)
		go func() {
			for flood.WriteJSON(arena.ClientFrame{Message: json.RawMessage("{}")}) == nil {
			}
		}()
		quiet := dial(t, url, 4, 0)
		do(t, quiet, arena.Join{Name: "quiet"})
		for range 10 {
			do(t, quiet, arena.State{})
		}
	})
}
