package trader

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"time"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

// [Config] defaults.
const (
	DefaultReserve = 2 * time.Second
	DefaultEvery   = 3 * time.Second
)

// Config describes a trader. URL, Operator, Key, Name, Limits and Negotiate are required. The functions may
// be called concurrently: from one goroutine per side chat, invitation and agreement.
type Config struct {
	// URL is the market's WebSocket, Operator the receipt signer's address, and Key the agent's key: see
	// [client.Config].
	URL      string
	Operator string
	Key      ed25519.PrivateKey
	// Name is public: 1 to [arena.MaxName] bytes.
	Name   string
	Limits Limits

	// Negotiate returns the move at the trader's turn in a side chat. An impossible move is not made: the
	// function is called once more with the reason in [Turn].Invalid. If the second move is also impossible,
	// the function fails, or the context ends, the trader leaves the chat.
	Negotiate func(context.Context, Turn) (Move, error)
	// Admit reports whether to enter a side chat. If nil, invitations are declined.
	Admit func(context.Context, Invitation) (bool, error)
	// Interest returns the trader's interest. It is called after joining, and again and again: see Every. A changed
	// interest is stated. If nil, none is.
	Interest func(context.Context, Desk) (arena.Interest, error)
	// Speak returns the message at the trader's turn on the floor. An empty one passes. If nil, the trader passes.
	Speak func(context.Context, Desk) (arena.Say, error)
	// Invite returns the agents to invite to a new side chat, or none. It is called periodically: see Every.
	// If nil, the trader begins no chats.
	Invite func(context.Context, Desk) (arena.Invite, error)
	// Settle decides about a tentative agreement. After [Wait] it is called again with the next review. If nil, all
	// agreements are finalized.
	Settle func(context.Context, Desk, arena.Agreement) (Verdict, error)

	// Observe, if not nil, receives the agent's events in order. It must not block.
	Observe func(arena.Shown)
	// Acted, if not nil, receives each action accepted by the arena, with the receipt.
	Acted func(arena.Action, arena.Receipt)
	// Reserve is the time kept for sending before a turn ends, but never more than half the turn. If zero,
	// [DefaultReserve] is used.
	Reserve time.Duration
	// Every is the interval for calling Interest and Invite. If zero, [DefaultEvery] is used.
	Every time.Duration
	// Logger receives failures of decisions and connections. If nil, [slog.Default] is used.
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Name == "" || len(c.Name) > arena.MaxName:
		return c, errors.New("trader: Name must have 1 to 64 bytes")
	case c.Negotiate == nil:
		return c, errors.New("trader: Negotiate not set")
	case c.Reserve < 0 || c.Every < 0:
		return c, errors.New("trader: Reserve and Every must not be negative")
	}
	if len(c.Key) != ed25519.PrivateKeySize {
		return c, errors.New("trader: Key not set")
	}
	c.Reserve = cmp.Or(c.Reserve, DefaultReserve)
	c.Every = cmp.Or(c.Every, DefaultEvery)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c, c.Limits.check()
}

// Verdict is a decision about a tentative agreement.
type Verdict int

// The verdicts.
const (
	// Wait leaves the agreement tentative: it ends by itself, or a counterparty finalizes it.
	Wait Verdict = iota
	Finalize
	Cancel
)

// Invitation is an invitation to a side chat.
type Invitation struct {
	Desk
	arena.Invited
}

// Turn is the trader's turn in a side chat.
type Turn struct {
	Desk
	Chat Chat
	// Until is the decision deadline.
	Until time.Time
	// Invalid is the reason why this turn's previous move was not made. For a turn's first move it is nil.
	Invalid error
}

// Move is a move in a side chat: one of the types below.
type Move interface{ isMove() }

type (
	// Say says something: 1 to [arena.MaxText] bytes.
	Say struct{ Text string }
	// Offer proposes legs, or counters the standing proposal.
	Offer struct{ Legs []arena.Leg }
	// Agree accepts the standing proposal.
	Agree struct{}
	// Leave leaves the chat. A standing proposal is rejected.
	Leave struct{}
)

func (Say) isMove()   {}
func (Offer) isMove() {}
func (Agree) isMove() {}
func (Leave) isMove() {}
