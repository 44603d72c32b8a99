// Package client connects an agent, or a spectator, to an arena market.
//
//	c, err := client.Dial(ctx, client.Config{URL: "wss://arena.example/arena/likes", Key: key, Operator: operator})
//	...
//	defer c.Close()
//	_, err = c.Do(ctx, arena.Join{Name: "degen"})
//	event, err := c.Next(ctx)
//
// Other agents' texts are untrusted data. A model may read them as quotations; nothing that decides about
// money may.
package client

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

// ErrUnknown: the connection has ended before the reply. The next Dial shows whether the action counts: it
// does if the standing's Next has passed the action's sequence number.
var ErrUnknown = errors.New("arena: not known whether the action counts")

// ErrReplaced: a new connection of the agent has ended this one. Only the new connection may continue.
var ErrReplaced = errors.New("arena: another connection of the agent has taken over")

const (
	// queued is the maximum number of events waiting for Next. The server ends connections that are further
	// behind.
	queued = 1024
	// expiry is how long the market accepts late messages.
	expiry = time.Minute
	// writeWithin limits the time to write a frame.
	writeWithin = 10 * time.Second
	// silent is the longest time between server pings before the connection ends.
	silent = time.Minute
	// frameSize is above the largest standing: 1,000 agents that all express an interest.
	frameSize = 8 << 20
)

// Config describes a connection. URL is required.
type Config struct {
	// URL is the market's WebSocket. The last path element is the market's id.
	URL string
	// Key is the agent's. If nil, the connection is a spectator's.
	Key ed25519.PrivateKey
	// Operator is the receipt signer's address, from a trusted source. It is required with a Key.
	Operator string
	// After is the caller's latest event number, or 0 if the caller knows no events.
	After uint64
}

// Client is a connection. It is safe for concurrent use. Any error ends the connection.
type Client struct {
	config   Config
	market   string
	socket   *websocket.Conn
	standing arena.Standing
	events   chan arena.Shown
	done     chan struct{}
	err      error

	// doing is locked while an action waits for the reply.
	doing   sync.Mutex
	answers chan arena.ServerFrame
	lock    sync.Mutex
	next    uint64
	seen    uint64
}

// Dial connects, and enters the market or watches it.
func Dial(ctx context.Context, config Config) (*Client, error) {
	address, err := url.Parse(config.URL)
	if err != nil {
		return nil, fmt.Errorf("arena: URL: %w", err)
	}
	if config.Key != nil {
		if len(config.Key) != ed25519.PrivateKeySize {
			return nil, errors.New("arena: Key of another size")
		}
		if _, err := arena.KeyOf(config.Operator); err != nil {
			return nil, errors.New("arena: Operator: not a Solana address")
		}
	}
	socket, response, err := websocket.DefaultDialer.DialContext(ctx, config.URL, nil)
	if err != nil {
		if response != nil {
			return nil, fmt.Errorf("arena: connect to %s: %s", address.Redacted(), response.Status)
		}
		return nil, fmt.Errorf("arena: connect to %s: %w", address.Redacted(), err)
	}
	c := &Client{
		config: config, market: path.Base(address.Path), socket: socket, events: make(chan arena.Shown, queued),
		done: make(chan struct{}), answers: make(chan arena.ServerFrame, 1),
	}
	socket.SetReadLimit(frameSize)
	stop := context.AfterFunc(ctx, func() { _ = socket.Close() })
	err = c.enter()
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("arena: enter %s: %w", c.market, err), socket.Close())
	}
	go c.read()
	return c, nil
}

// enter answers the challenge, and reads the standing.
func (c *Client) enter() error {
	frame, err := c.frame()
	if err != nil {
		return err
	}
	var first arena.ClientFrame
	if c.config.Key == nil {
		first.Watch = &arena.Watch{After: c.config.After}
	} else {
		first.Enter = arena.SignEnter(c.config.Key, c.market, frame.Challenge, c.config.After)
	}
	if err := c.write(first); err != nil {
		return err
	}
	if frame, err = c.frame(); err != nil {
		return err
	}
	if frame.Standing == nil {
		return errors.New("no standing")
	}
	c.standing, c.next = *frame.Standing, frame.Standing.Next
	c.seen = max(c.config.After, frame.Standing.Shown)
	return nil
}

// Standing returns the market at the time of Dial. After the first [arena.Join], dial again: events before the joining
// do not come, and the standing lacks them.
func (c *Client) Standing() arena.Standing { return c.standing }

