package retryafter_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/haggle-protocol/haggle/sdk/internal/retryafter"
)

func TestPauseIsParsedAndBounded(t *testing.T) {
	const limit = 30 * time.Second
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "86400": limit, "99999999999999999999999": limit,
		"-5": 0, "soon": 0, "1.5": 0,
		now.Add(9 * time.Second).Format(http.TimeFormat): 9 * time.Second,
		now.Add(24 * time.Hour).Format(http.TimeFormat):  limit,
		now.Add(-24 * time.Hour).Format(http.TimeFormat): 0,
		now.Add(9 * time.Second).Format(time.RFC850):     9 * time.Second,
		"Sat, 99 Nov 2026 12:00:00 GMT":                  0,
	} {
		header := http.Header{"Retry-After": {text}, "Date": {now.Format(http.TimeFormat)}}
		assert.Equal(t, want, retryafter.Pause(header, limit), text)
	}
}

func TestPauseUntilADateWithoutTheServersDate(t *testing.T) {
	for away, want := range map[time.Duration]time.Duration{time.Hour: time.Minute, -time.Hour: 0} {
		header := http.Header{"Retry-After": {time.Now().Add(away).UTC().Format(http.TimeFormat)}}
		assert.Equal(t, want, retryafter.Pause(header, time.Minute))
	}
}
