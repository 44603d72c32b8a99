package service

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/strictjson"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Kind classifies errors.
type Kind string

// The kinds.
const (
	// NotFound: the object does not exist, or is of another publisher or client.
	NotFound Kind = "not_found"
	// Forbidden: the caller lacks the permission.
	Forbidden Kind = "forbidden"
	// Conflict: the state of the object does not allow the operation.
	Conflict Kind = "conflict"
	// Limit: too many negotiations; try again after [Error.RetryAfter].
	Limit Kind = "limit"
	// Invalid: the request is wrong in [Error.Field].
	Invalid Kind = "invalid"
	// Unknown: the change was made or not, because the connection to the database was lost.
	Unknown Kind = "outcome-unknown"
)

// Codes of conflicts and limits. Other errors use the kind as the code.
const (
	CodeInProgress    = "negotiation-in-progress"
	CodePending       = "answer-pending"
	CodeStatus        = "negotiation-status"
	CodeOfferChanged  = "offer-changed"
	CodeExists        = "exists"
	CodeConfusable    = "name-confusable"
	CodeClosed        = "publisher-closed"
	CodeNeedsApproval = "needs-approval"
	CodeUnnamed       = "unnamed-client"
	CodeKeyEnded      = "api-key-ended"
	CodeKeyShown      = "api-key-shown"
	CodeKeyReused     = "idempotency-key-reused"
	CodeFormerKey     = "public-key-former"
	CodeClientKind    = "client-kind"
	CodeActiveLimit   = "limit-active-strategies"
	CodeActive        = "strategy-active"
	CodeUsed          = "strategy-used"
	CodeLimitClient   = "limit-client-hour"
	CodeLimitOwn      = "limit-client-open"
	CodeLimitOpen     = "limit-publisher-open"
)

// InProgress is the Detail of errors with [CodeInProgress].
const InProgress = "Negotiation in progress"

// Error is an error that the caller causes or can handle. The text contains no secrets.
type Error struct {
	Kind Kind
	// Code names the problem, such as "offer-changed".
	Code string
	// Detail explains the error to people.
	Detail string
	// Field is the path of the invalid request field; empty if unknown.
	Field string
	// RetryAfter is how long to wait until the same request can succeed; zero if unknown.
	RetryAfter time.Duration

	cause error
}

// Error returns the detail.
func (e *Error) Error() string { return e.Detail }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

func invalid(field, format string, arguments ...any) *Error {
	detail := fmt.Sprintf(format, arguments...)
	return &Error{Kind: Invalid, Code: string(Invalid), Field: field, Detail: field + ": " + detail}
}

// toUTC converts a time to UTC, because Go reads time zones that it cannot write, and checks the year.
func toUTC(field string, at *time.Time) error {
	*at = at.UTC()
	if err := engine.CheckYear(*at); err != nil {
		return invalid(field, "%s", err)
	}
	return nil
}

func forbidden(code, format string, arguments ...any) *Error {
	return &Error{Kind: Forbidden, Code: code, Detail: fmt.Sprintf(format, arguments...)}
}

func conflict(code, format string, arguments ...any) *Error {
	return &Error{Kind: Conflict, Code: code, Detail: fmt.Sprintf(format, arguments...)}
}

func notFound(object string, id any) *Error {
	return &Error{Kind: NotFound, Code: string(NotFound), Detail: fmt.Sprintf("%s %v: not found", object, id)}
}

// nameTaken replaces a [store.NameError] by a conflict in the field that contains the name; other errors
// stay.
func nameTaken(field, name string, err error) error {
	var taken *store.NameError
	if !errors.As(err, &taken) {
		return err
	}
	found := conflict(CodeExists, "%s: another %s has the name %q; choose another one", field, taken.Owner, name)
	if taken.Confusable {
		found = conflict(CodeConfusable, "%s: %q is confusable with %q, the name of %s %d: their Unicode UTS 39 skeletons "+
			"are equal; choose another one", field, name, taken.Name, taken.Owner, taken.ID)
	}
	found.Field = field
	return found
}

