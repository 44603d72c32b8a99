package rest_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every operation with a name accepts the characters in the description, also characters newer than the
// gateway's Unicode tables, and refuses invisible characters.
func TestNamesOverHTTP(t *testing.T) {
	g := open(t, sqlite(t))
	k := g.register(t)
	api := g.negotiation + "/api/"
	for at, c := range []struct {
		name  string
		valid bool
	}{
		{"Site \U0001FADC", true}, // a symbol since Unicode 16.0
		{"Site \u1c89", true},     // a letter since Unicode 16.0
		{"Site \u202emoc", false}, // a control of direction
		{"Site\u200b", false},     // no width
		{"Site\u00a0a", false},    // another space
		{"Site\u0007", false},
		{"  ", false},
		{"Site half", false}, // half a surrogate pair, which Go reads as U+FFFD
	} {
		host := "site" + strconv.Itoa(at) + ".example"
		quoted, err := json.Marshal(c.name)
		require.NoError(t, err)
		name := strings.ReplaceAll(string(quoted), "half", `\ud83c`)
		for _, request := range [][3]string{
			{"PATCH", "publishers/1", `{"name":` + name + `}`},
			{"PATCH", "publishers/1", `{"name":"A"}`}, // the name is free again
			{"POST", "publishers", `{"hostname":"` + host + `","name":` + name + `}`},
			{"POST", "clients", `{"client_name":` + name + `}`},
			{"POST", "keys", `{"publisher_id":1,"name":` + name + `}`},
		} {
			got := call(t, request[0], api+request[1], k.administrator, request[2])
			if c.valid || strings.HasSuffix(request[2], `"A"}`) {
				require.Less(t, got.status, 300, "%s %s %q: %s", request[0], request[1], c.name, got.text)
				continue
			}
			require.Equal(t, 422, got.status, "%s %s %q: %s", request[0], request[1], c.name, got.text)
			require.Contains(t, got.text, "visible characters and spaces")
		}
	}
}

// The description gives the form of public keys. Their last character stands for four bits.
func TestPublicKeysOverHTTP(t *testing.T) {
	g := open(t, sqlite(t))
	k := g.register(t)
	api := g.negotiation + "/api/"
	digits := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for at, last := range digits {
		key := strings.Repeat("_", 42) + string(last)
		got := call(t, "POST", api+"clients", k.administrator,
			`{"client_name":"Signer `+strconv.Itoa(at)+`","public_key":"`+key+`"}`)
		if at%4 == 0 {
			must(t, 201, got)
			continue
		}
		must(t, 422, got)
		require.Contains(t, got.text, "expected string to be an Ed25519 key: 43 characters of base64url")
	}
}