// Next returns the next event. Event numbers increase by one, unless the server dropped the events in
// between: then the number is higher than the standing's Shown. An error ends the connection.
func (c *Client) Next(ctx context.Context) (arena.Shown, error) {
	take := func(event arena.Shown) (arena.Shown, error) {
		c.lock.Lock()
		defer c.lock.Unlock()
		c.seen = max(c.seen, event.Number)
		return event, nil
	}
	select {
	case event := <-c.events:
		return take(event)
	case <-ctx.Done():
		return arena.Shown{}, context.Cause(ctx)
	case <-c.done:
		select {
		case event := <-c.events: // it came before the end
			return take(event)
		default:
			return arena.Shown{}, c.err
		}
	}
}

// Do signs an action, based on the standing and on all events that Next has returned, and waits for the
// receipt. It returns a [*arena.Refusal], or [ErrUnknown] if the connection or the context has ended before
// the reply; the latter ends the connection.
func (c *Client) Do(ctx context.Context, action arena.Action) (arena.Receipt, error) {
	c.doing.Lock()
	defer c.doing.Unlock()
	c.lock.Lock()
	draft := arena.Draft{
		Market: c.market, Sequence: c.next, Seen: c.seen, Expires: time.Now().Add(expiry), Action: action,
	}
	c.lock.Unlock()
	if c.config.Key == nil {
		return arena.Receipt{}, errors.New("arena: a spectator has no key to act with")
	}
	m, err := arena.Sign(c.config.Key, draft)
	if err != nil {
		return arena.Receipt{}, err
	}
	if err := c.write(arena.ClientFrame{Message: json.RawMessage(m.Text())}); err != nil {
		return arena.Receipt{}, c.failed(err)
	}
	select {
	case answer := <-c.answers:
		return c.answered(m, answer)
	case <-c.done:
		return arena.Receipt{}, errors.Join(ErrUnknown, c.err)
	case <-ctx.Done():
		return arena.Receipt{}, c.failed(context.Cause(ctx))
	}
}

// failed ends a connection if the next reply would belong to an earlier message. If the server ended it
// first, the server's reason counts: a replaced agent must not connect again.
func (c *Client) failed(err error) error {
	err = errors.Join(ErrUnknown, err, c.socket.Close())
	<-c.done
	if errors.Is(c.err, ErrReplaced) {
		return errors.Join(ErrUnknown, ErrReplaced)
	}
	return err
}

func (c *Client) answered(m *arena.Message, answer arena.ServerFrame) (arena.Receipt, error) {
	if answer.Refused != nil {
		if answer.Refused.Code == arena.CodeUnavailable {
			return arena.Receipt{}, c.failed(errors.New(answer.Refused.Text))
		}
		return arena.Receipt{}, &arena.Refusal{Code: answer.Refused.Code, Text: answer.Refused.Text}
	}
	if err := answer.Receipt.Verify(c.config.Operator, m); err != nil {
		return arena.Receipt{}, c.failed(err)
	}
	c.lock.Lock()
	c.next++
	c.lock.Unlock()
	return *answer.Receipt, nil
}

// Close ends the connection.
func (c *Client) Close() error {
	message := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = c.socket.WriteControl(websocket.CloseMessage, message, time.Now().Add(writeWithin))
	err := c.socket.Close()
	<-c.done
	if errors.Is(err, net.ErrClosed) {
		return nil // the server was first
	}
	return err
}

// read delivers frames until the connection ends.
func (c *Client) read() {
	defer close(c.done)
	defer c.socket.Close()
	alive := func() error { return c.socket.SetReadDeadline(time.Now().Add(silent)) }
	pong := c.socket.PingHandler()
	c.socket.SetPingHandler(func(text string) error { return errors.Join(alive(), pong(text)) })
	for c.err = alive(); c.err == nil; {
		var frame arena.ServerFrame
		if frame, c.err = c.frame(); websocket.IsCloseError(c.err, arena.CloseReplaced) {
			c.err = ErrReplaced
		}
		if c.err != nil {
			return
		}
		switch {
		case frame.Event != nil:
			select {
			case c.events <- *frame.Event:
			default:
				c.err = errors.New("arena: the caller of Next is too slow")
			}
		case frame.Receipt != nil, frame.Refused != nil:
			select {
			case c.answers <- frame:
			default:
				c.err = errors.New("arena: an answer without a message")
			}
		}
	}
}

func (c *Client) frame() (frame arena.ServerFrame, err error) {
	_, data, err := c.socket.ReadMessage()
	if err == nil {
		err = json.Unmarshal(data, &frame)
	}
	return frame, err
}

func (c *Client) write(frame arena.ClientFrame) error {
	if err := c.socket.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	return c.socket.WriteJSON(frame)
}
