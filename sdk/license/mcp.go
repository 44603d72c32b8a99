package license

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// MCP is the gateway's interface of the Model Context Protocol, for [Config.Gateway].
type MCP struct{ session *mcp.ClientSession }

var _ Gateway = (*MCP)(nil)

// ConnectMCP connects to a gateway by streamable HTTP. The endpoint is a URL such as
// "https://gateway.example/mcp". The HTTP client's transport adds credentials, as in [Config.HTTP]; if the
// client is nil, the caller is anonymous.
func ConnectMCP(ctx context.Context, endpoint string, client *http.Client) (*MCP, error) {
	if _, err := origin("endpoint", endpoint); err != nil {
		return nil, err
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "haggle", Version: "1.0.0"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: endpoint, HTTPClient: client, DisableStandaloneSSE: true}, nil)
	if err != nil {
		return nil, fmt.Errorf("license: connect to the MCP endpoint: %w", err)
	}
	return &MCP{session}, nil
}

// Close ends the session.
func (m *MCP) Close() error { return m.session.Close() }

// problemAnswer is the error part of tool results.
type problemAnswer struct {
	Error *struct {
		Code              string `json:"code"`
		Detail            string `json:"detail"`
		Field             string `json:"field"`
		RetryAfterSeconds int64  `json:"retry_after_seconds"`
	} `json:"error"`
}

// call calls a tool.
func (m *MCP) call(ctx context.Context, tool string, arguments map[string]any, into any) error {
	result, err := m.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return fmt.Errorf("license: tool %s: %w", tool, err)
	}
	text, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return &permanent{err}
	}
	var failed problemAnswer
	if err := json.Unmarshal(text, &failed); err != nil {
		return &permanent{fmt.Errorf("answer of the tool %s: %w", tool, err)}
	}
	if e := failed.Error; e != nil {
		return &Problem{Code: e.Code, Detail: e.Detail, Field: e.Field,
			RetryAfter: time.Duration(e.RetryAfterSeconds) * time.Second}
	}
	if result.IsError {
		return &permanent{fmt.Errorf("tool %s: failed without a reason", tool)}
	}
	if err := json.Unmarshal(text, into); err != nil {
		return &permanent{fmt.Errorf("answer of the tool %s: %w", tool, err)}
	}
	return nil
}

// callForOne calls a tool and returns the only result. Any other number of results is a permanent error.
func (m *MCP) callForOne(ctx context.Context, tool string, arguments map[string]any) (Answer, error) {
	var got struct {
		Answers []Answer `json:"answers"`
	}
	switch err := m.call(ctx, tool, arguments, &got); {
	case err != nil:
		return Answer{}, err
	case len(got.Answers) != 1:
		return Answer{}, &permanent{fmt.Errorf("%d answers of the gateway instead of one", len(got.Answers))}
	}
	return got.Answers[0], nil
}

// Propose implements [Gateway].
func (m *MCP) Propose(ctx context.Context, p Proposal) (Answer, error) {
	return m.callForOne(ctx, "propose_license_terms", map[string]any{
		"publisher_hostname": p.Publisher, "proposed_terms": p.Terms, "idempotency_key": p.IdempotencyKey,
	})
}

// Counter implements [Gateway].
func (m *MCP) Counter(ctx context.Context, o CounterOffer) (Answer, error) {
	return m.answer(ctx, "counter_offer", map[string]any{
		"negotiation_id": o.Negotiation, "proposed_terms": o.Terms, "idempotency_key": o.IdempotencyKey,
	})
}

// Leave implements [Gateway].
func (m *MCP) Leave(ctx context.Context, d Departure) (Answer, error) {
	return m.answer(ctx, "leave_negotiation", map[string]any{
		"negotiation_id": d.Negotiation, "reason": d.Reason, "idempotency_key": d.IdempotencyKey,
	})
}