// fieldOf matches the field path in errors from strategies, terms and JSON.
var fieldOf = regexp.MustCompile(`^invalid \w+: (?:invalid \w+: )?([a-z0-9_.\[\]]+): `)

// translate replaces an error by the result of [problem]. Every exported method defers it.
func translate(err *error) { *err = problem(*err) }

// problem returns an error's [*Error], or the error itself if the caller cannot handle it.
func problem(err error) error {
	var known *Error
	var status *store.StatusError
	var limit *store.LimitError
	var identified *identity.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.As(err, &identified):
		return &Error{Kind: Forbidden, Code: identified.Code, Detail: identified.Detail, cause: err}
	case errors.As(err, &status):
		return &Error{Kind: Conflict, Code: CodeStatus, Detail: err.Error(), cause: err}
	case errors.As(err, &limit):
		code := CodeLimitOpen
		switch limit.Limit {
		case store.LimitClientHour:
			code = CodeLimitClient
		case store.LimitOpenClient:
			code = CodeLimitOwn
		}
		return &Error{Kind: Limit, Code: code, Detail: err.Error(), RetryAfter: limit.RetryAfter, cause: err}
	}
	for _, e := range []struct {
		is         error
		kind       Kind
		code       string
		field      string
		retryAfter time.Duration
	}{
		{store.ErrInProgress, Conflict, CodeInProgress, "", time.Second},
		{store.ErrOutcomeUnknown, Unknown, string(Unknown), "", time.Second},
		{store.ErrNotFound, NotFound, string(NotFound), "", 0},
		{store.ErrExists, Conflict, CodeExists, "", 0},
		{store.ErrSuspended, Forbidden, identity.CodeSuspended, "", 0},
		{store.ErrFormerKey, Conflict, CodeFormerKey, "public_key", 0},
		{store.ErrKeyEnded, Conflict, CodeKeyEnded, "", 0},
		{store.ErrNoStrategy, Conflict, CodeClosed, "", 0},
		{store.ErrActiveLimit, Conflict, CodeActiveLimit, "", 0},
		{store.ErrStrategyActive, Conflict, CodeActive, "", 0},
		{store.ErrStrategyUsed, Conflict, CodeUsed, "", 0},
		{store.ErrOfferChanged, Conflict, CodeOfferChanged, "", 0},
		{store.ErrKeyReused, Invalid, CodeKeyReused, "idempotency_key", 0},
		{store.ErrPageSize, Invalid, string(Invalid), "limit", 0},
		{store.ErrCursor, Invalid, string(Invalid), "cursor", 0},
		{engine.ErrNoCounter, Conflict, CodeOfferChanged, "", 0},
		{engine.ErrFinal, Conflict, CodeStatus, "", 0},
		{engine.ErrAwaitingApproval, Conflict, CodeStatus, "", 0},
		{engine.ErrBundle, Invalid, string(Invalid), "required", 0},
		{engine.ErrStrategy, Invalid, string(Invalid), "", 0},
		{terms.ErrInvalid, Invalid, string(Invalid), "", 0},
		{strictjson.ErrInvalid, Invalid, string(Invalid), "", 0},
	} {
		if !errors.Is(err, e.is) {
			continue
		}
		found := &Error{
			Kind: e.kind, Code: e.code, Field: e.field, Detail: err.Error(), RetryAfter: e.retryAfter, cause: err,
		}
		switch e.is {
		case store.ErrInProgress:
			found.Detail = InProgress
		case store.ErrOutcomeUnknown:
			found.Detail = store.ErrOutcomeUnknown.Error() // the rest is about the database
		}
		if match := fieldOf.FindStringSubmatch(found.Detail); match != nil && found.Kind == Invalid {
			found.Field = match[1]
		}
		return found
	}
	return err
}
