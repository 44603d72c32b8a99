package wallet_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/wallet"
)

const apiKey = "sekrit-api-key"

// service is a wallet service that signs every request unless a test sets another behavior.
type service struct {
	t       *testing.T
	keypair *wallet.Keypair
	server  *httptest.Server
	// requests counts the signing requests.
	requests atomic.Int64
	// instead, if set, handles signing requests. A cancelled request's response may still be in flight when
	// it changes.
	instead atomic.Pointer[answering]
}

type answering func(w http.ResponseWriter, transaction []byte)

func (s *service) answerWith(instead answering) { s.instead.Store(&instead) }

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{t: t, keypair: newKeypair(t)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/public-key", func(w http.ResponseWriter, r *http.Request) {
		if !s.authorized(w, r) {
			return
		}
		fmt.Fprintf(w, `{"publicKey":%q}`, s.keypair.PublicKey())
	})
	mux.HandleFunc("POST /v1/sign-transaction", func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if !s.authorized(w, r) {
			return
		}
		if len(r.Header.Get("Idempotency-Key")) != 64 {
			t.Error("no idempotency key")
		}
		var question struct{ Transaction []byte }
		if err := json.NewDecoder(r.Body).Decode(&question); err != nil {
			t.Error(err)
		}
		if instead := s.instead.Load(); instead != nil {
			(*instead)(w, question.Transaction)
			return
		}
		s.answer(w, s.signed(question.Transaction))
	})
	s.server = httptest.NewServer(mux)
	t.Cleanup(s.server.Close)
	return s
}

func (s *service) authorized(w http.ResponseWriter, r *http.Request) bool {
	if r.Header.Get("Authorization") != "Bearer "+apiKey {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, r.Header.Get("Authorization"))
		return false
	}
	return true
}

func (s *service) answer(w http.ResponseWriter, transaction []byte) {
	fmt.Fprintf(w, `{"signedTransaction":%q}`, base64.StdEncoding.EncodeToString(transaction))
}

// signed returns a transaction with the wallet's signature in the right position.
func (s *service) signed(encoded []byte) []byte {
	transaction, err := solana.TransactionFromBytes(encoded)
	if err != nil {
		s.t.Error(err)
		return nil
	}
	_, err = transaction.PartialSign(func(key solana.PublicKey) *solana.PrivateKey {
		if key != s.keypair.PublicKey() {
			return nil
		}
		private := s.keypair.PrivateKey()
		return &private
	})
	if err != nil {
		s.t.Error(err)
	}
	signed, err := transaction.MarshalBinary()
	if err != nil {
		s.t.Error(err)
	}
	return signed
}

func (s *service) config() wallet.RemoteConfig {
	return wallet.RemoteConfig{Endpoint: s.server.URL + "/v1", APIKey: apiKey}
}

func (s *service) remote() *wallet.Remote {
	s.t.Helper()
	remote, err := wallet.NewRemote(context.Background(), s.config())
	require.NoError(s.t, err)
	return remote
}

// transfer returns a transfer message with signers in this order; the first signer pays.
func transfer(t *testing.T, lamports uint64, signers ...solana.PublicKey) []byte {
	t.Helper()
	var instructions []solana.Instruction
	for _, signer := range signers {
		instructions = append(instructions, system.NewTransferInstruction(lamports, signer, solana.SysVarClockPubkey).Build())
	}
	transaction, err := solana.NewTransaction(instructions, solana.Hash{1}, solana.TransactionPayer(signers[0]))
	require.NoError(t, err)
	message, err := transaction.Message.MarshalBinary()
	require.NoError(t, err)
	return message
}

func TestRemoteWalletSigns(t *testing.T) {
	s := newService(t)
	remote := s.remote()
	me := remote.PublicKey()
	require.Equal(t, s.keypair.PublicKey(), me)
	for name, message := range map[string][]byte{
		"alone":         transfer(t, 1, me),
		"for a payer":   transfer(t, 1, newKeypair(t).PublicKey(), me),
		"as the payer":  transfer(t, 1, me, newKeypair(t).PublicKey()),
		"among several": transfer(t, 1, newKeypair(t).PublicKey(), me, newKeypair(t).PublicKey()),
	} {
		signature, err := remote.SignMessage(context.Background(), message)
		require.NoError(t, err, name)
		require.True(t, signature.Verify(me, message), name)
	}
	s.answerWith(func(w http.ResponseWriter, transaction []byte) {
		signature, _ := s.keypair.SignMessage(context.Background(), transaction[65:])
		fmt.Fprintf(w, `{"signature":%q}`, signature)
	})
	message := transfer(t, 2, me)
	signature, err := remote.SignMessage(context.Background(), message)
	require.NoError(t, err)
	require.True(t, signature.Verify(me, message))
}

