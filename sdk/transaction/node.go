package transaction

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// NodeError is the error with which a node answers a request.
type NodeError struct {
	// Method is the JSON-RPC method.
	Method string
	// Code is the JSON-RPC error code, or the HTTP status if there was no JSON-RPC answer.
	Code int
	// Message is the node's message.
	Message string
	// Data is the node's additional data; nil if there is none.
	Data any
	// Status is the HTTP status; zero if it is not known.
	Status int
	// RetryAfter is the time without requests that the node requires; zero if it requires none.
	RetryAfter time.Duration
	// Repeated reports whether the same request was sent to this node or another with an unknown outcome.
	Repeated bool
	// Err is the JSON-RPC client's error.
	Err error
}

func (e *NodeError) Error() string {
	return fmt.Sprintf("node returned error %d: %s", e.Code, e.Message)
}

// Unwrap returns the JSON-RPC client's error.
func (e *NodeError) Unwrap() error { return e.Err }

// RequestError is the failure of a request to one or several nodes. Its text can contain text of a node.
type RequestError struct {
	// Method is the JSON-RPC method.
	Method string
	// Err is the cause.
	Err error
}

func (e *RequestError) Error() string { return fmt.Sprintf("haggle: %s: %v", e.Method, e.Err) }

// Unwrap returns the cause.
func (e *RequestError) Unwrap() error { return e.Err }

// JSON-RPC codes that no repetition changes.
const (
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
)

// JSON-RPC codes of a node that does not have the requested data yet.
const (
	CodeBlockNotAvailable        = -32004
	CodeNodeUnhealthy            = -32005
	CodeBlockStatusNotAvailable  = -32014
	CodeMinContextSlotNotReached = -32016
)

// HTTP statuses of a node that is busy. Package protocol uses this package, and must not depend on net/http.
const (
	statusTooManyRequests    = 429
	statusBadGateway         = 502
	statusServiceUnavailable = 503
	statusGatewayTimeout     = 504
)

// IsBusy reports whether the error is temporary: because of the node's rate limit, or because it is behind.
func (e *NodeError) IsBusy() bool { return isBusy(e.Code, e.Message) || isBusy(e.Status, "") }

func isBusy(code int, message string) bool {
	switch code {
	case statusTooManyRequests, statusBadGateway, statusServiceUnavailable, statusGatewayTimeout,
		CodeBlockNotAvailable, CodeNodeUnhealthy, CodeBlockStatusNotAvailable, CodeMinContextSlotNotReached:
		return true
	case CodeInvalidParams:
		// Agave's message for a slot that is not complete in its own ledger.
		return strings.Contains(message, "slot unavailable")
	}
	return false
}

// ErrBehind: every node is behind a slot that one of them has returned before.
var ErrBehind = errors.New("the node is behind a slot already observed")

// ErrWentBack: a node is more than about a minute behind its own earlier answers. Its state was rolled back,
// a local chain was restarted, or several nodes share one address and one of them is far behind. It is also
// an [ErrBehind]. The client keeps sending requests, and uses the node's answers once the node has reached
// the earlier slot again, because money may have been sent in the slots between. For a chain that was
// restarted, make a new client.
var ErrWentBack = errors.New("the node returned to an earlier slot, or its chain was restarted; create a new client")

// ErrMalformed: a node's answer cannot be decoded, or lacks a required part.
var ErrMalformed = errors.New("the node's answer cannot be used")

// ErrOtherCluster: a node is of another chain than the client's other nodes, or than the configured genesis
// hash. The client sends it no further requests.
var ErrOtherCluster = errors.New("the node is of another cluster")

// ErrSingleSource: only one node confirms a fact, and the caller has not accepted one node's word for it.
var ErrSingleSource = errors.New("only one node confirms it; configure nodes of several operators")

// ContradictionError is the error of nodes that contradict each other about the chain: at least one of them is
// wrong, or far behind.
type ContradictionError struct {
	// Subject is the disputed fact.
	Subject string
	// Claims are the nodes' claims about it, in the configured order of the nodes.
	Claims []NodeClaim
}

// NodeClaim is a node's claim about the chain.
type NodeClaim struct {
	// Host is the node's host, without the rest of its URL.
	Host string
	// Text describes the claim in the client's own words.
	Text string
}

func (e *ContradictionError) Error() string {
	var claims []string
	for _, claim := range e.Claims {
		claims = append(claims, claim.Host+": "+claim.Text)
	}
	return fmt.Sprintf("nodes contradict each other about %s: %s", e.Subject, strings.Join(claims, "; "))
}

// NodeHealth is the health of one of a client's nodes.
type NodeHealth struct {
	// Host is the node's host, without the rest of its URL.
	Host string
	// Resting is the end of the time in which the node is used only if no other is healthy, or not at all if
	// it has requested a pause; zero if it is healthy.
	Resting time.Time
	// Failures is the number of failures in a row until now.
	Failures int
	// Requests is the number of requests to the node, and Errors the number of those that failed.
	Requests, Errors uint64
	// Latency is the time within which nineteen of twenty of its recent answers arrived; zero if there are
	// none yet. Of several methods it is that of the slowest one.
	Latency time.Duration
	// Slot is the newest slot in its answers, and Lag the number of slots by which its last answer was behind
	// the newest slot known to the client.
	Slot, Lag uint64
	// Err is the error of its last answer; nil if the answer was good. It stays ErrOtherCluster if the node
	// is of another chain.
	Err error
	// Method is the JSON-RPC method of the request with Err.
	Method string
}
