package identity_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
)

func textLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func TestAnAPIKeyIsRecognised(t *testing.T) {
	pattern := regexp.MustCompile(identity.KeyPattern)
	seen := map[string]bool{}
	for range 100 {
		key := identity.NewAPIKey()
		assert.Equal(t, key.Reveal(), pattern.FindString("key="+key.Reveal()+";"))
		parsed, err := identity.ParseAPIKey(key.Reveal())
		require.NoError(t, err)
		assert.Equal(t, key.Hash(), parsed.Hash())
		assert.Len(t, key.Hash(), 64)
		seen[key.Reveal()] = true
	}
	assert.Len(t, seen, 100)
}

func TestEachChangedCharacterOfAnAPIKeyIsFound(t *testing.T) {
	text := identity.NewAPIKey().Reveal()
	for i := range text {
		for _, c := range "abcdefghijklmnopqrstuvwxyz234567A=\n" {
			if changed := text[:i] + string(c) + text[i+1:]; changed != text {
				_, err := identity.ParseAPIKey(changed)
				require.Error(t, err, "character %d as %q", i, c)
				require.NotContains(t, err.Error(), text[4:])
			}
		}
	}
	for _, text := range []string{"", "hgl_", text + "a", text[:61], text + "\n", " " + text} {
		_, err := identity.ParseAPIKey(text)
		assert.Error(t, err)
	}
}

func TestAnAPIKeyIsNeverPrinted(t *testing.T) {
	key := identity.NewAPIKey()
	secret := key.Reveal()[4:]
	holder := struct {
		Key  identity.APIKey
		Keys []*identity.APIKey
	}{key, []*identity.APIKey{&key}}
	var out strings.Builder
	for _, log := range []*slog.Logger{slog.New(slog.NewJSONHandler(&out, nil)), textLog(&out)} {
		log.Info("created", "key", key, "pointer", &key, "holder", holder)
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		_, _ = fmt.Fprintf(&out, format+format+format, key, &key, holder)
	}
	encoded, err := json.Marshal(holder)
	require.NoError(t, err)
	out.Write(encoded)
	out.WriteString(fmt.Errorf("key %v", key).Error())
	assert.NotContains(t, out.String(), secret)
	assert.NotContains(t, strings.ToLower(out.String()), fmt.Sprintf("%x", secret[:8]))
	assert.Contains(t, out.String(), "hgl_[redacted]")
	assert.Equal(t, "hgl_[redacted]", key.String())
}

func TestParseScopes(t *testing.T) {
	parsed, err := identity.ParseScopes(identity.Publisher,
		[]string{"strategies:write", "audit:read", "audit:read"})
	require.NoError(t, err)
	assert.Equal(t, []identity.Scope{identity.AuditRead, identity.StrategiesWrite}, parsed)
	for want, c := range map[string]struct {
		kind  identity.Kind
		names []string
	}{
		`scope "audit:read": not a scope of a client; use`: {identity.Client, []string{"negotiate", "audit:read"}},
		`scope "*": not a scope of a publisher`:            {identity.Publisher, []string{"*"}},
		"scopes: empty; use one or more of":                {identity.Publisher, nil},
		`kind "anonymous" cannot own keys; use client or`:  {identity.Anonymous, []string{"negotiate"}},
	} {
		_, err := identity.ParseScopes(c.kind, c.names)
		assert.ErrorContains(t, err, want)
	}
}
