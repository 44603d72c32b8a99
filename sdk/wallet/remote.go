package wallet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	bin "github.com/gagliardetto/binary"
	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/jsonapi"
)

// RemoteConfig identifies the wallet service. The interface follows AgentWallet: an API key gives access, and
// the service returns a public key and signs transactions.
//
//	GET  <Endpoint>/public-key        answers {"publicKey": "<base 58>"}
//	POST <Endpoint>/sign-transaction  {"transaction": "<base 64, unsigned>"}
//	                                  answers {"signedTransaction": "<base 64>"} or {"signature": "<base 58>"}
//
// Requests carry "Authorization: Bearer <APIKey>", and sign-transaction requests an "Idempotency-Key", the
// message's SHA-256 as hex.
type RemoteConfig struct {
	// Endpoint is the service's URL. The scheme must be https, or http for the local machine.
	Endpoint string
	// APIKey gives access to the wallet.
	APIKey string
	// PublicKey is the wallet's account. If zero, the service returns it; if set, the service cannot
	// substitute another account.
	PublicKey solana.PublicKey
	// PublicKeyPath and SignPath replace the paths above. If empty, they are "public-key" and
	// "sign-transaction".
	PublicKeyPath, SignPath string
	// Timeout limits one request. If zero, 15 s is used.
	Timeout time.Duration
	// HTTPClient sends all requests. If nil, the wallet creates a client. Redirects are never followed.
	HTTPClient *http.Client
}

// Remote is a haggle.Signer whose key is at a wallet service. It is safe for concurrent use.
type Remote struct {
	service   *jsonapi.Service
	publicKey solana.PublicKey
	signPath  string
}

// ErrWrongSignature: the response contains no signature of exactly the message by exactly the wallet's key.
var ErrWrongSignature = errors.New("the answer is not the wallet's signature of the message")

// RemoteError is a failed request to a wallet service. It does not contain the API key, the service's URL
// beyond the host, or any part of the service's response.
type RemoteError struct {
	// Host is the service's host.
	Host string
	// Status is the response's HTTP status, or 0 if there was no response.
	Status int
	// Err is the reason.
	Err error

	notSigned bool
}

func (e *RemoteError) Error() string { return fmt.Sprintf("haggle: wallet: %v", e.Err) }

// Unwrap returns the reason.
func (e *RemoteError) Unwrap() error { return e.Err }

// NotSigned reports whether the service has certainly signed nothing: the request did not reach the service,
// or was rejected. If it returns false, the service may have signed.
func (e *RemoteError) NotSigned() bool { return e.notSigned }

// NewRemote returns a signer that uses a wallet service, and requests the public key unless configured. It
// returns a *RemoteError if that fails.
func NewRemote(ctx context.Context, config RemoteConfig) (*Remote, error) {
	service, err := jsonapi.New(jsonapi.Config{
		Endpoint: config.Endpoint, APIKey: config.APIKey, Timeout: config.Timeout, HTTPClient: config.HTTPClient,
	})
	if err != nil {
		return nil, fmt.Errorf("haggle: wallet: %w", err)
	}
	if config.PublicKeyPath == "" {
		config.PublicKeyPath = "public-key"
	}
	if config.SignPath == "" {
		config.SignPath = "sign-transaction"
	}
	r := &Remote{service: service, publicKey: config.PublicKey, signPath: config.SignPath}
	if !r.publicKey.IsZero() {
		return r, nil
	}
	var answer struct {
		PublicKey string `json:"publicKey"`
	}
	if err := service.Get(ctx, config.PublicKeyPath, &answer); err != nil {
		return nil, r.failure(err)
	}
	if r.publicKey, err = solana.PublicKeyFromBase58(answer.PublicKey); err != nil || r.publicKey.IsZero() {
		return nil, r.failure(&jsonapi.Error{Host: service.Host(), Status: http.StatusOK, Err: errors.New("the answer is not a public key")})
	}
	return r, nil
}

