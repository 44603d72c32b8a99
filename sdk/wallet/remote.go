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

// RemoteConfig says which wallet service signs. The service has AgentWallet's shape: an API key opens it, it tells a public key, and
// it signs transactions.
//
//	GET  <Endpoint>/public-key        answers {"publicKey": "<base 58>"}
//	POST <Endpoint>/sign-transaction  {"transaction": "<base 64, unsigned>"}
//	                                  answers {"signedTransaction": "<base 64>"} or {"signature": "<base 58>"}
//
// Requests carry "Authorization: Bearer <APIKey>", and those to sign an "Idempotency-Key", the message's SHA-256 as hex.
type RemoteConfig struct {
	// Endpoint is the service's URL. It has to be https, or http to this very machine.
	Endpoint string
	// APIKey opens the wallet.
	APIKey string
	// PublicKey is the wallet's account. Zero asks the service; given, the service cannot make another account of it.
	PublicKey solana.PublicKey
	// PublicKeyPath and SignPath replace the paths above. Empty is "public-key" and "sign-transaction".
	PublicKeyPath, SignPath string
	// Timeout is how long one request may take. Zero is 15 seconds.
	Timeout time.Duration
	// HTTPClient sends the requests. Nil is one of the wallet's own. Redirects are not followed, whatever it says.
	HTTPClient *http.Client
}

// Remote is a haggle.Signer that has a wallet service sign. Its methods may be called from several goroutines.
type Remote struct {
	service   *jsonapi.Service
	publicKey solana.PublicKey
	signPath  string
}

// ErrWrongSignature: what the service has answered is not a signature of exactly the message by exactly the wallet's key.
var ErrWrongSignature = errors.New("the answer is not the wallet's signature of the message")

// RemoteError is what went wrong when a wallet service was asked. It does not contain the API key, nor the service's address
// beyond its host, nor anything that the service has said.
type RemoteError struct {
	// Host is the service's.
	Host string
	// Status is the HTTP status of its answer; zero if there was none.
	Status int
	// Err is why.
	Err error

	notSigned bool
}

func (e *RemoteError) Error() string { return fmt.Sprintf("haggle: wallet: %v", e.Err) }

// Unwrap is why.
func (e *RemoteError) Unwrap() error { return e.Err }

// NotSigned says whether it is certain that nothing has been signed: the request has not reached the service, or the service has
// answered that it refuses. After anything else a signature may exist.
func (e *RemoteError) NotSigned() bool { return e.notSigned }

// NewRemote makes a signer of a wallet service, and asks it for its public key unless that is given. It fails with a *RemoteError.
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

// PublicKey is the wallet's account.
func (r *Remote) PublicKey() solana.PublicKey { return r.publicKey }

// String is the public key.
func (r *Remote) String() string { return r.publicKey.String() }

// GoString is the public key too.
func (r *Remote) GoString() string { return "wallet.Remote(" + r.String() + ")" }

// SignMessage has the service sign a transaction's message. It is asked again only if it has certainly not signed.
//
// It fails with a *RemoteError, which is ErrWrongSignature if the service signs with another key, or another message, or answers
// with anything else than a signature.
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

// signatureIn takes the signature out of an answer: it is by itself, or in its place in a transaction that has the same message
// byte for byte.
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

// placeOf is which of how many signers of a message an account is.
func placeOf(message []byte, account solana.PublicKey) (place, signers int, err error) {
	var parsed solana.Message
	if err := parsed.UnmarshalWithDecoder(bin.NewBinDecoder(message)); err != nil {
		return 0, 0, errors.New("what is to be signed is not the message of a transaction")
	}
	signers = int(parsed.Header.NumRequiredSignatures)
	for place := range min(signers, len(parsed.AccountKeys)) {
		if parsed.AccountKeys[place] == account {
			return place, signers, nil
		}
	}
	return 0, 0, fmt.Errorf("the message is not one that %s signs", account)
}

// appendLength appends a compact-u16.
func appendLength(dst []byte, length int) []byte {
	for ; length >= 0x80; length >>= 7 {
		dst = append(dst, byte(length)|0x80)
	}
	return append(dst, byte(length))
}
