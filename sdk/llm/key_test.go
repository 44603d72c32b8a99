package llm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/llm"
)

const secretKey = "sk-planted-83bd10"

func keyFile(t *testing.T, content string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(path, []byte(content), mode))
	require.NoError(t, os.Chmod(path, mode))
	return path
}

func TestKeyIsReadAtEachCall(t *testing.T) {
	path := keyFile(t, "first\n", 0o600)
	file := llm.KeyFromFile(path)
	t.Setenv("HAGGLE_TEST_KEY", " first ")
	variable := llm.KeyFromEnvironment("HAGGLE_TEST_KEY")
	for _, want := range []string{"first", "second"} {
		for _, key := range []llm.Key{file, variable} {
			got, err := key.Reveal()
			require.NoError(t, err)
			assert.Equal(t, want, got, key.String())
		}
		require.NoError(t, os.WriteFile(path, []byte("second"), 0o600))
		t.Setenv("HAGGLE_TEST_KEY", "second")
	}
}

// failedTest collects the messages of failed assertions.
type failedTest struct{ messages *bytes.Buffer }

func (f failedTest) Errorf(format string, arguments ...any) {
	fmt.Fprintf(f.messages, format, arguments...)
}

func TestKeyIsNeverPrinted(t *testing.T) {
	t.Setenv("HAGGLE_TEST_KEY", secretKey)
	read := func() (string, error) { return secretKey, nil }
	type config struct {
		Model  string
		Key    llm.Key
		hidden llm.Key
		Nested *struct{ Key llm.Key }
	}
	for _, key := range []llm.Key{
		llm.KeyFromEnvironment("HAGGLE_TEST_KEY"), llm.KeyFromFile(keyFile(t, secretKey, 0o600)),
		llm.KeyFrom("a vault", read),
	} {
		revealed, err := key.Reveal()
		require.NoError(t, err)
		require.Equal(t, secretKey, revealed)

		var printed bytes.Buffer
		all := config{"m", key, key, &struct{ Key llm.Key }{key}}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			for _, value := range []any{key, &key, all, &all, []llm.Key{key}, map[string]llm.Key{"k": key}} {
				fmt.Fprintf(&printed, verb+"\n", value)
			}
		}
		encoded, err := json.Marshal(all)
		require.NoError(t, err)
		printed.Write(encoded)
		for _, handler := range []slog.Handler{
			slog.NewTextHandler(&printed, nil), slog.NewJSONHandler(&printed, nil),
		} {
			slog.New(handler).Info("call", "key", key, "config", all, "pointer", &all)
		}
		assert.Equal(failedTest{&printed}, config{}, all) // prints a dump that follows pointers
		assert.NotContains(t, printed.String(), secretKey)
		assert.NotContains(t, printed.String(), fmt.Sprintf("%x", secretKey))
		assert.Contains(t, printed.String(), key.String())
	}
}

func TestKeyFileOfOtherUsersIsRejected(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("permissions are not checked on Windows")
		return
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o660, 0o666, 0o601} {
		_, err := llm.KeyFromFile(keyFile(t, secretKey, mode)).Reveal()
		require.ErrorIs(t, err, llm.ErrKeyAccessible, mode.String())
		assert.NotContains(t, err.Error(), secretKey)
	}
	for _, mode := range []os.FileMode{0o600, 0o400} {
		_, err := llm.KeyFromFile(keyFile(t, secretKey, mode)).Reveal()
		require.NoError(t, err, mode.String())
	}
}

func TestInvalidKeyIsNotQuoted(t *testing.T) {
	t.Setenv("HAGGLE_TEST_KEY", "")
	failing := func() (string, error) { return "", errors.New("vault sealed") }
	for _, c := range []struct {
		key  llm.Key
		want string
	}{
		{llm.Key{}, "key not set"},
		{llm.KeyFromEnvironment("HAGGLE_TEST_KEY"), "HAGGLE_TEST_KEY: key is empty or not set"},
		{llm.KeyFromEnvironment(secretKey), "invalid name"},
		{llm.KeyFromFile(keyFile(t, "\n", 0o600)), "key is empty"},
		{llm.KeyFromFile(keyFile(t, secretKey+"\n"+secretKey, 0o600)), "white space"},
		{llm.KeyFromFile(keyFile(t, secretKey+" x", 0o600)), "white space"},
		{llm.KeyFromFile(keyFile(t, secretKey+"é", 0o600)), "not ASCII"},
		{llm.KeyFromFile(keyFile(t, strings.Repeat(secretKey, 1000), 0o600)), "longer than 4096 bytes"},
		{llm.KeyFromFile(filepath.Join(t.TempDir(), "missing")), "no such file"},
		{llm.KeyFromFile(t.TempDir()), "not a regular file"},
		{llm.KeyFrom("vault", failing), "llm: vault: vault sealed"},
	} {
		_, err := c.key.Reveal()
		require.ErrorContains(t, err, c.want)
		assert.NotContains(t, err.Error()+c.key.String(), secretKey)
	}
	assert.True(t, llm.Key{}.IsZero())
	assert.Equal(t, "no key", llm.Key{}.String())
}
