package rest

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
)

// link connects an operation to another that takes an identifier from the response.
type link struct {
	from     string
	status   int
	to       []string
	id       string // the path of the identifier in the document
	sameRoot bool   // the identifier is taken from the request's path
}

// offered holds the documents for operations that accept an offer: they name the response's offer.
var offered = map[string]any{
	"accept": map[string]any{"current_round": offeredRound},
	"accept-all": map[string]any{"offers": []any{
		map[string]any{"negotiation_id": "$response.body#/negotiation/id", "current_round": offeredRound},
	}},
}

const offeredRound = "$response.body#/negotiation/current_round"

// links lists both APIs' links, from operations that create or list objects to operations that use them. None
// leads to watch-negotiation: clients that follow links wait for complete responses, and a stream has no end.
var links = []link{
	{from: "propose", status: http.StatusCreated, id: "/negotiation/id", to: []string{
		"get-negotiation", "counter", "accept", "accept-all", "leave", "generate-license", "approve", "get-audit",
	}},
	{from: "list-negotiations", status: http.StatusOK, id: "/items/0/id", to: []string{
		"get-negotiation", "get-audit",
	}},
	{from: "list-approvals", status: http.StatusOK, id: "/items/0/id", to: []string{"approve"}},
	{from: "counter", status: http.StatusOK, sameRoot: true, to: []string{"accept", "leave", "get-negotiation"}},
	{from: "accept", status: http.StatusOK, sameRoot: true, to: []string{
		"generate-license", "get-negotiation",
	}},
	{from: "create-strategy", status: http.StatusCreated, id: "/id", to: []string{
		"get-strategy", "update-strategy", "delete-strategy",
	}},
	{from: "update-strategy", status: http.StatusOK, id: "/id", to: []string{"get-strategy"}},
	{from: "create-publisher", status: http.StatusCreated, id: "/id", to: []string{
		"get-publisher", "update-publisher", "get-public-strategy", "get-schedule", "list-publisher-negotiations",
	}},
	{from: "list-publishers", status: http.StatusOK, id: "/items/0/id", to: []string{
		"get-publisher", "get-public-strategy",
	}},
	{from: "register-client", status: http.StatusCreated, id: "/id", to: []string{
		"get-client", "update-client", "revoke-public-key",
	}},
	{from: "create-key", status: http.StatusCreated, id: "/id", to: []string{"rotate-key", "revoke-key"}},
	{from: "rotate-key", status: http.StatusOK, id: "/id", to: []string{"revoke-key"}},
	{from: "list-licenses", status: http.StatusOK, id: "/items/0/policy_id", to: []string{
		"get-license", "revoke-license",
	}},
}

// operationsOf returns a description's operations by id.
func operationsOf(description *huma.OpenAPI) map[string]*huma.Operation {
	operations := map[string]*huma.Operation{}
	for _, path := range description.Paths {
		for _, operation := range []*huma.Operation{path.Get, path.Post, path.Patch, path.Delete} {
			if operation != nil {
				operations[operation.OperationID] = operation
			}
		}
	}
	return operations
}

// describeLinks adds the links to the description.
func describeLinks(description *huma.OpenAPI) {
	operations := operationsOf(description)
	for _, l := range links {
		operation := operations[l.from]
		if operation == nil {
			continue // an operation of the other interface
		}
		response := operation.Responses[strconv.Itoa(l.status)]
		if response.Links == nil {
			response.Links = map[string]*huma.Link{}
		}
		value := "$response.body#" + l.id
		if l.sameRoot {
			value = "$request.path.id"
		}
		for _, to := range l.to {
			described := &huma.Link{
				OperationID: to, Parameters: map[string]any{"id": value}, RequestBody: offered[to],
			}
			if to == "accept-all" {
				described.Parameters = nil // the link's document contains the identifiers
			}
			response.Links[to] = described
		}
	}
}

// anonymous lists the operations open to callers with no credentials.
var anonymous = map[string]bool{
	"propose": true, "propose-bundle": true, "counter": true, "accept": true, "accept-all": true,
	"leave": true, "get-negotiation": true, "watch-negotiation": true, "list-publishers": true, "get-publisher": true,
	"get-public-strategy": true,
}

// securityOf returns the credentials for an operation.
func securityOf(id string) []map[string][]string {
	security := []map[string][]string{{"key": {}}}
	if anonymous[id] {
		security = append(security, map[string][]string{})
	}
	return security
}

// requireCredentials responds with 401 to callers lacking credentials, before anything else of the request is
// checked.
func requireCredentials(ctx huma.Context, next func(huma.Context)) {
	if caller, known := identity.FromContext(ctx.Context()); known && caller.Kind != identity.Anonymous {
		next(ctx)
		return
	}
	_, w := humago.Unwrap(ctx)
	identity.WriteProblem(w, &identity.Error{
		Status: http.StatusUnauthorized, Code: "credentials-missing",
		Detail: "credentials: missing; send an API key or a signature",
	})
}

// checkQuery rejects query parameters that are empty although their type allows no empty value: huma ignores
// them. It also rejects repeated parameters: huma reads the first, and a proxy possibly the last.
func (a *api) checkQuery(ctx huma.Context, next func(huma.Context)) {
	address := ctx.URL()
	query := address.Query()
	for _, p := range ctx.Operation().Parameters {
		if p.In != "query" || !query.Has(p.Name) {
			continue
		}
		detail := ""
		switch values := query[p.Name]; {
		case len(values) > 1:
			detail = fmt.Sprintf("%s: set %d times; set it once", p.Name, len(values))
		case values[0] != "":
		case p.Schema.Type != huma.TypeString || p.Schema.Format != "" || len(p.Schema.Enum) > 0:
			detail = p.Name + ": empty; leave it out, or set a value"
		}
		if detail != "" {
			problem := &huma.ErrorDetail{Location: "query." + p.Name, Message: detail}
			// It fails if the client disconnected.
			_ = huma.WriteErr(a.API, ctx, http.StatusUnprocessableEntity, detail, problem)
			return
		}
	}
	next(ctx)
}
