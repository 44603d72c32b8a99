package proxy

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// subscribe connects to a proxy and requests a subscription.
func subscribe(t *testing.T, proxy *Proxy) *websocket.Conn {
	t.Helper()
	conn, response, err := websocket.DefaultDialer.Dial(proxy.WSURL(), nil)
	require.NoError(t, err)
	_ = response.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	require.NoError(t, conn.WriteMessage(websocket.TextMessage, []byte(`{"id":1,"method":"logsSubscribe","params":[]}`)))
	return conn
}

// received returns the node's messages, up to the end of the connection or a number of notifications.
func received(t *testing.T, conn *websocket.Conn, most int) (said []string, ended error) {
	t.Helper()
	for len(said) < most {
		var message struct {
			Method string
			Params string
			Result json.RawMessage
			Error  *struct{ Code int }
		}
		if err := conn.ReadJSON(&message); err != nil {
			return said, err
		}
		if message.Method != "" {
			said = append(said, message.Params)
		}
	}
	return said, nil
}

func numbered(from, to int) (texts []string) {
	for i := from; i <= to; i++ {
		texts = append(texts, string(rune('a'+i)))
	}
	return texts
}

func TestNotificationsArePassedOn(t *testing.T) {
	n := newNode(t)
	n.say = numbered(0, 9)
	proxy := start(t, n, Options{})
	said, err := received(t, subscribe(t, proxy), 10)
	require.NoError(t, err)
	require.Equal(t, n.say, said)
	counts := proxy.Counts()
	require.Equal(t, [3]int{1, 1, 10}, [3]int{counts.Connections, counts.Subscriptions, counts.Notifications})
	require.Empty(t, counts.Faults)
}

func TestNotificationsAreDroppedRepeatedAndDelayed(t *testing.T) {
	n := newNode(t)
	n.say = numbered(0, 19)

	proxy := start(t, n, Options{Rates: Rates{NotificationRepeated: always}})
	said, err := received(t, subscribe(t, proxy), 40)
	require.NoError(t, err)
	for i, text := range n.say {
		require.Equal(t, []string{text, text}, said[2*i:2*i+2])
	}

	proxy = start(t, n, Options{Rates: Rates{NotificationDelayed: always}, MaxDelay: 100 * time.Millisecond})
	said, err = received(t, subscribe(t, proxy), 20)
	require.NoError(t, err)
	require.ElementsMatch(t, n.say, said)
	require.NotEqual(t, n.say, said, "they come in another order")

	proxy = start(t, n, Options{Rates: Rates{NotificationDropped: 0.5}, Seed: 4})
	conn := subscribe(t, proxy)
	require.Eventually(t, func() bool { return proxy.Counts().Notifications == 20 }, 10*time.Second, time.Millisecond)
	dropped := proxy.Counts().Faults[NotificationDropped]
	require.True(t, dropped > 0 && dropped < 20)
	said, err = received(t, conn, 20-dropped)
	require.NoError(t, err)
	require.Subset(t, n.say, said)
}

func TestConnectionsAreCut(t *testing.T) {
	n := newNode(t)
	n.say = numbered(0, 19)
	proxy := start(t, n, Options{Rates: Rates{ConnectionCut: always}})
	said, farewells, abrupt := 0, 0, 0
	for range 16 {
		some, err := received(t, subscribe(t, proxy), 1)
		require.Error(t, err)
		said += len(some)
		if websocket.IsCloseError(err, websocket.CloseGoingAway) {
			farewells++
		} else {
			abrupt++
		}
	}
	require.Zero(t, said)
	require.Positive(t, farewells)
	require.Positive(t, abrupt)
}

func TestConnectionsAndSubscriptionsAreRefused(t *testing.T) {
	n := newNode(t)
	proxy := start(t, n, Options{Rates: Rates{ConnectionRefused: always}})
	_, response, err := websocket.DefaultDialer.Dial(proxy.WSURL(), nil)
	require.Error(t, err)
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)

	proxy = start(t, n, Options{Rates: Rates{SubscriptionRefused: always}})
	conn := subscribe(t, proxy)
	var message struct {
		ID    int
		Error struct {
			Code    int
			Message string
		}
	}
	require.NoError(t, conn.ReadJSON(&message))
	require.Equal(t, 1, message.ID)
	require.Negative(t, message.Error.Code)
	require.NotEmpty(t, message.Error.Message)
	n.has(t)
	require.Equal(t, map[Kind]int{SubscriptionRefused: 1}, proxy.Counts().Faults)
}

// Close ends all goroutines, even with a delayed notification and a connected client; goleak checks that.
func TestCloseEndsEverything(t *testing.T) {
	n := newNode(t)
	n.say = numbered(0, 9)
	proxy := start(t, n, Options{Rates: Rates{NotificationDelayed: always, Delayed: always}, MaxDelay: time.Hour})
	conn := subscribe(t, proxy)
	require.Eventually(t, func() bool { return proxy.Counts().Notifications == 10 }, 10*time.Second, time.Millisecond)
	asked := make(chan error, 1)
	go func() {
		_, _, err := send(t, proxy, "sendTransaction", `[]`)
		asked <- err
	}()
	require.Eventually(t, func() bool { return proxy.Counts().Requests == 1 }, 10*time.Second, time.Millisecond)
	require.NoError(t, proxy.Close())
	require.Error(t, <-asked)
	_, err := received(t, conn, 11)
	require.Error(t, err)
	_, _, err = send(t, proxy, "getSlot", `[]`)
	require.Error(t, err)
}
