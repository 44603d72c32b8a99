package mcp

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// answering describes when publishers answer.
const answering = `The publisher's answer is in the result, unless the action is "pending": then it follows, and ` +
	"get_negotiation_status waits for it."

// addTools adds the tools of the gateway.
func (s *server) addTools(m *mcp.Server) {
	add(m, s, &mcp.Tool{
		Name: "propose_license_terms", Title: "Propose license terms",
		Description: "Opens a negotiation with a publisher, or one with each publisher of a bundle. " + answering,
		Annotations: negotiating(),
	}, s.propose)
	add(m, s, &mcp.Tool{
		Name: "counter_offer", Title: "Make a counter offer",
		Description: "Sends a further proposal in an open negotiation. " + answering,
		Annotations: negotiating(),
	}, s.counter)
	add(m, s, &mcp.Tool{
		Name: "accept_terms", Title: "Accept the publisher's offer",
		Description: "Accepts the publisher's newest offer, or several offers: all of them or none. An offer " +
			"that has changed since the round that you read is not accepted.", Annotations: negotiating(),
	}, s.accept)
	add(m, s, &mcp.Tool{
		Name: "leave_negotiation", Title: "End a negotiation without an agreement",
		Description: "Ends an open negotiation of the caller. Each publisher has few places for open ones, so " +
			"leave those that you do not continue.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: new(true), OpenWorldHint: new(false)},
	}, s.leave)
	add(m, s, &mcp.Tool{
		Name: "get_negotiation_status", Title: "Read a negotiation",
		Description: "Reads a negotiation of the caller with its history. With wait_seconds it waits for a pending " +
			"answer. It generates the license of an accepted one.",
		Annotations: &mcp.ToolAnnotations{
			DestructiveHint: new(false), IdempotentHint: true, OpenWorldHint: new(false),
		},
	}, s.status)
	add(m, s, &mcp.Tool{
		Name: "list_publishers", Title: "List the publishers",
		Description: "Lists the publishers that accept proposals, newest first.", Annotations: reading(),
	}, s.publishers)
	add(m, s, &mcp.Tool{
		Name: "get_publisher_strategy", Title: "Read a publisher's public strategy",
		Description: "Returns the public facts of a publisher's strategy: its style, currency, permitted " +
			"purposes, published floor and prices for volumes.", Annotations: reading(),
	}, s.publisherStrategy)
}

func negotiating() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(false)}
}

func reading() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)}
}

// common contains the parts of every answer.
type common struct {
	Error *Problem `json:"error,omitempty" jsonschema:"the reason for which the call changed nothing"`
	Next  string   `json:"next" jsonschema:"what to do next"`
}

func (c *common) fail(p *Problem, next string) { c.Error, c.Next = p, next }

// answer is a pointer to an answer with the common parts.
type answer[T any] interface {
	*T
	fail(*Problem, string)
}

// add adds a tool that returns errors as part of the answer.
func add[In, Out any, P answer[Out]](
	m *mcp.Server, s *server, tool *mcp.Tool, call func(context.Context, identity.Caller, In) (Out, error),
) {
	tool.InputSchema, tool.OutputSchema = schemaOf[In](), schemaOf[Out]()
	mcp.AddTool(m, tool, func(
		ctx context.Context, _ *mcp.CallToolRequest, in In,
	) (*mcp.CallToolResult, P, error) {
		caller, err := s.Caller(ctx)
		var out Out
		if err == nil {
			out, err = call(ctx, caller, in)
		}
		if err == nil {
			return nil, &out, nil
		}
		out = *new(Out)
		problem, next := s.problemOf(ctx, tool.Name, err)
		P(&out).fail(problem, next)
		text := problem.Code + ": " + problem.Detail + "\nnext: " + next
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: text}}}, &out, nil
	})
}

// Reply is the publisher's answer in a negotiation.
type Reply struct {
	service.Answer
	// LicenseURI identifies the license resource; empty if none.
	LicenseURI string `json:"license_uri,omitempty" jsonschema:"resource of the license"`
	Next       string `json:"next" jsonschema:"what to do next in this negotiation"`
}

