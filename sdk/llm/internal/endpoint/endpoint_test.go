package endpoint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRetryAfterIsBounded(t *testing.T) {
	const date = "Mon, 02 Mar 2026 10:00:00 GMT"
	for _, c := range []struct {
		header map[string]string
		want   time.Duration
	}{
		{map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{map[string]string{"Retry-After": "0.5"}, 500 * time.Millisecond},
		{map[string]string{"Retry-After": "7", "Retry-After-Ms": "250"}, 250 * time.Millisecond},
		{map[string]string{"Retry-After": "Mon, 02 Mar 2026 10:00:09 GMT", "Date": date}, 9 * time.Second},
		{map[string]string{"Retry-After": "Mon, 02 Mar 2026 09:59:00 GMT", "Date": date}, 0},
		{map[string]string{"Retry-After": "Mon, 02 Mar 2020 10:00:00 GMT"}, 0},
		{map[string]string{"Retry-After": "-3"}, 0},
		{map[string]string{"Retry-After": "NaN"}, 0},
		{map[string]string{"Retry-After": "soon"}, 0},
		{map[string]string{"Retry-After": "1e300"}, 24 * time.Hour},
		{map[string]string{"Retry-After": "+Inf"}, 24 * time.Hour},
		{map[string]string{"Retry-After": "Mon, 02 Mar 2099 10:00:00 GMT", "Date": date}, 24 * time.Hour},
		{nil, 0},
	} {
		header := http.Header{}
		for name, value := range c.header {
			header.Set(name, value)
		}
		assert.Equal(t, c.want, retryAfter(header), "%v", c.header)
	}
}

func TestStatusDecidesWhetherFailureIsTemporary(t *testing.T) {
	for status, temporary := range map[int]bool{
		400: false, 401: false, 403: false, 404: false, 408: true, 409: true, 413: false, 422: false, 429: true,
		500: true, 502: true, 503: true, 504: true, 529: true, 599: true,
	} {
		// The status counts even if the body of the error cannot be read.
		failure := Describe("host", &http.Response{StatusCode: status}, errTooLong, "planted code")
		assert.Equal(t, temporary, failure.Temporary, status)
		assert.Equal(t, status, failure.Status)
		assert.NotContains(t, failure.Err.Error(), "planted")
	}
	quota := Describe("host", &http.Response{StatusCode: 429}, nil, "insufficient_quota")
	assert.EqualError(t, quota.Err, "Too Many Requests (insufficient_quota)")
}

func TestFailureTextsContainNothingOfTheResponse(t *testing.T) {
	planted := errors.New(`malformed HTTP response "planted"`)
	ok := &http.Response{StatusCode: http.StatusOK}
	for _, c := range []struct {
		response  *http.Response
		err       error
		temporary bool
		want      string
	}{
		{nil, fmt.Errorf("Post: %w", &networkError{planted}), true, "host: connection closed or not HTTP"},
		{ok, fmt.Errorf("read: %w", &networkError{planted}), true, "host: response was cut off"},
		{ok, planted, false, "host: response is not the API's JSON"},
		{ok, fmt.Errorf("planted: %w", io.ErrUnexpectedEOF), true, "host: response was cut off"},
		{nil, fmt.Errorf("planted: %w", context.DeadlineExceeded), true, "host: request timed out"},
		{nil, planted, false, "host: request could not be sent"},
		{nil, fmt.Errorf("planted: %w", errRedirect), false, "host: " + errRedirect.Error()},
		{ok, fmt.Errorf("planted: %w", errTooLong), false, "host: response longer than 1048576 bytes"},
	} {
		failure := Describe("host", c.response, c.err, "")
		assert.Equal(t, c.temporary, failure.Temporary, c.want)
		require.EqualError(t, failure.Err, c.want)
	}
}

func TestBodyIsReadUpToTheLimit(t *testing.T) {
	for length, want := range map[int]error{
		MaxResponseBytes - 1: nil, MaxResponseBytes: nil, MaxResponseBytes + 1: errTooLong,
	} {
		content := io.NopCloser(strings.NewReader(strings.Repeat("a", length)))
		body := &boundedBody{ReadCloser: content, left: MaxResponseBytes}
		_, err := io.ReadAll(body)
		require.ErrorIs(t, err, want, length)
	}
}

func TestURLNeedsEncryptionExceptOnTheLocalMachine(t *testing.T) {
	for _, valid := range []string{
		"https://api.example.com/v1", "http://localhost:11434/v1", "http://127.0.0.1/v1", "http://[::1]:8080",
	} {
		_, err := CheckURL(valid)
		require.NoError(t, err, valid)
	}
	for _, invalid := range []string{
		"", "api.example.com/v1", "http://api.example.com", "http://192.168.0.7/v1", "https://planted@example.com",
		"https://example.com?key=planted", "https://example.com#planted", "ftp://localhost", "https://",
		"://planted", "http://localhost.planted.example",
	} {
		_, err := CheckURL(invalid)
		require.Error(t, err, invalid)
		assert.NotContains(t, err.Error(), "planted")
	}
}

func TestObjectRejectsOtherTexts(t *testing.T) {
	content, err := Object(" {\"a\":1}\n", "key")
	require.NoError(t, err)
	assert.Equal(t, `{"a":1}`, string(content))
	for text, want := range map[string]string{
		"": "no text", " \n": "no text", "[]": "not a JSON object", `"{}"`: "not a JSON object",
		"{} {}": "not a JSON object", "Sure! {}": "not a JSON object", "{": "not a JSON object",
		"```json\n{}\n```":        "not a JSON object",
		`{"reason":"sk-planted"}`: "contains the API key",
	} {
		_, err := Object(text, "sk-planted")
		require.ErrorContains(t, err, want, text)
		assert.NotContains(t, err.Error(), "planted")
	}
}

func TestUsageMustBePlausible(t *testing.T) {
	assert.True(t, PlausibleUsage(0, 0, 0))
	assert.True(t, PlausibleUsage(10, 10, 5))
	for _, counts := range [][3]int64{
		{-1, 0, 0}, {1, -1, 0}, {1, 0, -1}, {1, 2, 0}, {1 << 62, 0, 0}, {0, 0, 1 << 62},
	} {
		assert.False(t, PlausibleUsage(counts[0], counts[1], counts[2]), counts)
	}
}
