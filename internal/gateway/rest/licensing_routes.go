package rest

import (
	"context"
	"net/http"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

const licensingHelp = `Licences to the content of publishers. A client reads those that it holds, a publisher
those that it has granted.`

type revocationBody struct {
	Reason printable `json:"reason"`
}

// Licensing returns the handler of the licensing API.
func Licensing(config Config) http.Handler {
	return newHandler(config, "Haggle licensing API", licensingHelp, func(a *api) {
		add(a, http.MethodGet, "/api/licenses", "list-licenses", "List the caller's licences", http.StatusOK,
			func(ctx context.Context, caller identity.Caller, in *NumberedPage) (
				store.List[service.Licence], error,
			) {
				return a.Service.Licences(ctx, caller, in.page())
			})
		add(a, http.MethodGet, "/api/licenses/{id}", "get-license", "Read a licence", http.StatusOK,
			func(ctx context.Context, caller identity.Caller, in *ByNumber) (service.Licence, error) {
				return a.Service.Licence(ctx, caller, in.ID)
			})
		add(a, http.MethodPost, "/api/licenses/{id}/revoke", "revoke-license", "Revoke a licence",
			http.StatusOK, func(ctx context.Context, caller identity.Caller, in *struct {
				ByNumber
				Body[revocationBody]
			}) (service.Licence, error) {
				return a.Service.RevokeLicence(ctx, caller, in.ID, string(in.sent.Reason))
			})
	})
}