type proposeArguments struct {
	Publisher      string             `json:"publisher_hostname,omitempty" jsonschema:"publisher of a single proposal"`
	Terms          *terms.Terms       `json:"proposed_terms,omitempty"`
	Proposals      []service.Proposal `json:"proposals,omitempty" jsonschema:"instead of a single proposal: a bundle"`
	Required       []string           `json:"required,omitempty" jsonschema:"publishers of a bundle that must agree in the first round; default all"`
	IdempotencyKey string             `json:"idempotency_key,omitempty" jsonschema:"a repeated call with the key gets the first answer"`
}

// ProposeAnswer answers proposals.
type ProposeAnswer struct {
	Action   engine.Action `json:"action,omitempty" jsonschema:"of the negotiation, or of the bundle"`
	BundleID string        `json:"bundle_id,omitempty"`
	Answers  []Reply       `json:"answers,omitempty" jsonschema:"in the order of the proposals"`
	common
}

func (s *server) propose(
	ctx context.Context, caller identity.Caller, in proposeArguments,
) (ProposeAnswer, error) {
	request := service.ProposeRequest{
		Proposals: in.Proposals, Required: in.Required, IdempotencyKey: in.IdempotencyKey,
	}
	single := in.Publisher != "" || in.Terms != nil
	switch {
	case single && len(in.Proposals) > 0:
		return ProposeAnswer{}, wrong("proposals", "excludes publisher_hostname and proposed_terms; leave one out")
	case single && in.Publisher == "":
		return ProposeAnswer{}, wrong("publisher_hostname", "missing; list_publishers has the hostnames")
	case single && in.Terms == nil:
		return ProposeAnswer{}, wrong("proposed_terms", "missing")
	case single:
		request.Proposals = []service.Proposal{{Publisher: in.Publisher, Terms: *in.Terms}}
	case len(in.Proposals) == 0:
		return ProposeAnswer{}, wrong("publisher_hostname", "missing; set it and proposed_terms, or proposals")
	}
	proposed, err := s.Service.Propose(ctx, caller, request)
	if err != nil {
		return ProposeAnswer{}, err
	}
	out := ProposeAnswer{Action: proposed.Action, BundleID: proposed.BundleID,
		Answers: s.replies(ctx, caller, proposed.Answers)}
	out.Next = nextOf(out.Answers)
	return out, nil
}

// wrong returns an error about an argument.
func wrong(field, format string, values ...any) error {
	return &service.Error{Kind: service.Invalid, Code: string(service.Invalid), Field: field,
		Detail: field + ": " + fmt.Sprintf(format, values...)}
}

type counterArguments struct {
	Negotiation    string      `json:"negotiation_id"`
	Terms          terms.Terms `json:"proposed_terms"`
	IdempotencyKey string      `json:"idempotency_key,omitempty" jsonschema:"a repeated call with the key gets the first answer"`
}

// CounterAnswer answers a counter offer, or a request to end a negotiation.
type CounterAnswer struct {
	Reply *Reply `json:"answer,omitempty"`
	common
}

func (s *server) counter(
	ctx context.Context, caller identity.Caller, in counterArguments,
) (CounterAnswer, error) {
	given, err := s.Service.Counter(ctx, caller, service.CounterRequest{
		Negotiation: in.Negotiation, Terms: in.Terms, IdempotencyKey: in.IdempotencyKey,
	})
	return s.single(ctx, caller, given, err)
}

type leaveArguments struct {
	Negotiation    string             `json:"negotiation_id"`
	Reason         engine.LeaveReason `json:"reason" jsonschema:"price or other terms out of reach, cancelled, or other"`
	IdempotencyKey string             `json:"idempotency_key,omitempty" jsonschema:"a repeated call with the key gets the first answer"`
}

func (s *server) leave(
	ctx context.Context, caller identity.Caller, in leaveArguments,
) (CounterAnswer, error) {
	left, err := s.Service.Leave(ctx, caller, service.LeaveRequest{
		Negotiation: in.Negotiation, Reason: in.Reason, IdempotencyKey: in.IdempotencyKey,
	})
	return s.single(ctx, caller, left, err)
}

