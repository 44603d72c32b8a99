package httpsig_test

import (
	"crypto/ed25519"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

var everything = httpsig.Params{Components: []httpsig.Component{
	{Name: "@method"}, {Name: "@scheme"}, {Name: "@authority"}, {Name: "@target-uri"}, {Name: "@request-target"},
	{Name: "@path"}, {Name: "@query"}, {Name: "content-digest"}, {Name: "x-list"},
	{Name: "signature-agent", Member: "sig1"},
}}

func signedWith(t testing.TB, params httpsig.Params) *http.Request {
	r := httptest.NewRequest("POST", "https://Gateway.Example:443/v1/a%2Fb?x=1&y=2", strings.NewReader("{}"))
	r.Header.Set("Content-Digest", httpsig.ContentDigest([]byte("{}")))
	r.Header["X-List"] = []string{" a ", "b"}
	r.Header.Set("Signature-Agent", `sig1="https://agent.example", other="https://other.example"`)
	require.NoError(t, params.Sign(r, "sig1", testKey(t)))
	return r
}

func TestVerifyFindsEachChange(t *testing.T) {
	verify := func(r *http.Request, scheme string) error { return parsed(t, r).Verify(r, scheme, publicKey(t)) }
	require.NoError(t, verify(signedWith(t, everything), "https"))
	for name, change := range map[string]func(r *http.Request){
		"method":         func(r *http.Request) { r.Method = "PUT" },
		"authority":      func(r *http.Request) { r.Host = "gateway.example:444" },
		"path":           func(r *http.Request) { r.RequestURI = "/v1/a/b?x=1&y=2" },
		"query":          func(r *http.Request) { r.RequestURI = "/v1/a%2Fb?x=1&y=3" },
		"digest":         func(r *http.Request) { r.Header.Set("Content-Digest", httpsig.ContentDigest(nil)) },
		"field":          func(r *http.Request) { r.Header.Add("X-List", "c") },
		"covered member": func(r *http.Request) { r.Header.Set("Signature-Agent", `sig1="https://b.example"`) },
		"expiry": func(r *http.Request) {
			r.Header.Set("Signature-Input", r.Header.Get("Signature-Input")+";expires=4889289600")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := signedWith(t, everything)
			change(r)
			assert.ErrorIs(t, verify(r, "https"), httpsig.ErrSignature)
		})
	}
	assert.ErrorIs(t, verify(signedWith(t, everything), "http"), httpsig.ErrSignature)

	// Neither of these is covered.
	r := signedWith(t, everything)
	r.Header.Set("Signature-Agent", `sig1="https://agent.example", other="https://changed.example"`)
	r.Header.Set("Accept", "text/html")
	assert.NoError(t, verify(r, "https"))
}

// TestAHandlerThatChangesTheURL checks that routers stripping a prefix do not break signatures.
func TestAHandlerThatChangesTheURL(t *testing.T) {
	r := signedWith(t, everything)
	r.URL.Path, r.URL.RawPath = "/b", ""
	assert.NoError(t, parsed(t, r).Verify(r, "https", publicKey(t)))
}

func TestVerifyReturnsAnExactError(t *testing.T) {
	for name, c := range map[string]struct{ input, want string }{
		"missing field":         {`("x-missing")`, `component "x-missing": the request has no such field`},
		"missing member":        {`("signature-agent";key="nobody")`, `key="nobody": the field has no such member`},
		"uppercase":             {`("X-List")`, `component "X-List": not in lowercase letters`},
		"covered twice":         {`("@method" "@method")`, `component "@method": covered twice`},
		"unknown derived":       {`("@status")`, `component "@status": not supported`},
		"unsupported parameter": {`("@method";req)`, `component "@method": parameter "req" is not supported`},
		"member of a derived":   {`("@method";key="a")`, `only fields have members`},
		"token":                 {`(method)`, `component: not a string`},
		"algorithm":             {`("@method");alg="hmac-sha256"`, `algorithm "hmac-sha256" is not supported`},
		"not ASCII":             {`("x-list")`, `characters other than printable ASCII`},
	} {
		t.Run(name, func(t *testing.T) {
			r := signedWith(t, everything)
			if name == "not ASCII" {
				r.Header["X-List"] = []string{"a\n\"@method\": GET"}
			}
			r.Header.Set("Signature-Input", "sig1="+c.input)
			assert.ErrorContains(t, parsed(t, r).Verify(r, "https", publicKey(t)), c.want)
		})
	}
}

