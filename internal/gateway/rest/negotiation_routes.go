package rest

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

const negotiationHelp = `An AI company's agent asks publishers for licenses to their content. Rules of the
publisher answer each proposal at once, unless a language model takes part: then the action is pending, and the
answer follows. Read the negotiation after the seconds in Retry-After, or watch it. An agreement becomes a
license with the client's verified name.
Prices are whole millionths of the publisher's currency per fetch. An agreement above an amount that the
publisher sets, by default 1,000 units of the currency, has the action approve and waits for the publisher.`

// Negotiation returns the handler of the negotiation API.
func Negotiation(config Config) http.Handler {
	return newHandler(config, "Haggle negotiation API", negotiationHelp, func(a *api) {
		a.addNegotiations()
		a.addEvents()
		a.addStrategies()
		a.addRegistrations()
		a.addReports()
	})
}

// PageOf holds the parameters for lists of objects with UUIDs.
type PageOf struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Items of the page"`
	Cursor cursor `query:"cursor" doc:"next_cursor of the page before"`
}

func (p PageOf) page() store.Page { return store.Page{Size: p.Limit, After: string(p.Cursor)} }

// NumberedPage holds the parameters for lists of objects with numbers.
type NumberedPage struct {
	Limit  int            `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Items of the page"`
	Cursor numberedCursor `query:"cursor" doc:"next_cursor of the page before"`
}

func (p NumberedPage) page() store.Page { return store.Page{Size: p.Limit, After: string(p.Cursor)} }

// ByUUID selects an object by UUID.
type ByUUID struct {
	ID string `path:"id" format:"uuid" maxLength:"36"`
}

// ByNumber selects an object by number.
type ByNumber struct {
	ID int64 `path:"id" minimum:"1"`
}

// Keyed holds the header for repeatable calls.
type Keyed struct {
	Key string `header:"Idempotency-Key" maxLength:"255" pattern:"^[ -~]*$" doc:"A repeated request has no second effect"`
}

// StatusFilter is a filter of negotiations.
type StatusFilter struct {
	Status statusName `query:"status"`
	Bundle string     `query:"bundle_id" format:"uuid" maxLength:"36"`
}

// statusName is the schema for a status.
type statusName string

// Schema implements [huma.SchemaProvider].
func (statusName) Schema(huma.Registry) *huma.Schema { return oneOf(engine.Statuses()) }

type proposalBody struct {
	Publisher string      `json:"publisher_hostname" maxLength:"253"`
	Terms     terms.Terms `json:"proposed_terms"`
}

type bundleBody struct {
	Proposals []proposalBody `json:"proposals" minItems:"1" maxItems:"64" nullable:"false"`
	Required  []string       `json:"required" required:"false" maxItems:"64" nullable:"false"`
}

type counterBody struct {
	Terms terms.Terms `json:"proposed_terms"`
}

type acceptBody struct {
	Round int `json:"current_round" minimum:"1" doc:"The round that the caller has read"`
}

type offerBody struct {
	Negotiation string `json:"negotiation_id" format:"uuid" maxLength:"36"`
	Round       int    `json:"current_round" minimum:"1" doc:"The round that the caller has read"`
}

type offersBody struct {
	Offers []offerBody `json:"offers" minItems:"1" maxItems:"64" nullable:"false"`
}

type approvalBody struct {
	Approved bool `json:"approved"`
}

type leaveBody struct {
	Reason engine.LeaveReason `json:"reason"`
}