// answer calls a tool about one negotiation.
func (m *MCP) answer(ctx context.Context, tool string, arguments map[string]any) (Answer, error) {
	var got struct {
		Answer *Answer `json:"answer"`
	}
	err := m.call(ctx, tool, arguments, &got)
	if err == nil && got.Answer == nil {
		err = &permanent{fmt.Errorf("answer of the tool %s: empty", tool)}
	}
	if err != nil {
		return Answer{}, err
	}
	return *got.Answer, nil
}

// Accept implements [Gateway].
func (m *MCP) Accept(ctx context.Context, a Acceptance) (Answer, error) {
	return m.callForOne(ctx, "accept_terms", map[string]any{
		"negotiation_id": a.Negotiation, "current_round": a.Round, "idempotency_key": a.IdempotencyKey,
	})
}

// statusAnswer is the get_negotiation_status result.
type statusAnswer struct {
	Negotiation Negotiation `json:"negotiation"`
	Rounds      []Round     `json:"rounds"`
	LicenseURI  string      `json:"license_uri"`
	Next        string      `json:"next"`
}

func (m *MCP) status(ctx context.Context, negotiation string) (got statusAnswer, err error) {
	return got, m.call(ctx, "get_negotiation_status", map[string]any{"negotiation_id": negotiation}, &got)
}

// Status implements [Gateway].
func (m *MCP) Status(ctx context.Context, negotiation string) (Details, error) {
	got, err := m.status(ctx, negotiation)
	return Details{got.Negotiation, got.Rounds}, err
}

// Publishers implements [Gateway].
func (m *MCP) Publishers(ctx context.Context, cursor string) (Page[Publisher], error) {
	var got struct {
		Publishers []Publisher `json:"publishers"`
		NextCursor string      `json:"next_cursor"`
	}
	arguments := map[string]any{}
	if cursor != "" {
		arguments["cursor"] = cursor
	}
	err := m.call(ctx, "list_publishers", arguments, &got)
	return Page[Publisher]{got.Publishers, got.NextCursor}, err
}

// Strategy implements [Gateway].
func (m *MCP) Strategy(ctx context.Context, hostname string) (PublicStrategy, error) {
	var got struct {
		Strategy PublicStrategy `json:"strategy"`
	}
	err := m.call(ctx, "get_publisher_strategy", map[string]any{"publisher_hostname": hostname}, &got)
	return got.Strategy, err
}

// License implements [Gateway].
func (m *MCP) License(ctx context.Context, negotiation string) (License, error) {
	got, err := m.status(ctx, negotiation)
	switch {
	case err != nil:
		return License{}, err
	case got.Negotiation.Status != Accepted:
		return License{}, &Problem{Code: "negotiation-status",
			Detail: fmt.Sprintf("negotiation %s: has no license in the status %s", negotiation,
				got.Negotiation.Status)}
	case got.LicenseURI == "":
		return License{}, &Problem{Code: "unnamed-client", Detail: got.Next}
	}
	return m.read(ctx, got.LicenseURI)
}

func (m *MCP) read(ctx context.Context, uri string) (l License, err error) {
	found, err := m.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return l, fmt.Errorf("license: resource %s: %w", uri, err)
	}
	if len(found.Contents) != 1 {
		return l, &permanent{fmt.Errorf("resource %s: %d contents instead of one", uri, len(found.Contents))}
	}
	if err := json.Unmarshal([]byte(found.Contents[0].Text), &l); err != nil {
		return l, &permanent{fmt.Errorf("resource %s: %w", uri, err)}
	}
	return l, nil
}

// Licenses implements [Gateway].
func (m *MCP) Licenses(ctx context.Context, cursor string) (p Page[License], err error) {
	found, err := m.session.ListResources(ctx, &mcp.ListResourcesParams{Cursor: cursor})
	if err != nil {
		return p, fmt.Errorf("license: list of resources: %w", err)
	}
	for _, resource := range found.Resources {
		l, err := m.read(ctx, resource.URI)
		if err != nil {
			return p, err
		}
		p.Items = append(p.Items, l)
	}
	p.NextCursor = found.NextCursor
	return p, nil
}
