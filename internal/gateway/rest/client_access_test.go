package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every operation refuses a suspended client and a revoked key, also operations open to callers with no
// credentials, and names the reason.
func TestEveryOperationRefusesSuspendedAndRevoked(t *testing.T) {
	g := open(t, sqlite(t))
	k := g.register(t)
	api := g.negotiation + "/api/"
	added := must(t, 201, call(t, "POST", api+"keys", k.client, `{"name":"second"}`))
	revoked, _ := added["api_key"].(string)
	must(t, 200, call(t, "DELETE", fmt.Sprintf("%skeys/%s", api, added["id"]), k.client, ""))
	self := must(t, 200, call(t, "GET", api+"keys", k.client, ""))["items"].([]any)[0].(map[string]any)["client_id"]
	client := fmt.Sprintf("%sclients/%v", api, self)
	suspended := must(t, 200, call(t, "PATCH", client, k.administrator, `{"suspended":true}`))
	require.NotEmpty(t, suspended["suspended_at"])
	for key, want := range map[string]struct {
		status int
		code   string
	}{k.client: {403, "client-suspended"}, revoked: {401, "api-key-revoked"}} {
		for _, url := range []string{g.negotiation, g.licensing} {
			paths, _ := must(t, 200, call(t, "GET", url+"/openapi.json", "", ""))["paths"].(map[string]any)
			require.NotEmpty(t, paths)
			for path, operations := range paths {
				for method := range operations.(map[string]any) {
					got := call(t, strings.ToUpper(method), url+strings.ReplaceAll(path, "{id}", "1"), key, "")
					require.Equal(t, want.status, got.status, "%s %s: %s", method, path, got.text)
					require.Equal(t, "urn:haggle:problem:"+want.code, got.body["type"], "%s %s", method, path)
				}
			}
		}
	}
	must(t, 403, call(t, "PATCH", client, k.other, `{"suspended":false}`))
	must(t, 403, call(t, "DELETE", client+"/public-key", k.other, ""))
	restored := must(t, 200, call(t, "PATCH", client, k.administrator, `{"suspended":false}`))
	require.NotContains(t, restored, "suspended_at")
	must(t, 200, call(t, "GET", client, k.client, ""))
}

// A signing client's key is replaced and revoked; a client with API keys lacks one.
func TestPublicKeyIsReplacedOverHTTP(t *testing.T) {
	g := open(t, sqlite(t))
	k := g.register(t)
	api := g.negotiation + "/api/"
	first, second := strings.Repeat("A", 43), strings.Repeat("B", 42)+"A"
	signer := must(t, 201, call(t, "POST", api+"clients", k.administrator,
		`{"client_name":"Signer","public_key":"`+first+`"}`))
	url := fmt.Sprintf("%sclients/%v", api, signer["id"])
	replaced := must(t, 200, call(t, "PATCH", url, k.administrator, `{"public_key":"`+second+`"}`))
	require.Equal(t, second, replaced["public_key"])
	require.NotEmpty(t, must(t, 200, call(t, "DELETE", url+"/public-key", k.administrator, ""))["key_revoked_at"])
	former := must(t, 409, call(t, "PATCH", url, k.administrator, `{"public_key":"`+first+`"}`))
	require.Equal(t, "urn:haggle:problem:public-key-former", former["type"])
	for _, wrong := range []string{`""`, `"short"`, "null", "1"} {
		must(t, 422, call(t, "PATCH", url, k.administrator, `{"public_key":`+wrong+`}`))
	}
	kind := must(t, 409, call(t, "PATCH", api+"clients/1", k.administrator, `{"public_key":"`+first+`"}`))
	require.Equal(t, "urn:haggle:problem:client-kind", kind["type"])
	must(t, 409, call(t, "DELETE", api+"clients/1/public-key", k.administrator, ""))
	must(t, 404, call(t, "PATCH", api+"clients/99", k.administrator, `{}`))
}
