package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"runtime"
	"strings"
)

// maxKeyBytes is the largest size of a key, including surrounding white space.
const maxKeyBytes = 4096

// ErrKeyAccessible: the key file's permissions give access to other users than its owner.
var ErrKeyAccessible = errors.New("key file accessible to other users")

// Key is a source of the secret key of an API. It never prints the key: formatting with any verb, JSON and
// slog show the source. The zero value is no key.
type Key struct {
	// A function, because printers that follow pointers do not call it.
	read   func() (string, error)
	source string
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,254}$`)

// KeyFromEnvironment returns the key in an environment variable, which is read at each call of the API.
func KeyFromEnvironment(variable string) Key {
	if !variableName.MatchString(variable) {
		// The text may be the key itself, passed by mistake.
		return KeyFrom("environment variable with an invalid name", func() (string, error) {
			return "", errors.New("names have up to 255 letters, digits and underscores")
		})
	}
	return KeyFrom("environment variable "+variable, func() (string, error) {
		return os.Getenv(variable), nil
	})
}

// KeyFromFile returns the key in a file, which is read at each call of the API: a new key is used without a
// restart. Only the file's owner may have access to it. On Windows, access is not checked.
func KeyFromFile(path string) Key {
	return KeyFrom("file "+path, func() (string, error) { return readKeyFile(path) })
}

// KeyFrom returns the key that a function reads, such as a client of a secret store. It is called at each
// call of the API, possibly from several goroutines. Key's methods show source, and the function's errors are
// returned to callers: neither may contain the key.
func KeyFrom(source string, read func() (string, error)) Key {
	return Key{read: read, source: source}
}

// IsZero reports whether k is no key.
func (k Key) IsZero() bool { return k.read == nil }

// Reveal reads the key and returns it without surrounding white space. It returns an error if there is no
// key, and [ErrKeyAccessible] if other users than the owner can access its file.
func (k Key) Reveal() (string, error) {
	if k.read == nil {
		return "", errors.New("llm: key not set")
	}
	text, err := k.read()
	if err != nil {
		return "", fmt.Errorf("llm: %s: %w", k.source, err)
	}
	key := strings.TrimSpace(text)
	switch {
	case key == "":
		return "", fmt.Errorf("llm: %s: key is empty or not set", k.source)
	case len(text) > maxKeyBytes:
		return "", fmt.Errorf("llm: %s: key is longer than %d bytes", k.source, maxKeyBytes)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fmt.Errorf("llm: %s: key contains white space or characters that are not ASCII", k.source)
	}
	return key, nil
}

func readKeyFile(path string) (string, error) {
	// Opening a pipe would wait for its writer.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", errors.New("not a regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	// On Windows these bits do not show the access lists.
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%w: mode %04o: chmod 600 %s", ErrKeyAccessible, info.Mode().Perm(), path)
	}
	content, err := io.ReadAll(io.LimitReader(file, maxKeyBytes+1))
	return string(content), err
}

// String returns the key's source.
func (k Key) String() string {
	if k.read == nil {
		return "no key"
	}
	return "key from " + k.source
}

// Format writes the key's source, for every verb.
func (k Key) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, k.String()) }

// LogValue returns the key's source.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// MarshalJSON returns the key's source as a string.
func (k Key) MarshalJSON() ([]byte, error) { return json.Marshal(k.String()) }
