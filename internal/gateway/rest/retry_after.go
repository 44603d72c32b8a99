package rest

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/haggle-protocol/haggle/internal/gateway/service"
)

const retryAfter = "Retry-After"

// retryAfterOf returns the statuses that can carry the header Retry-After for a method, each with the
// header's meaning. A read changes nothing, so that it never waits for another change.
func retryAfterOf(method string) map[int]string {
	meanings := map[int]string{
		http.StatusTooManyRequests: "Seconds to wait before the same request: until a place can be free, until the " +
			"client's oldest proposal of the hour is an hour old, or 10 for too many unexpired signatures",
		http.StatusServiceUnavailable: "Seconds to wait before the same request if the credentials cannot be checked " +
			"now (identity-unavailable)",
	}
	if method != http.MethodGet {
		meanings[http.StatusConflict] = "Seconds to wait before the same request if another one changes the negotiation (" +
			service.CodeInProgress + "); other conflicts lack the header, because time does not end them"
	}
	return meanings
}

// describeRetryAfter adds the header to the description.
func describeRetryAfter(description *huma.OpenAPI) {
	for _, operation := range operationsOf(description) {
		for status, meaning := range retryAfterOf(operation.Method) {
			operation.Responses[strconv.Itoa(status)].Headers = map[string]*huma.Header{retryAfter: {
				Description: meaning, Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: new(1.0)},
			}}
		}
	}
}
