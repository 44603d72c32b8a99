package rest

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/haggle-protocol/haggle/internal/gateway/service"
)

const retryAfter = "Retry-After"

// wholeSeconds returns a header value: the time in seconds, rounded up.
func wholeSeconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

// pauseOf returns the header value for a response document with a pending answer; empty if no answer is pending.
func pauseOf(document any) string {
	pending := false
	switch d := document.(type) {
	case service.Details:
		pending = d.AnswerPending
	case service.Answer:
		pending = d.Negotiation.AnswerPending
	case service.Proposed:
		pending = slices.ContainsFunc(d.Answers, func(a service.Answer) bool { return a.Negotiation.AnswerPending })
	}
	if !pending {
		return ""
	}
	return wholeSeconds(service.PendingPause)
}

// pausing lists the operations whose successful response can contain a pending answer, each with the status.
var pausing = map[string]int{
	"propose": http.StatusCreated, "propose-bundle": http.StatusCreated, "counter": http.StatusOK,
	"get-negotiation": http.StatusOK,
}

// retryAfterOf returns the statuses that can carry the header Retry-After for an operation, each with the
// header's meaning. A read changes nothing, so that it never waits for another change.
func retryAfterOf(operation *huma.Operation) map[int]string {
	meanings := map[int]string{
		http.StatusTooManyRequests: "Seconds to wait before the same request: until a place can be free, until the " +
			"client's oldest proposal of the hour is an hour old, or 10 for too many unexpired signatures",
		http.StatusServiceUnavailable: "Seconds to wait before the same request if the credentials cannot be checked " +
			"now (identity-unavailable)",
	}
	if operation.Method != http.MethodGet {
		meanings[http.StatusConflict] = "Seconds to wait before the same request if another one changes the negotiation (" +
			service.CodeInProgress + "), or if the publisher has not answered yet (" + service.CodePending +
			"); other conflicts lack the header, because time does not end them"
	}
	if status := pausing[operation.OperationID]; status != 0 {
		meanings[status] = "Seconds to wait before reading the negotiation, if the publisher's answer is pending " +
			"(answer_pending); other responses lack the header"
	}
	return meanings
}

// describeRetryAfter adds the header to the description.
func describeRetryAfter(description *huma.OpenAPI) {
	for _, operation := range operationsOf(description) {
		for status, meaning := range retryAfterOf(operation) {
			operation.Responses[strconv.Itoa(status)].Headers = map[string]*huma.Header{retryAfter: {
				Description: meaning, Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: new(1.0)},
			}}
		}
	}
}
