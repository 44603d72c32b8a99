package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"time"

	bin "github.com/gagliardetto/binary"
	"github.com/gagliardetto/solana-go"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/haggle-protocol/haggle/internal/testpostgres"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/wallet"
	"github.com/haggle-protocol/haggle/tests/faults/proxy"
)

// walletService is a wallet service with AgentWallet's interface that signs with a keypair, possibly the
// wrong keypair.
type walletService struct {
	key haggle.Signer
	// owner is the public key that it returns.
	owner  solana.PublicKey
	apiKey string
}

func (w *walletService) ServeHTTP(answer http.ResponseWriter, request *http.Request) {
	if request.Header.Get("Authorization") != "Bearer "+w.apiKey {
		http.Error(answer, "no", http.StatusUnauthorized)
		return
	}
	switch request.Method + " " + request.URL.Path {
	case "GET /agent/public-key":
		_ = json.NewEncoder(answer).Encode(map[string]string{"publicKey": w.owner.String()})
	case "POST /agent/sign-transaction":
		signature, err := w.sign(request)
		if err != nil {
			http.Error(answer, "no", http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(answer).Encode(map[string]string{"signature": signature.String()})
	default:
		http.NotFound(answer, request)
	}
}

func (w *walletService) sign(request *http.Request) (solana.Signature, error) {
	var asked struct {
		Transaction string `json:"transaction"`
	}
	if err := json.NewDecoder(request.Body).Decode(&asked); err != nil {
		return solana.Signature{}, err
	}
	content, err := base64.StdEncoding.DecodeString(asked.Transaction)
	if err != nil {
		return solana.Signature{}, err
	}
	transaction, err := solana.TransactionFromDecoder(bin.NewBinDecoder(content))
	if err != nil {
		return solana.Signature{}, err
	}
	message, err := transaction.Message.MarshalBinary()
	if err != nil {
		return solana.Signature{}, err
	}
	return w.key.SignMessage(request.Context(), message)
}

// serveWallet starts a wallet service over HTTPS: "serve-wallet NAME KEYPAIR [OWNER]" sets NAME to the
// service URL, and makes the following commands trust the certificate. If OWNER is given, the service returns
// OWNER as the public key, but signs with the keypair.
func serveWallet(ts *testscript.TestScript, _ bool, arguments []string) {
	key, err := wallet.LoadKeypairFile(ts.MkAbs(arguments[1]))
	ts.Check(err)
	service := &walletService{key: key, owner: key.PublicKey(), apiKey: "secret-of-" + arguments[0]}
	if len(arguments) == 3 {
		service.owner = solana.MustPublicKeyFromBase58(arguments[2])
	}
	server := httptest.NewTLSServer(service)
	ts.Defer(server.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	ts.Check(os.WriteFile(ts.MkAbs("certificate.pem"), certificate, 0o600))
	ts.Setenv("SSL_CERT_FILE", ts.MkAbs("certificate.pem"))
	ts.Setenv(arguments[0], server.URL+"/agent")
}

// serveRegistry starts a registry with SAID's interface: "serve-registry NAME ADDRESS=SCORE..." sets NAME to
// its URL; the score "down" is a failure.
func serveRegistry(ts *testscript.TestScript, _ bool, arguments []string) {
	scores := map[string]string{}
	for _, entry := range arguments[1:] {
		address, score, _ := strings.Cut(entry, "=")
		scores[address] = score
	}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		address := strings.TrimPrefix(request.URL.Path, "/api/verify/")
		switch score := scores[address]; score {
		case "":
			http.NotFound(answer, request)
		case "down":
			http.Error(answer, "down", http.StatusInternalServerError)
		default:
			fmt.Fprintf(answer, `{"wallet":%q,"registered":true,"verified":true,"trustScore":{"score":%s}}`, address, score)
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv(arguments[0], server.URL)
}

// load sets a variable to a file's content: "load NAME FILE".
func load(ts *testscript.TestScript, _ bool, arguments []string) {
	ts.Setenv(arguments[0], strings.TrimSpace(ts.ReadFile(arguments[1])))
}

// fill replaces $NAME in a file: "fill FILE".
func fill(ts *testscript.TestScript, _ bool, arguments []string) {
	content := os.Expand(ts.ReadFile(arguments[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(arguments[0]), []byte(content), 0o600))
}

// fund transfers lamports to an address: "fund ADDRESS LAMPORTS".
func fund(ts *testscript.TestScript, _ bool, arguments []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var lamports uint64
	_, err := fmt.Sscan(arguments[1], &lamports)
	ts.Check(err)
	owner, err := solana.PublicKeyFromBase58(arguments[0])
	ts.Check(err)
	ts.Check(ts.Value(stageKey{}).(*fixture).chain.Fund(ctx, owner, lamports))
}

// slowNode starts a node that delays one method: "slow-node NAME METHOD DELAY [FILE]" sets NAME to the URL of
// a proxy in front of the script's chain, and creates FILE when the method is called for the first time.
func slowNode(ts *testscript.TestScript, _ bool, arguments []string) {
	node, err := url.Parse(ts.Value(stageKey{}).(*fixture).chain.RPCURL())
	ts.Check(err)
	delay, err := time.ParseDuration(arguments[2])
	ts.Check(err)
	proxy := httputil.NewSingleHostReverseProxy(node)
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		content, err := io.ReadAll(request.Body)
		if err != nil {
			http.Error(answer, err.Error(), http.StatusBadRequest)
			return
		}
		request.Body = io.NopCloser(bytes.NewReader(content))
		if strings.Contains(string(content), `"method":"`+arguments[1]+`"`) {
			if len(arguments) == 4 {
				_ = os.WriteFile(ts.MkAbs(arguments[3]), nil, 0o600)
			}
			select {
			case <-time.After(delay):
			case <-request.Context().Done():
				return
			}
		}
		proxy.ServeHTTP(answer, request)
	}))
	ts.Defer(server.Close)
	ts.Setenv(arguments[0], server.URL)
}

// lyingNode starts a node that states three decimals more for every mint: "lying-node NAME" sets NAME to its URL.
func lyingNode(ts *testscript.TestScript, _ bool, arguments []string) {
	chain := ts.Value(stageKey{}).(*fixture).chain
	liar, err := proxy.Start(proxy.Options{RPCURL: chain.RPCURL(), WSURL: chain.WSURL(), Lies: []proxy.Lie{proxy.LieDecimals}})
	ts.Check(err)
	ts.Defer(func() { ts.Check(liar.Close()) })
	ts.Setenv(arguments[0], liar.URL())
}

// startPostgres starts a PostgreSQL server and sets a variable to an empty database's URL.
func startPostgres(ts *testscript.TestScript, _ bool, arguments []string) {
	server, err := testpostgres.Start(context.Background())
	ts.Check(err)
	ts.Defer(func() { ts.Check(server.Close()) })
	ts.Setenv(arguments[0], server.Address("postgres"))
}

// request sends an HTTP request and writes the response's body to stdout: "request STATUS METHOD URL [KEY
// [FILE]]". The response must have the status. KEY is an API key, or - for none; FILE contains the JSON to
// send.
func request(ts *testscript.TestScript, _ bool, arguments []string) {
	var content []byte
	if len(arguments) > 4 {
		content = []byte(ts.ReadFile(arguments[4]))
	}
	sent, err := http.NewRequestWithContext(context.Background(), arguments[1], arguments[2], bytes.NewReader(content))
	ts.Check(err)
	if len(content) > 0 {
		sent.Header.Set("Content-Type", "application/json")
	}
	if len(arguments) > 3 && arguments[3] != "-" {
		sent.Header.Set("Authorization", "Bearer "+arguments[3])
	}
	sent.Header.Set("Accept", "application/json, text/event-stream")
	response, err := http.DefaultClient.Do(sent)
	ts.Check(err)
	body, err := io.ReadAll(response.Body)
	ts.Check(err)
	ts.Check(response.Body.Close())
	if fmt.Sprint(response.StatusCode) != arguments[0] {
		ts.Fatalf("status %d: %s", response.StatusCode, body)
	}
	_, err = ts.Stdout().Write(body)
	ts.Check(err)
}

// awaitJSON waits until a file has a JSON document and writes that to stdout: "await-json FILE".
func awaitJSON(ts *testscript.TestScript, _ bool, arguments []string) {
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		content, err := os.ReadFile(ts.MkAbs(arguments[0]))
		if err == nil && json.Valid(content) {
			_, err = ts.Stdout().Write(content)
			ts.Check(err)
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s has no JSON document: %v: %s", arguments[0], err, content)
		}
	}
}