// single returns a tool's answer about a single negotiation.
func (s *server) single(
	ctx context.Context, caller identity.Caller, given service.Answer, err error,
) (CounterAnswer, error) {
	if err != nil {
		return CounterAnswer{}, err
	}
	replies := s.replies(ctx, caller, []service.Answer{given})
	return CounterAnswer{Reply: &replies[0], common: common{Next: replies[0].Next}}, nil
}

type acceptArguments struct {
	Negotiation    string          `json:"negotiation_id,omitempty"`
	Round          *int            `json:"current_round,omitempty" jsonschema:"round of the offer that you read"`
	Offers         []service.Offer `json:"offers,omitempty" jsonschema:"instead of one: several offers, all of them or none"`
	IdempotencyKey string          `json:"idempotency_key,omitempty" jsonschema:"a repeated call with the key gets the first answer"`
}

// AcceptAnswer answers an acceptance.
type AcceptAnswer struct {
	Answers []Reply `json:"answers,omitempty" jsonschema:"in the order of the offers"`
	common
}

func (s *server) accept(
	ctx context.Context, caller identity.Caller, in acceptArguments,
) (AcceptAnswer, error) {
	request := service.AcceptRequest{Offers: in.Offers, IdempotencyKey: in.IdempotencyKey}
	single := in.Negotiation != "" || in.Round != nil
	switch {
	case single && len(in.Offers) > 0:
		return AcceptAnswer{}, wrong("offers", "excludes negotiation_id and current_round; leave one out")
	case single && in.Negotiation == "":
		return AcceptAnswer{}, wrong("negotiation_id", "missing")
	case single && in.Round == nil:
		return AcceptAnswer{}, wrong("current_round", "missing; set the round of the offer that you read")
	case single:
		request.Offers = []service.Offer{{Negotiation: in.Negotiation, Round: *in.Round}}
	case len(in.Offers) == 0:
		return AcceptAnswer{}, wrong("negotiation_id", "missing; set it and current_round, or offers")
	}
	accepted, err := s.Service.Accept(ctx, caller, request)
	if err != nil {
		return AcceptAnswer{}, err
	}
	out := AcceptAnswer{Answers: s.replies(ctx, caller, accepted.Answers)}
	out.Next = nextOf(out.Answers)
	return out, nil
}

// nextOf returns the step after several answers.
func nextOf(replies []Reply) string {
	if len(replies) == 1 {
		return replies[0].Next
	}
	return "each answer has its next step"
}

// replies adds the licenses and the next steps to answers.
func (s *server) replies(ctx context.Context, caller identity.Caller, answers []service.Answer) []Reply {
	var replies []Reply
	for _, given := range answers {
		given.Negotiation.ClientName = "" // the caller knows the name
		reply := Reply{Answer: given}
		reply.LicenseURI, reply.Next = s.after(ctx, caller, &reply.Negotiation)
		replies = append(replies, reply)
	}
	return replies
}

// after generates an accepted negotiation's license and returns it, with the next step.
func (s *server) after(
	ctx context.Context, caller identity.Caller, n *service.Negotiation,
) (license, next string) {
	switch n.Status {
	case engine.Accepted:
		if caller.Kind != identity.Client {
			return "", "the terms are agreed, without a license: it needs the name of a registered client"
		}
		generated, _, err := s.Service.GenerateLicense(ctx, caller, n.ID)
		if err != nil {
			problem, _ := s.problemOf(ctx, "license", err)
			return "", "the terms are agreed; the license was not generated (" + problem.Code +
				"): call get_negotiation_status to generate it"
		}
		n.LicenseID = generated.ID
		return licenseURI(generated.ID), "the terms are agreed: read the resource license_uri"
	case engine.AwaitingApproval:
		return "", "the publisher must approve until deadline_at: call get_negotiation_status every minute"
	case engine.Rejected, engine.TimedOut:
		return "", "the negotiation is over: propose other terms, or to another publisher"
	}
	if n.AnswerPending {
		return "", afterPending
	}
	return "", "counter_offer with other terms, or accept_terms with current_round, before deadline_at"
}
