// Package retryafter reads the header Retry-After of HTTP responses.
package retryafter

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Longest is the limit for callers that need no shorter limit.
const Longest = 24 * time.Hour

// Pause returns the pause before the next request: seconds, or the time until a date (RFC 9110, section 10.2.3).
// It is at least 0 and at most limit. A date is compared with the response's own date, if it has one, because the
// clocks of server and client may differ. If the header is missing or invalid, Pause returns 0.
func Pause(header http.Header, limit time.Duration) time.Duration {
	text := strings.TrimSpace(header.Get("Retry-After"))
	// ParseUint returns the largest number if the value is too large.
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		return min(time.Duration(min(seconds, uint64(limit/time.Second)+1))*time.Second, limit)
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return min(max(until.Sub(now), 0), limit)
}
