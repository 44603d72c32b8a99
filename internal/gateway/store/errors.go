package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	sdkdb "github.com/haggle-protocol/haggle/sdk/store/database"
)

// The errors that callers handle.
var (
	// ErrAddress means that the address is not a database address.
	ErrAddress = errors.New("invalid database address: " +
		"use sqlite:PATH or postgres://USER@HOST:PORT/DATABASE")
	// ErrInProgress means that another transaction holds the lock. Nothing changed; try again.
	ErrInProgress = errors.New("negotiation in progress: try again")
	// ErrOutcomeUnknown means that the connection was lost during the commit. The change was made or not.
	ErrOutcomeUnknown = errors.New("outcome unknown: read the object, or repeat the request with the same idempotency key")
	// ErrNotFound means that no row has the id.
	ErrNotFound = errors.New("not found")
	// ErrKeyReused means that an idempotency key belongs to a request with another body.
	ErrKeyReused = errors.New("idempotency key reused: send another key with another request")
	// ErrExists means that such a row exists already.
	ErrExists = errors.New("exists already")
	// ErrNameTaken means that another client uses the name.
	ErrNameTaken = errors.New("name taken: choose another one")
	// ErrSuspended means that the gateway's operator suspended the client.
	ErrSuspended = errors.New("suspended: ask the gateway's operator")
	// ErrFormerKey means that a client replaced or revoked the public key.
	ErrFormerKey = errors.New("public key replaced or revoked before: choose another one")
	// ErrKeyEnded means that an API key cannot be rotated any more.
	ErrKeyEnded = errors.New("cannot be rotated")
	// ErrNoStrategy means that the publisher lacks an active strategy.
	ErrNoStrategy = errors.New("publisher has no active strategy")
	// ErrActiveLimit means that the publisher has [MaxActive] active strategies.
	ErrActiveLimit = fmt.Errorf("%d strategies are active: deactivate one first", MaxActive)
	// ErrStrategyActive means that an active strategy version cannot be deleted.
	ErrStrategyActive = errors.New("active: set is_active to false first")
	// ErrStrategyUsed means that a strategy version cannot be deleted, because negotiations began with it.
	ErrStrategyUsed = errors.New("used by negotiations: it stays as part of their record")
	// ErrOfferChanged means that the caller accepts an outdated offer.
	ErrOfferChanged = errors.New("offer changed: read the negotiation and decide again")
	// ErrNoGateway means that the database lacks the gateway's tables.
	ErrNoGateway = errors.New("the database has no gateway: check its address, or start the gateway first")
	// ErrOldSchema means that an older haggle migrated the database.
	ErrOldSchema = errors.New("an older version of haggle has written the database: " +
		"start the gateway to migrate it")
	// ErrVersion means that a newer haggle migrated the database, or that it belongs to another program.
	ErrVersion = sdkdb.ErrVersion
)

// StatusError means that the negotiation's status does not allow the operation.
type StatusError struct {
	Status engine.Status
	// Reason is the recorded reason for the status.
	Reason string
}

func (e *StatusError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("negotiation is %s", e.Status)
	}
	return fmt.Sprintf("negotiation is %s: %s", e.Status, e.Reason)
}

// LimitError means that a limit for new negotiations is reached.
type LimitError struct {
	// Limit is the reached limit.
	Limit LimitKind
	// Maximum is the limit's value.
	Maximum int
	// Publisher is a publisher id; zero for client limits.
	Publisher int64
	// RetryAfter is how long it takes until the limit allows a negotiation again, if nothing else changes. It
	// is positive.
	RetryAfter time.Duration
}

// LimitKind names a limit.
type LimitKind string

// The limits.
const (
	LimitClientHour LimitKind = "proposals per client and hour"
	LimitOpenClient LimitKind = "open negotiations per client and publisher"
	LimitOpen       LimitKind = "open negotiations per publisher"
	LimitAnonymous  LimitKind = "open negotiations of anonymous clients per publisher"
)

func (e *LimitError) Error() string {
	return fmt.Sprintf("limit reached: %d %s: try again in %s", e.Maximum, e.Limit,
		e.RetryAfter.Round(time.Second))
}