func (a *api) addNegotiations() {
	add(a, http.MethodPost, "/api/negotiations", "propose", "Propose terms to a publisher", http.StatusCreated,
		func(ctx context.Context, caller identity.Caller, in *struct {
			Keyed
			Body[proposalBody]
		}) (answer service.Answer, err error) {
			proposed, err := a.Service.Propose(ctx, caller, service.ProposeRequest{
				Proposals:      []service.Proposal{{Publisher: in.sent.Publisher, Terms: in.sent.Terms}},
				IdempotencyKey: in.Key,
			})
			if err != nil {
				return answer, err
			}
			return proposed.Answers[0], nil
		})
	add(a, http.MethodPost, "/api/bundles", "propose-bundle", "Propose terms to several publishers",
		http.StatusCreated, func(ctx context.Context, caller identity.Caller, in *struct {
			Keyed
			Body[bundleBody]
		}) (service.Proposed, error) {
			r := service.ProposeRequest{Required: in.sent.Required, IdempotencyKey: in.Key}
			for _, p := range in.sent.Proposals {
				r.Proposals = append(r.Proposals, service.Proposal(p))
			}
			return a.Service.Propose(ctx, caller, r)
		})
	add(a, http.MethodPost, "/api/negotiations/{id}/counter", "counter", "Send a further proposal",
		http.StatusOK, func(ctx context.Context, caller identity.Caller, in *struct {
			ByUUID
			Keyed
			Body[counterBody]
		}) (service.Answer, error) {
			return a.Service.Counter(ctx, caller,
				service.CounterRequest{Negotiation: in.ID, Terms: in.sent.Terms, IdempotencyKey: in.Key})
		})
	add(a, http.MethodPost, "/api/negotiations/{id}/accept", "accept", "Accept the publisher's offer",
		http.StatusOK, func(ctx context.Context, caller identity.Caller, in *struct {
			ByUUID
			Keyed
			Body[acceptBody]
		}) (answer service.Answer, err error) {
			accepted, err := a.Service.Accept(ctx, caller, service.AcceptRequest{
				Offers: []service.Offer{{Negotiation: in.ID, Round: in.sent.Round}}, IdempotencyKey: in.Key,
			})
			if err != nil {
				return answer, err
			}
			return accepted.Answers[0], nil
		})
	add(a, http.MethodPost, "/api/acceptances", "accept-all", "Accept several offers, all or none",
		http.StatusOK, func(ctx context.Context, caller identity.Caller, in *struct {
			Keyed
			Body[offersBody]
		}) (service.Accepted, error) {
			r := service.AcceptRequest{IdempotencyKey: in.Key}
			for _, offer := range in.sent.Offers {
				r.Offers = append(r.Offers, service.Offer(offer))
			}
			return a.Service.Accept(ctx, caller, r)
		})
	add(a, http.MethodPost, "/api/negotiations/{id}/leave", "leave",
		"End an open negotiation without an agreement, as its client or as its publisher", http.StatusOK,
		func(ctx context.Context, caller identity.Caller, in *struct {
			ByUUID
			Keyed
			Body[leaveBody]
		}) (service.Answer, error) {
			return a.Service.Leave(ctx, caller,
				service.LeaveRequest{Negotiation: in.ID, Reason: in.sent.Reason, IdempotencyKey: in.Key})
		})
	add(a, http.MethodGet, "/api/negotiations", "list-negotiations", "List the caller's negotiations",
		http.StatusOK, func(ctx context.Context, caller identity.Caller, in *struct {
			PageOf
			StatusFilter
		}) (store.List[service.Negotiation], error) {
			return a.Service.Negotiations(ctx, caller,
				store.Filter{Status: engine.Status(in.Status), Bundle: in.Bundle}, in.PageOf.page())
		})
	add(a, http.MethodGet, "/api/negotiations/publisher/{id}", "list-publisher-negotiations",
		"List the negotiations with a publisher", http.StatusOK,
		func(ctx context.Context, caller identity.Caller, in *struct {
			ByNumber
			PageOf
			StatusFilter
		}) (store.List[service.Negotiation], error) {
			return a.Service.Negotiations(ctx, caller,
				store.Filter{Publisher: in.ID, Status: engine.Status(in.Status), Bundle: in.Bundle},
				in.PageOf.page())
		})
	add(a, http.MethodGet, "/api/negotiations/{id}", "get-negotiation", "Read a negotiation and its rounds",
		http.StatusOK, func(ctx context.Context, caller identity.Caller, in *ByUUID) (service.Details, error) {
			return a.Service.Status(ctx, caller, in.ID)
		})
	add(a, http.MethodPost, "/api/negotiations/{id}/generate-license", "generate-license",
		"Write the license of an accepted negotiation; a repetition returns the same license", http.StatusOK,
		func(ctx context.Context, caller identity.Caller, in *ByUUID) (service.License, error) {
			license, _, err := a.Service.GenerateLicense(ctx, caller, in.ID)
			return license, err
		})
	add(a, http.MethodGet, "/api/approvals", "list-approvals", "List the agreements that wait for approval",
		http.StatusOK, func(ctx context.Context, caller identity.Caller, in *struct {
			PageOf
			Publisher int64 `query:"publisher_id" minimum:"1"`
		}) (store.List[service.Negotiation], error) {
			return a.Service.Approvals(ctx, caller, in.Publisher, in.PageOf.page())
		})
	add(a, http.MethodPost, "/api/negotiations/{id}/approve", "approve", "Approve or refuse an agreement",
		http.StatusOK, func(ctx context.Context, caller identity.Caller, in *struct {
			ByUUID
			Keyed
			Body[approvalBody]
		}) (service.Negotiation, error) {
			return a.Service.Approve(ctx, caller, service.ApprovalRequest{
				Negotiation: in.ID, Approved: in.sent.Approved, IdempotencyKey: in.Key,
			})
		})
}

func (a *api) addReports() {
	add(a, http.MethodGet, "/api/analytics/negotiations", "get-analytics",
		"Count negotiations by day and status", http.StatusOK,
		func(ctx context.Context, caller identity.Caller, in *struct {
			Publisher int64     `query:"publisher_id" minimum:"1"`
			From      time.Time `query:"from" doc:"The default is 30 days before until"`
			Until     time.Time `query:"until" doc:"The default is now"`
		}) (service.Analytics, error) {
			return a.Service.Analytics(ctx, caller, in.Publisher, in.From, in.Until)
		})
	type entries struct {
		Items []service.AuditEntry `json:"items"`
	}
	add(a, http.MethodGet, "/api/audit/{id}", "get-audit", "Export the audit log of a negotiation",
		http.StatusOK, func(ctx context.Context, caller identity.Caller, in *struct {
			ByUUID
			After int64 `query:"after" minimum:"0" doc:"The sequence of the last entry of the page before"`
			Limit int   `query:"limit" minimum:"1" maximum:"200" default:"200"`
		}) (entries, error) {
			found, err := a.Service.AuditLog(ctx, caller, in.ID, in.After, in.Limit)
			return entries{found}, err
		})
}