func TestParseRejectsMalformedFields(t *testing.T) {
	for name, c := range map[string]struct{ input, signature, want string }{
		"input only":        {`a=("@method")`, ``, "have different labels"},
		"signature only":    {``, `a=:AA==:`, "have different labels"},
		"different labels":  {`a=("@method")`, `b=:AA==:`, `"a" is not a byte sequence`},
		"not a list":        {`a=1`, `a=:AA==:`, `"a" is not a list of components`},
		"not a dictionary":  {`a=(`, `a=:AA==:`, "Signature-Input: not a dictionary"},
		"not base64":        {`a=()`, `a=:?:`, "Signature: not a dictionary"},
		"created as string": {`a=();created="1"`, `a=:AA==:`, `"created" is not an integer`},
		"key ID as integer": {`a=();keyid=1`, `a=:AA==:`, `"keyid" is not a string`},
		"too many":          {manyLabels("()"), manyLabels(":AA==:"), "has 9 signatures, more than 8"},
		"big list":          {`a=(` + strings.Repeat(`"a" `, 33) + `)`, `a=:AA==:`, "covers 33 components, more"},
	} {
		t.Run(name, func(t *testing.T) {
			header := http.Header{"Signature-Input": {c.input}, "Signature": {c.signature}}
			_, err := httpsig.Parse(header)
			assert.ErrorContains(t, err, c.want)
		})
	}
	_, err := httpsig.Parse(http.Header{})
	assert.ErrorIs(t, err, httpsig.ErrNotSigned)
}

func manyLabels(value string) string {
	var members []string
	for _, label := range strings.Split("abcdefghi", "") {
		members = append(members, label+"="+value)
	}
	return strings.Join(members, ", ")
}

func TestTwoSignaturesAreVerifiedOnTheirOwn(t *testing.T) {
	r := signedWith(t, everything)
	r.Header.Set("Signature-Input", r.Header.Get("Signature-Input")+`, proxy=("@method";tr);tag="proxy"`)
	r.Header.Set("Signature", r.Header.Get("Signature")+`, proxy=:AA==:`)
	signatures, err := httpsig.Parse(r.Header)
	require.NoError(t, err)
	require.Len(t, signatures, 2)
	assert.NoError(t, signatures[0].Verify(r, "https", publicKey(t)))
	assert.Error(t, signatures[1].Verify(r, "https", publicKey(t)))
}

func FuzzParse(f *testing.F) {
	f.Add(b26Input, b26Signature, `agent2="https://signature-agent.test"`)
	f.Add(`a=("signature-agent";key="b" "@query");created=1;expires=999999999999999`, `a=:AA==:`, `b=(1 2);c`)
	f.Add(`a=()`, `a`, `"x"`)
	key, err := httpsig.DecodePublicKey("JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, input, signature, agent string) {
		r := httptest.NewRequest("GET", "/foo?a=b", nil)
		r.Header.Set("Signature-Input", input)
		r.Header.Set("Signature", signature)
		r.Header.Set("Signature-Agent", agent)
		signatures, err := httpsig.Parse(r.Header)
		if err != nil {
			return
		}
		for _, s := range signatures {
			// Fuzzers cannot sign: only signatures over the exact request can verify.
			if input != b26Input {
				assert.Error(t, s.Verify(r, "https", ed25519.PublicKey(key)))
			}
		}
	})
}
