package haggle_test

import (
	"context"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// signedPayments is a signer that records the signature of each payment.
type signedPayments struct {
	*wallet.Keypair
	lock   sync.Mutex
	signed func(solana.Signature)
}

func (s *signedPayments) SignMessage(ctx context.Context, message []byte) (solana.Signature, error) {
	signature, err := s.Keypair.SignMessage(ctx, message)
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.signed != nil {
		s.signed(signature)
	}
	return signature, err
}

func (s *signedPayments) onSigned(call func(solana.Signature)) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.signed = call
}

// TestCancelledActionIsNeverSentLater cancels actions at random moments of their journal writes. An action
// that returns NotSent must stay unsent, whatever the client, another client of the journal or a later
// process does next.
func TestCancelledActionIsNeverSentLater(t *testing.T) {
	attempts := 3_000
	if testing.Short() {
		attempts = 300
	}
	chain := &singleNodeChain{bytes: make(map[solana.Signature][]byte), arrived: make(map[solana.Signature]int)}
	server := httptest.NewServer(chain)
	defer server.Close()
	path := filepath.Join(t.TempDir(), "journal.db")
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	defer store.Close()
	open := func() *haggle.Client {
		client, err := haggle.NewClient(haggle.Config{Endpoint: server.URL, Journal: store})
		require.NoError(t, err)
		return client
	}
	client, second := open(), open()
	defer client.Close()
	key, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	me := &signedPayments{Keypair: key}
	pay := func(ctx context.Context, from *haggle.Client, lamports uint64) error {
		transfer := system.NewTransferInstruction(lamports, key.PublicKey(), solana.SystemProgramID).Build()
		_, err := from.NewAction("pay", key.PublicKey(), transfer).Do(ctx, me)
		return err
	}

	unsent := make(map[solana.Signature]bool)
	for i := range attempts {
		ctx, cancel := context.WithCancel(t.Context())
		var signature solana.Signature
		me.onSigned(func(s solana.Signature) {
			signature = s
			time.AfterFunc(time.Duration(rand.Int64N(int64(2*time.Millisecond))), cancel)
		})
		err := pay(ctx, client, uint64(i+1))
		cancel()
		if transaction.OutcomeOf(err) == transaction.NotSent {
			unsent[signature] = true
		}
	}
	require.NotEmpty(t, unsent)
	me.onSigned(nil)

	// Unrelated actions of both clients, and a recovery by another store, send no other transaction.
	require.NoError(t, pay(t.Context(), second, 1_000_001))
	require.NoError(t, pay(t.Context(), client, 1_000_002))
	_, err = client.Recover(t.Context(), key.PublicKey())
	require.NoError(t, err)
	require.NoError(t, second.Close())
	other, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	defer other.Close()
	later, err := haggle.NewClient(haggle.Config{Endpoint: server.URL, Journal: other})
	require.NoError(t, err)
	defer later.Close()
	require.NoError(t, pay(t.Context(), later, 1_000_003))
	_, err = later.Recover(t.Context(), key.PublicKey())
	require.NoError(t, err)

	chain.lock.Lock()
	defer chain.lock.Unlock()
	sent := 0
	for signature := range unsent {
		if chain.arrived[signature] > 0 {
			sent++
		}
	}
	require.Zero(t, sent, "of %d transactions that were reported as not sent", len(unsent))
}
