package rest

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/haggle-protocol/haggle/internal/gateway/service"
)

// statuses maps the error kinds of package service to HTTP statuses.
var statuses = map[service.Kind]int{
	service.NotFound: http.StatusNotFound, service.Forbidden: http.StatusForbidden,
	service.Conflict: http.StatusConflict, service.Limit: http.StatusTooManyRequests,
	service.Invalid: http.StatusUnprocessableEntity, service.Unknown: http.StatusServiceUnavailable,
}

func model(status int, code, detail string) *huma.ErrorModel {
	return &huma.ErrorModel{
		Type: "urn:haggle:problem:" + code, Title: http.StatusText(status), Status: status, Detail: detail,
	}
}

// failed returns an error's problem. It logs errors with details that clients do not get.
func (a *api) failed(ctx context.Context, operation string, err error) error {
	var known *service.Error
	if !errors.As(err, &known) {
		if ctx.Err() != nil {
			return model(http.StatusServiceUnavailable, "canceled", "request: canceled")
		}
		a.Log.ErrorContext(ctx, "request failed", "operation", operation, "error", err)
		return model(http.StatusInternalServerError, "internal", "gateway: internal error; try again later")
	}
	problem := model(statuses[known.Kind], known.Code, known.Detail)
	if known.Field != "" {
		problem.Errors = []*huma.ErrorDetail{{Location: known.Field, Message: known.Detail}}
	}
	if known.RetryAfter <= 0 {
		return problem
	}
	return huma.ErrorWithHeaders(problem, http.Header{retryAfter: {wholeSeconds(known.RetryAfter)}})
}
