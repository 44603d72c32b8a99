package rest

import (
	"context"
	"net/http"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

const licensingHelp = `Licenses to the content of publishers. A client reads those that it holds, a publisher
those that it has granted.`

type revocationBody struct {
	Reason printable `json:"reason"`
}

// Licensing returns the handler of the licensing API.
func Licensing(config Config) http.Handler {
	return newHandler(config, "Haggle licensing API", licensingHelp, func(a *api) {
		add(a, http.MethodGet, "/api/licenses", "list-licenses", "List the caller's licenses", http.StatusOK,
			func(ctx context.Context, caller identity.Caller, in *NumberedPage) (
				store.List[service.License], error,
			) {
				return a.Service.Licenses(ctx, caller, in.page())
			})
		add(a, http.MethodGet, "/api/licenses/{id}", "get-license", "Read a license", http.StatusOK,
			func(ctx context.Context, caller identity.Caller, in *ByNumber) (service.License, error) {
				return a.Service.License(ctx, caller, in.ID)
			})
		add(a, http.MethodPost, "/api/licenses/{id}/revoke", "revoke-license", "Revoke a license",
			http.StatusOK, func(ctx context.Context, caller identity.Caller, in *struct {
				ByNumber
				Body[revocationBody]
			}) (service.License, error) {
				return a.Service.RevokeLicense(ctx, caller, in.ID, string(in.sent.Reason))
			})
	})
}