// Responses other than signatures of exactly that message by exactly that key are rejected.
func TestRemoteWalletThatSignsSomethingElse(t *testing.T) {
	s := newService(t)
	remote := s.remote()
	message := transfer(t, 1, remote.PublicKey())
	other := newKeypair(t)
	stale := s.signed(append(append([]byte{1}, make([]byte, 64)...), transfer(t, 9, remote.PublicKey())...))
	for name, instead := range map[string]func(w http.ResponseWriter, transaction []byte){
		"another message": func(w http.ResponseWriter, _ []byte) { s.answer(w, stale) },
		"another message's signature": func(w http.ResponseWriter, transaction []byte) {
			s.answer(w, append(append([]byte(nil), stale[:65]...), transaction[65:]...))
		},
		"another key": func(w http.ResponseWriter, transaction []byte) {
			signature, _ := other.SignMessage(context.Background(), transaction[65:])
			s.answer(w, append(append([]byte{1}, signature[:]...), transaction[65:]...))
		},
		"no signature": func(w http.ResponseWriter, transaction []byte) { s.answer(w, transaction) },
		"a byte more":  func(w http.ResponseWriter, transaction []byte) { s.answer(w, append(s.signed(transaction), 0)) },
		"a byte less": func(w http.ResponseWriter, transaction []byte) {
			signed := s.signed(transaction)
			s.answer(w, signed[:len(signed)-1])
		},
		"two signatures": func(w http.ResponseWriter, transaction []byte) {
			signed := s.signed(transaction)
			s.answer(w, append(append([]byte{2}, signed[1:65]...), signed[1:]...))
		},
		"nothing":         func(w http.ResponseWriter, _ []byte) { s.answer(w, nil) },
		"an empty answer": func(w http.ResponseWriter, _ []byte) { fmt.Fprint(w, `{}`) },
		"no base 64":      func(w http.ResponseWriter, _ []byte) { fmt.Fprint(w, `{"signedTransaction":"*"}`) },
		"a signature of something else": func(w http.ResponseWriter, _ []byte) {
			signature, _ := s.keypair.SignMessage(context.Background(), []byte("hello"))
			fmt.Fprintf(w, `{"signature":%q}`, signature)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.answerWith(instead)
			signature, err := remote.SignMessage(context.Background(), message)
			require.ErrorIs(t, err, wallet.ErrWrongSignature)
			require.Zero(t, signature)
			var failure *wallet.RemoteError
			require.True(t, errors.As(err, &failure))
			require.False(t, failure.NotSigned(), "it may have signed something")
		})
	}
}

