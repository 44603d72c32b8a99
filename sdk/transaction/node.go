package transaction

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// NodeError is a node's error response to a request.
type NodeError struct {
	// Method is the JSON-RPC method.
	Method string
	// Code is the JSON-RPC error code, or the HTTP status if there was no JSON-RPC response.
	Code int
	// Message is the node's message.
	Message string
	// Data holds the node's additional data; nil if none.
	Data any
	// Status is the HTTP status; zero if unknown.
	Status int
	// RetryAfter is the pause that the node requires between requests; zero if none.
	RetryAfter time.Duration
	// Repeated reports whether the same request had been sent to any node with an unknown outcome.
	Repeated bool
	// Err is the JSON-RPC client's error.
	Err error
}

func (e *NodeError) Error() string {
	return fmt.Sprintf("node returned error %d: %s", e.Code, e.Message)
}

// Unwrap returns the JSON-RPC client's error.
func (e *NodeError) Unwrap() error { return e.Err }

// RequestError reports a request that one or several nodes failed to serve. The text can contain text from a
// node.
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

// JSON-RPC codes sent while a node still lacks the requested data.
const (
	CodeBlockNotAvailable        = -32004
	CodeNodeUnhealthy            = -32005
	CodeBlockStatusNotAvailable  = -32014
	CodeMinContextSlotNotReached = -32016
)

// HTTP statuses sent by busy nodes. Package protocol uses this package, and must not depend on net/http.
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
		// Agave's message for a slot that is not complete in the node's ledger.
		return strings.Contains(message, "slot unavailable")
	}
	return false
}

// ErrBehind: every node is behind a slot that any of them returned before, or a node has not reached a
// slot that the caller requires.
var ErrBehind = errors.New("the node is behind a slot already observed")

// ErrWentBack: a node is more than about a minute behind its own earlier responses. The node's state was
// rolled back, a local chain restarted, or several nodes share an address and some are far behind. It also
// matches [ErrBehind]. The client keeps sending requests, and uses the node's responses once the node reached
// the earlier slot again, because money may have moved in the slots between. For a restarted chain, make a
// new client.
var ErrWentBack = errors.New("the node returned to an earlier slot, or its chain was restarted; create a new client")

// ErrMalformed: a node's response cannot be decoded, or lacks a required part.
var ErrMalformed = errors.New("the node's answer cannot be used")

// ErrOtherCluster: a node is of another chain than the client's other nodes, or than the configured genesis
// hash. The client sends it no further requests.
var ErrOtherCluster = errors.New("the node is of another cluster")

// ErrSingleSource: only one node confirms a fact, and the caller did not accept a single node's word for it.
var ErrSingleSource = errors.New("only one node confirms it; configure nodes of several operators")

// ContradictionError reports nodes that contradict each other about the chain: at least one is wrong, or far
// behind.
type ContradictionError struct {
	// Subject is the disputed fact.
	Subject string
	// Claims lists the nodes' claims about it, in the configured node order.
	Claims []NodeClaim
}

// NodeClaim is a node's claim about the chain.
type NodeClaim struct {
	// Host names the node's host, without the rest of the URL.
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

// NodeHealth describes the health of a client's node.
type NodeHealth struct {
	// Host names the node's host, without the rest of the URL.
	Host string
	// Resting is the time until which the node is used only if no other is healthy, or not at all if it
	// requested a pause; zero if healthy.
	Resting time.Time
	// Failures counts the failures in a row until now.
	Failures int
	// Requests counts the requests to the node, and Errors the failed requests.
	Requests, Errors uint64
	// Latency is the time within which nineteen of twenty recent responses arrived; zero if there are none
	// yet. If several methods are used, the slowest counts.
	Latency time.Duration
	// Slot is the newest slot in the node's responses, and Lag counts the slots by which the last response
	// was behind the newest slot known to the client.
	Slot, Lag uint64
	// Err is the last response's error; nil if the response was good. It stays ErrOtherCluster if the node is
	// of another chain.
	Err error
	// Method is the JSON-RPC method of the request that returned Err.
	Method string
}
