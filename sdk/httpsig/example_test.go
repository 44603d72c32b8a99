package httpsig_test

import (
	"crypto/ed25519"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// A client signs requests, and a server that knows the client's public key verifies them.
func ExampleTransport() {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signatures, err := httpsig.Parse(r.Header)
		if err != nil || len(signatures) != 1 {
			http.Error(w, "not signed", http.StatusUnauthorized)
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Println("signature:", signatures[0].Verify(r, "http", public))
		fmt.Println("body:", httpsig.VerifyContentDigest(r.Header, body))
	}))
	defer server.Close()

	client := &http.Client{Transport: &httpsig.Transport{Key: private}}
	response, err := client.Post(server.URL+"/v1/negotiations", "application/json", strings.NewReader("{}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	fmt.Println(response.Status)
	// Output:
	// signature: <nil>
	// body: <nil>
	// 200 OK
}
