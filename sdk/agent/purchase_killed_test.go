package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// The environment of test binaries that run a purchase, beside the environment of an agent.
const (
	envSellers = "AGENT_TEST_SELLERS"
	// envKillAt is a point, and envKillCount the number of times that the process reaches it until it is
	// killed.
	envKillAt    = "AGENT_TEST_KILL_AT"
	envKillCount = "AGENT_TEST_KILL_COUNT"
)

// The points where the process is killed.
const (
	afterAuthorize = "after a negotiation is authorised"
	afterSign      = "after an offer or an acceptance is signed"
	afterSend      = "after the node has a transaction"
)

// kills kills the process on the last allowed visit to a point.
type kills struct {
	at   string
	left atomic.Int64
}

func (k *kills) reach(point string) {
	if point == k.at && k.left.Add(-1) == 0 {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		panic(err)
	}
}

type killedStore struct {
	agent.PurchaseStore
	kills *kills
}

func (s killedStore) AuthorizePurchase(
	ctx context.Context, record agent.PurchaseRecord, negotiation solana.PublicKey, round uint8,
) (agent.PurchaseRecord, error) {
	record, err := s.PurchaseStore.AuthorizePurchase(ctx, record, negotiation, round)
	s.kills.reach(afterAuthorize)
	return record, err
}

type killedTransport struct{ kills *kills }

func (k killedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	response, err := http.DefaultTransport.RoundTrip(request)
	if bytes.Contains(body, []byte(`"sendTransaction"`)) {
		k.kills.reach(afterSend)
	}
	return response, err
}

// runPurchase runs a purchase until it is over or the process kills itself. If there is a deal, it exits with
// 0.
func runPurchase() error {
	ctx := context.Background()
	me, err := wallet.LoadKeypairFile(os.Getenv(envKeypair))
	if err != nil {
		return err
	}
	state, err := sqlite.Open(ctx, os.Getenv(envJournal))
	if err != nil {
		return err
	}
	count, err := strconv.ParseInt(os.Getenv(envKillCount), 10, 64)
	if err != nil {
		return err
	}
	limit := &kills{at: os.Getenv(envKillAt)}
	limit.left.Store(count)
	client, err := haggle.NewClient(haggle.Config{
		Endpoint: os.Getenv(envEndpoint), WSEndpoint: os.Getenv(envWSEndpoint), Journal: state,
		HTTPClient: &http.Client{Transport: killedTransport{limit}},
	})
	if err != nil {
		return err
	}
	mint, err := solana.PublicKeyFromBase58(os.Getenv(envMint))
	if err != nil {
		return err
	}
	var sellers []solana.PublicKey
	for text := range strings.SplitSeq(os.Getenv(envSellers), ",") {
		seller, err := solana.PublicKeyFromBase58(text)
		if err != nil {
			return err
		}
		sellers = append(sellers, seller)
	}
	signer := signing{Keypair: me, before: func(instruction protocol.AnyInstruction) {
		switch instruction.(type) {
		case *protocol.SubmitOffer, *protocol.AcceptOffer:
			// The signature is made and lost with the process.
			limit.reach(afterSign)
		}
	}}
	bought, err := agent.NewPurchase(client, signer, purchaseConfig(mint, sellers, killedStore{state, limit}))
	if err != nil {
		return err
	}
	result, err := bought.Run(ctx)
	if err == nil && result.Deal != nil {
		os.Exit(0)
	}
	return fmt.Errorf("no deal: %+v, %w", result, err)
}

// TestKilledPurchaseBuysOnce kills the first process on the first visit to a point, the second process on the
// second visit, and so on, until a process comes to the end. The points lie between every two authorizations,
// signatures and transactions, acceptances included.
func TestKilledPurchaseBuysOnce(t *testing.T) {
	for _, point := range []string{afterAuthorize, afterSign, afterSend} {
		t.Run(point, func(t *testing.T) {
			p := newPurchase(t, 3)
			p.sell(demand(3_500_000), demand(3_000_000), demand(2_500_000))
			folder := t.TempDir()
			keypair := filepath.Join(folder, "buyer.json")
			require.NoError(t, p.Buyer.Save(keypair))
			var sellers []string
			for _, seller := range p.config.Sellers {
				sellers = append(sellers, seller.String())
			}
			environment := append(os.Environ(), envEndpoint+"="+p.Chain.RPCURL(), envWSEndpoint+"="+p.Chain.WSURL(),
				envKeypair+"="+keypair, envMint+"="+p.Mint.String(), envJournal+"="+p.database.String(),
				envSellers+"="+strings.Join(sellers, ","), envKillAt+"="+point)
			killed := 0
			for {
				executable, err := os.Executable()
				require.NoError(t, err)
				process := exec.CommandContext(p.ctx, executable)
				process.Env = append(environment, fmt.Sprintf("%s=%d", envKillCount, killed+1))
				var errors bytes.Buffer
				process.Stderr = &errors
				if err = process.Run(); err == nil {
					break
				}
				require.NoError(t, p.ctx.Err())
				require.Equal(t, -1, process.ProcessState.ExitCode(), "killed, and no failure: %s", errors.String())
				killed++
			}
			require.Greater(t, killed, 2)
			t.Logf("killed %d times", killed)
			p.check(p.buy())
		})
	}
}
