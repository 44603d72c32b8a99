// Package mcp serves the gateway to agents by the Model Context Protocol: over HTTP for callers with
// credentials of [identity], and over stdio for the process that starts the gateway's server.
//
//	server, err := mcp.New(mcp.Config{Service: s, Caller: mcp.CallerOfRequest})
//	mux.Handle("/mcp", mcp.Handler(server, authenticator, mcp.HTTPConfig{}))
//
// Clients negotiate licenses with tools, and read their licenses as resources. A client's name comes from the
// registration: a request with client_name is refused. No argument reaches another party as text, and no
// result contains another party's text: publisher names are left out, and reasons come from the gateway.
//
// The server keeps no sessions, so each request is authenticated separately, and any gateway process can
// answer it.
package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
)

// Config configures a server.
type Config struct {
	// Service implements the use cases.
	Service *service.Service
	// Caller returns the request's caller: see [CallerOfRequest] and [CallerOfEnvironment].
	Caller func(context.Context) (identity.Caller, error)
	// Version is used in the server's description. If empty, "0" is used.
	Version string
	// Log receives the errors not caused by the caller. If nil, [slog.Default] is used.
	Log *slog.Logger
}

// CallerOfRequest returns the caller authenticated by [Handler].
func CallerOfRequest(ctx context.Context) (identity.Caller, error) {
	caller, known := identity.FromContext(ctx)
	if !known {
		return caller, errors.New("gateway mcp: the request is not authenticated")
	}
	return caller, nil
}

// CallerOfEnvironment returns the function for a server over stdio: the caller owns the API key in
// [identity.EnvironmentKey], or is anonymous if it is not set. lookup is usually [os.LookupEnv].
func CallerOfEnvironment(
	a *identity.Authenticator, lookup func(string) (string, bool),
) func(context.Context) (identity.Caller, error) {
	return func(ctx context.Context) (identity.Caller, error) { return a.FromEnvironment(ctx, lookup) }
}

const instructions = `Negotiate licenses for the content of publishers. Call list_publishers,
get_publisher_strategy, then propose_license_terms. Most publishers answer at once. If the action is "pending",
the answer follows: call get_negotiation_status with wait_seconds. If it is "counter", call counter_offer, or
accept_terms with the round that you read. Prices are whole micro units of the publisher's currency per fetch:
1800 is 0.0018. An agreement above an amount that the publisher sets, by default 1,000 units of the currency,
has the action "approve" and waits for the publisher. Follow "next" in each answer. The license of an accepted
negotiation is the resource license_uri; it states the name of your registration, which no argument changes.`

type server struct{ Config }

// New returns a server with the gateway's tools and resources. It returns an error for an invalid Config.
func New(c Config) (*mcp.Server, error) {
	if c.Service == nil || c.Caller == nil {
		return nil, errors.New("gateway mcp: service or caller not set; set Config.Service and Config.Caller")
	}
	c.Log, c.Version = cmp.Or(c.Log, slog.Default()), cmp.Or(c.Version, "0")
	s := &server{c}
	m := mcp.NewServer(&mcp.Implementation{Name: "haggle-gateway", Title: "Haggle gateway", Version: c.Version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{},
			// The SDK answers requests for prompts. There are none.
			Prompts: &mcp.PromptCapabilities{},
		}})
	s.addTools(m)
	s.addLicenses(m)
	m.AddReceivingMiddleware(refuseName)
	return m, nil
}

// refuseName rejects calls that name the client: the name comes from the registration.
func refuseName(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		call, is := request.(*mcp.CallToolRequest)
		if !is || call.Params == nil {
			return next(ctx, method, request)
		}
		var given map[string]json.RawMessage
		if json.Unmarshal(call.Params.Arguments, &given) == nil {
			for _, name := range []string{"client_name", "client_id"} {
				if _, is := given[name]; is {
					refused := &mcp.CallToolResult{}
					refused.SetError(fmt.Errorf("%s: not an argument: the client is the caller, with the name of "+
						"its registration; leave it out", name))
					return refused, nil
				}
			}
		}
		return next(ctx, method, request)
	}
}

// Problem describes a call's error.
type Problem struct {
	Code   string `json:"code" jsonschema:"name of the problem, such as offer-changed or negotiation-in-progress"`
	Detail string `json:"detail"`
	Field  string `json:"field,omitempty" jsonschema:"path of the argument that is wrong"`
	// RetryAfterSeconds is 0 if the time is unknown.
	RetryAfterSeconds int64 `json:"retry_after_seconds,omitempty" jsonschema:"time after which the same call can succeed"`
}

// problemOf describes an error, and returns the next step. It logs errors not caused by the caller.
func (s *server) problemOf(ctx context.Context, tool string, err error) (*Problem, string) {
	var known *service.Error
	var identified *identity.Error
	switch {
	case errors.As(err, &known):
		p := &Problem{Code: known.Code, Detail: known.Detail, Field: known.Field,
			RetryAfterSeconds: int64((known.RetryAfter + time.Second - 1) / time.Second)}
		return p, afterProblem(known)
	case errors.As(err, &identified) && identified.Code == identity.CodeSuspended:
		return &Problem{Code: identified.Code, Detail: identified.Detail}, afterSuspension
	case errors.As(err, &identified):
		return &Problem{Code: identified.Code, Detail: identified.Detail}, "correct the credentials of this client"
	case ctx.Err() != nil:
		return &Problem{Code: "cancelled", Detail: "the call was cancelled"},
			"call get_negotiation_status before you repeat it, or repeat it with the same idempotency_key"
	}
	s.Log.ErrorContext(ctx, "MCP call failed", "tool", tool, "error", err)
	return &Problem{Code: "internal", Detail: "the gateway cannot answer now"},
		"wait, then repeat the call with the same idempotency_key"
}

const afterSuspension = "stop: only the gateway's operator can restore this client"

const afterPending = "the publisher answers later: call get_negotiation_status with wait_seconds 20, until " +
	"answer_pending is missing"

func afterProblem(e *service.Error) string {
	switch e.Code {
	case service.CodeInProgress:
		return "another call changes this negotiation: repeat the call after retry_after_seconds"
	case service.CodeOfferChanged:
		return "call get_negotiation_status, and decide on the offer that it returns"
	case service.CodePending:
		return afterPending
	case service.CodeStatus:
		return "call get_negotiation_status: the negotiation is over, or awaits the publisher's approval"
	case service.CodeLimitClient:
		return "wait for retry_after_seconds"
	case service.CodeLimitOwn:
		return "continue your open negotiation with this publisher, or call leave_negotiation for it"
	case service.CodeLimitOpen:
		return "other clients have all places: wait for retry_after_seconds"
	case service.CodeClosed:
		return "propose to another publisher, or try again later"
	case identity.CodeSuspended:
		return afterSuspension
	case service.CodeKeyReused:
		return "repeat exactly the first call, or use a new idempotency_key"
	}
	switch e.Kind {
	case service.NotFound:
		return "check the id or the hostname: list_publishers has the publishers"
	case service.Forbidden:
		return "this caller is not permitted: use the credentials of a registered client"
	}
	return "correct the arguments"
}