// PublicKey returns the wallet's account.
func (r *Remote) PublicKey() solana.PublicKey { return r.publicKey }

// String returns the public key.
func (r *Remote) String() string { return r.publicKey.String() }

// GoString returns the public key too.
func (r *Remote) GoString() string { return "wallet.Remote(" + r.String() + ")" }

// SignMessage returns the service's signature over a transaction's message. It repeats the request only if
// the service has certainly not signed.
//
// It returns a *RemoteError, which is ErrWrongSignature if the service signs with another key, signs another
// message, or returns no signature.
func (r *Remote) SignMessage(ctx context.Context, message []byte) (solana.Signature, error) {
	message = bytes.Clone(message)
	place, signers, err := placeOf(message, r.publicKey)
	if err != nil {
		return solana.Signature{}, &RemoteError{Host: r.service.Host(), Err: err, notSigned: true}
	}
	unsigned := append(appendLength(nil, signers), make([]byte, signers*len(solana.Signature{}))...)
	var answer struct {
		SignedTransaction string `json:"signedTransaction"`
		Signature         string `json:"signature"`
	}
	question := map[string]string{"transaction": base64.StdEncoding.EncodeToString(append(unsigned, message...))}
	digest := sha256.Sum256(message)
	if err := r.service.Post(ctx, r.signPath, hex.EncodeToString(digest[:]), question, &answer); err != nil {
		return solana.Signature{}, r.failure(err)
	}
	signature, ok := signatureIn(answer.SignedTransaction, answer.Signature, message, place, signers)
	if !ok || !signature.Verify(r.publicKey, message) {
		return solana.Signature{}, &RemoteError{
			Host: r.service.Host(), Status: http.StatusOK, Err: fmt.Errorf("%s: %w", r.service.Host(), ErrWrongSignature),
		}
	}
	return signature, nil
}

func (r *Remote) failure(err error) error {
	failure := &RemoteError{Host: r.service.Host(), Err: err}
	var asked *jsonapi.Error
	if errors.As(err, &asked) {
		failure.Status = asked.Status
		failure.notSigned = asked.Unsent || asked.Refused() && asked.Status != http.StatusRequestTimeout && asked.Status != http.StatusConflict
	}
	return failure
}

// signatureIn extracts the signature from a response. The response contains either the signature alone, or
// the signed transaction, whose message must be identical byte for byte.
func signatureIn(transaction, alone string, message []byte, place, signers int) (solana.Signature, bool) {
	if transaction == "" {
		signature, err := solana.SignatureFromBase58(alone)
		return signature, err == nil
	}
	signed, err := base64.StdEncoding.DecodeString(transaction)
	before := appendLength(nil, signers)
	if err != nil || !bytes.HasPrefix(signed, before) {
		return solana.Signature{}, false
	}
	const size = len(solana.Signature{})
	signed = signed[len(before):]
	if len(signed) != signers*size+len(message) || !bytes.Equal(signed[signers*size:], message) {
		return solana.Signature{}, false
	}
	return solana.Signature(signed[place*size : (place+1)*size]), true
}

// placeOf returns an account's position among the message's signers, and the number of signers.
func placeOf(message []byte, account solana.PublicKey) (place, signers int, err error) {
	var parsed solana.Message
	if err := parsed.UnmarshalWithDecoder(bin.NewBinDecoder(message)); err != nil {
		return 0, 0, errors.New("not the message of a transaction")
	}
	signers = int(parsed.Header.NumRequiredSignatures)
	for place := range min(signers, len(parsed.AccountKeys)) {
		if parsed.AccountKeys[place] == account {
			return place, signers, nil
		}
	}
	return 0, 0, fmt.Errorf("%s is not a signer of the message", account)
}

// appendLength appends a compact-u16.
func appendLength(dst []byte, length int) []byte {
	for ; length >= 0x80; length >>= 7 {
		dst = append(dst, byte(length)|0x80)
	}
	return append(dst, byte(length))
}
