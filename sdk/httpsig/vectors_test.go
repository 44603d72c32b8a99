package httpsig_test

import (
	"bufio"
	"crypto/ed25519"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// testKey is test-key-ed25519 of RFC 9421, appendix B.1.4.
func testKey(t testing.TB) ed25519.PrivateKey {
	seed, err := base64.RawURLEncoding.DecodeString("n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU")
	require.NoError(t, err)
	return ed25519.NewKeyFromSeed(seed)
}

func publicKey(t testing.TB) ed25519.PublicKey { return testKey(t).Public().(ed25519.PublicKey) }

const sha512Digest = "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVL" +
	"vRwEmTHWXvJwew==:"

// testRequest is test-request of RFC 9421, appendix B.2.
func testRequest(t testing.TB) *http.Request {
	text := strings.ReplaceAll(`POST /foo?param=Value&Pet=dog HTTP/1.1
Host: example.com
Date: Tue, 20 Apr 2021 02:07:55 GMT
Content-Type: application/json
Content-Digest: `+sha512Digest+`
Content-Length: 18

{"hello": "world"}`, "\n", "\r\n")
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
	require.NoError(t, err)
	return r
}

func parsed(t testing.TB, r *http.Request) httpsig.Signature {
	signatures, err := httpsig.Parse(r.Header)
	require.NoError(t, err)
	require.Len(t, signatures, 1)
	return signatures[0]
}

const (
	b26Input = `sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length")` +
		`;created=1618884473;keyid="test-key-ed25519"`
	b26Signature = `sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1` +
		`u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:`
)

func TestTheSignatureOfRFC9421AppendixB26Verifies(t *testing.T) {
	r := testRequest(t)
	r.Header.Set("Signature-Input", b26Input)
	r.Header.Set("Signature", b26Signature)
	signature := parsed(t, r)
	assert.Equal(t, "sig-b26", signature.Label)
	assert.Equal(t, "test-key-ed25519", signature.KeyID)
	assert.Equal(t, time.Unix(1618884473, 0), signature.Created)
	assert.NoError(t, signature.Verify(r, "https", publicKey(t)))
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	assert.NoError(t, httpsig.VerifyContentDigest(r.Header, body))
	err = httpsig.VerifyContentDigest(r.Header, append(body, ' '))
	assert.ErrorContains(t, err, "sha-512 is not the digest of the body")
}

func TestSignRepeatsTheBytesOfRFC9421AppendixB26(t *testing.T) {
	r := testRequest(t)
	params := httpsig.Params{Created: time.Unix(1618884473, 0), KeyID: "test-key-ed25519"}
	for _, name := range []string{"date", "@method", "@path", "@authority", "content-type", "content-length"} {
		params.Components = append(params.Components, httpsig.Component{Name: name})
	}
	require.NoError(t, params.Sign(r, "sig-b26", testKey(t)))
	assert.Equal(t, b26Input, r.Header.Get("Signature-Input"))
	assert.Equal(t, b26Signature, r.Header.Get("Signature"))
}

// TestVectorsOfWebBotAuth checks the Ed25519 vectors from draft-ietf-webbotauth-httpsig-protocol-00, appendix
// E.2, and cloudflare/web-bot-auth (web_bot_auth_architecture_v2.json), which shares the first vector.
func TestVectorsOfWebBotAuth(t *testing.T) {
	for _, v := range []struct{ name, label, components, agent, expires, nonce, signature string }{
		{
			"the authority alone", "sig1", `("@authority")`, ``, "4889289600",
			"zIW8+cdmA3vdYagbxojpONwa/l0EKJ/O3/wD486VvsQjO/RxPaSt6ZxvQaMcQzNnqKN/mQ6hpGiFro2L2qkz5A==",
			"QKN4fTdIYfh82fvoZCQiQA1weuozfCS/Led2zTMbewMMqH8PI2Wsy/5c4ao6B6D09nraNQdBNOADg8aM1MqfCg==",
		},
		{
			"E.2.1", "sig2", `("@authority" "signature-agent";key="agent2")`, `agent2="https://signature-agent.test"`,
			"4889289600",
			"n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==",
			"RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==",
		},
		{
			"E.2.2", "sig2", `("@authority" "signature-agent")`, `"https://signature-agent.test"`, "1735693200",
			"e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg==",
			"jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==",
		},
	} {
		t.Run(v.name, func(t *testing.T) {
			input := v.label + "=" + v.components + `;created=1735689600;keyid="` + httpsig.Thumbprint(publicKey(t)) +
				`";alg="ed25519";expires=` + v.expires + `;nonce="` + v.nonce + `";tag="web-bot-auth"`
			r := testRequest(t)
			if v.agent != "" {
				r.Header.Set("Signature-Agent", v.agent)
			}
			r.Header.Set("Signature-Input", input)
			r.Header.Set("Signature", v.label+"=:"+v.signature+":")
			signature := parsed(t, r)
			require.NoError(t, signature.Verify(r, "https", publicKey(t)))

			r.Header.Del("Signature-Input")
			r.Header.Del("Signature")
			require.NoError(t, signature.Sign(r, v.label, testKey(t)))
			assert.Equal(t, input, r.Header.Get("Signature-Input"))
			assert.Equal(t, v.label+"=:"+v.signature+":", r.Header.Get("Signature"))
		})
	}
}

func TestThumbprints(t *testing.T) {
	// draft-ietf-webbotauth-httpsig-protocol-00, appendix E.2, and RFC 8037, appendix A.3.
	assert.Equal(t, "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U", httpsig.Thumbprint(publicKey(t)))
	key, err := httpsig.DecodePublicKey("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwaaPJHURo")
	require.ErrorContains(t, err, "not 32 bytes in base64url")
	assert.Nil(t, key)
	key, err = httpsig.DecodePublicKey("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo")
	require.NoError(t, err)
	assert.Equal(t, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", httpsig.Thumbprint(key))
	assert.Equal(t, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", httpsig.EncodePublicKey(key))
}

func TestContentDigestOfRFC9530AppendixB1(t *testing.T) {
	body := []byte("{\"hello\": \"world\"}\n")
	assert.Equal(t, "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:", httpsig.ContentDigest(body))
}