// If the wallet service fails, the error states whether it may have signed. Time and memory are bounded.
func TestRemoteWalletThatFails(t *testing.T) {
	s := newService(t)
	message := transfer(t, 1, s.keypair.PublicKey())
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	status := func(code int) func(http.ResponseWriter, []byte) {
		return func(w http.ResponseWriter, _ []byte) { w.WriteHeader(code); fmt.Fprint(w, apiKey) }
	}
	for name, c := range map[string]struct {
		instead   func(w http.ResponseWriter, transaction []byte)
		notSigned bool
		requests  int64
	}{
		"refuses":              {status(http.StatusForbidden), true, 1},
		"is limited":           {status(http.StatusTooManyRequests), true, 3},
		"is being restarted":   {status(http.StatusServiceUnavailable), false, 3},
		"breaks":               {status(http.StatusInternalServerError), false, 1},
		"has a conflict":       {status(http.StatusConflict), false, 1},
		"answers with nothing": {status(http.StatusNoContent), false, 1},
		"redirects": {func(w http.ResponseWriter, _ []byte) {
			w.Header().Set("Location", "/v1/public-key")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, false, 1},
		"does not answer":      {func(http.ResponseWriter, []byte) { <-done }, false, 1},
		"sends HTML":           {func(w http.ResponseWriter, _ []byte) { fmt.Fprint(w, "<html>"+apiKey) }, false, 1},
		"sends too much":       {func(w http.ResponseWriter, _ []byte) { fmt.Fprint(w, strings.Repeat(" ", 1<<20)+"{}") }, false, 1},
		"truncates the answer": {func(w http.ResponseWriter, _ []byte) { w.Header().Set("Content-Length", "9"); fmt.Fprint(w, "{") }, false, 1},
		"sends a long Retry-After": {func(w http.ResponseWriter, _ []byte) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		}, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			config := s.config()
			config.PublicKey, config.Timeout = s.keypair.PublicKey(), 100*time.Millisecond
			remote, err := wallet.NewRemote(context.Background(), config)
			require.NoError(t, err)
			s.answerWith(c.instead)
			s.requests.Store(0)
			_, err = remote.SignMessage(context.Background(), message)
			var failure *wallet.RemoteError
			require.True(t, errors.As(err, &failure), "%v", err)
			require.Equal(t, c.notSigned, failure.NotSigned())
			require.Equal(t, c.requests, s.requests.Load())
			require.NotContains(t, err.Error(), apiKey)
			require.NotContains(t, err.Error(), "/v1")
		})
	}
}

func TestUnreachableRemoteWallet(t *testing.T) {
	s := newService(t)
	remote := s.remote()
	s.server.Close()
	_, err := remote.SignMessage(context.Background(), transfer(t, 1, remote.PublicKey()))
	var failure *wallet.RemoteError
	require.True(t, errors.As(err, &failure))
	require.True(t, failure.NotSigned(), "the service was not reached")
	require.NotContains(t, err.Error(), "/v1")
}

// Messages other than this wallet's transactions are not sent to the service.
func TestRemoteWalletSendsOnlyItsOwnMessages(t *testing.T) {
	s := newService(t)
	remote := s.remote()
	for _, message := range [][]byte{nil, []byte("hello"), transfer(t, 1, newKeypair(t).PublicKey())} {
		_, err := remote.SignMessage(context.Background(), message)
		require.Error(t, err)
	}
	require.Zero(t, s.requests.Load())
}

func TestRemoteWalletConfig(t *testing.T) {
	for _, endpoint := range []string{
		"", "wallet.example", "http://wallet.example", "http://10.0.0.1", "ftp://wallet.example", "https://me:sekrit@wallet.example",
		"https://wallet.example?key=sekrit", "https://wallet.example#sekrit", "https://", "http://localhost.example",
	} {
		_, err := wallet.NewRemote(context.Background(), wallet.RemoteConfig{Endpoint: endpoint, PublicKey: solana.PublicKey{1}})
		require.Error(t, err, endpoint)
		require.NotContains(t, err.Error(), "sekrit")
	}
	for _, endpoint := range []string{"https://wallet.example/api", "http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"} {
		_, err := wallet.NewRemote(context.Background(), wallet.RemoteConfig{Endpoint: endpoint, PublicKey: solana.PublicKey{1}})
		require.NoError(t, err, endpoint)
	}
	s := newService(t)
	config := s.config()
	config.APIKey = "wrong"
	_, err := wallet.NewRemote(context.Background(), config)
	var failure *wallet.RemoteError
	require.True(t, errors.As(err, &failure))
	require.Equal(t, http.StatusUnauthorized, failure.Status)
	require.NotContains(t, err.Error(), "wrong")
	config.APIKey = "two\nlines"
	_, err = wallet.NewRemote(context.Background(), config)
	require.Error(t, err)
}

func TestPrintingARemoteWalletKeepsItsKey(t *testing.T) {
	remote := newService(t).remote()
	for _, text := range []string{
		fmt.Sprint(remote), fmt.Sprintf("%v %+v %#v %s", remote, remote, remote, remote),
		fmt.Sprintf("%+v", *remote), fmt.Sprintf("%#v", *remote), fmt.Sprintf("%+v", struct{ R any }{*remote}),
	} {
		require.NotContains(t, text, "sekrit")
	}
	require.Equal(t, remote.PublicKey().String(), fmt.Sprint(remote))
}
