package agent_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// The environment of test binaries that run an agent.
const (
	envEndpoint   = "AGENT_TEST_ENDPOINT"
	envWSEndpoint = "AGENT_TEST_WS_ENDPOINT"
	envKeypair    = "AGENT_TEST_KEYPAIR"
	envJournal    = "AGENT_TEST_JOURNAL"
	envMint       = "AGENT_TEST_MINT"
)

func TestMain(m *testing.M) {
	if os.Getenv(envSellers) != "" {
		fmt.Fprintln(os.Stderr, runPurchase())
		os.Exit(1)
	}
	if os.Getenv(envKeypair) != "" {
		fmt.Fprintln(os.Stderr, runBuyer())
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// runBuyer runs a buyer until the process is killed.
func runBuyer() error {
	me, err := wallet.LoadKeypairFile(os.Getenv(envKeypair))
	if err != nil {
		return err
	}
	config := haggle.Config{Endpoint: os.Getenv(envEndpoint), WSEndpoint: os.Getenv(envWSEndpoint)}
	if path := os.Getenv(envJournal); path != "" {
		store, err := sqlite.Open(context.Background(), path)
		if err != nil {
			return err
		}
		defer store.Close()
		config.Journal = store
	}
	client, err := haggle.NewClient(config)
	if err != nil {
		return err
	}
	mint, err := solana.PublicKeyFromBase58(os.Getenv(envMint))
	if err != nil {
		return err
	}
	buyer, err := agent.New(client, me, agent.Config{
		Decide: concede(2_000_000, 300_000, true),
		Mints:  map[solana.PublicKey]agent.Limits{mint: {Decimals: localnet.Decimals, MaxTotal: 5_000_000}}, MaxRounds: 12,
	})
	if err != nil {
		return err
	}
	return buyer.Run(context.Background())
}

// The agent is killed on each move and restarted at once.
func TestKilledAgentMakesOneOfferPerTurn(t *testing.T) {
	for name, withJournal := range map[string]bool{"journal": true, "no journal": false} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			killUntilClosed(f, withJournal)
		})
	}
}

func killUntilClosed(f *fixture, withJournal bool) {
	const negotiations = 6
	folder := f.t.TempDir()
	keypair := filepath.Join(folder, "buyer.json")
	require.NoError(f.t, f.Buyer.Save(keypair))
	environment := append(os.Environ(), envEndpoint+"="+f.Chain.RPCURL(), envWSEndpoint+"="+f.Chain.WSURL(),
		envKeypair+"="+keypair, envMint+"="+f.Mint.String())
	if withJournal {
		environment = append(environment, envJournal+"="+filepath.Join(folder, "journal"))
	}
	var all []solana.PublicKey
	for range negotiations {
		all = append(all, f.invite(func(r *haggle.CreateRequest) {
			r.MaxRounds, r.ResponseWindow, r.Deadline = 12, time.Hour, 10*time.Hour
		}))
	}
	seller := f.run(f.Seller, agent.Config{
		Decide: concede(4_500_000, 300_000, false), Services: services, MaxRounds: 12,
		MaxOpenPerCounterpart: negotiations,
	})
	random := rand.New(rand.NewPCG(1, 2))
	kills := 0
	for len(f.open(all)) > 0 {
		require.NoError(f.t, f.ctx.Err())
		moves := len(seller.acts())
		f.runProcess(environment, func() bool {
			if len(seller.acts()) > moves {
				// The buyer is about to react, or reacts.
				time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
				return true
			}
			return len(f.open(all)) == 0
		})
		kills++
	}
	require.Greater(f.t, kills, 2, "kills during the negotiations")
	require.Empty(f.t, seller.errors())
	for _, negotiation := range all {
		f.checkOneMovePerTurn(negotiation)
	}
	if withJournal {
		f.checkNoFailedTransactions(f.Buyer.PublicKey())
	}
	f.t.Logf("killed %d times", kills)
}

// runProcess runs an agent in a process, and kills it when a condition holds.
func (f *fixture) runProcess(environment []string, end func() bool) {
	f.t.Helper()
	executable, err := os.Executable()
	require.NoError(f.t, err)
	process := exec.CommandContext(f.ctx, executable)
	process.Env = environment
	process.Stderr = os.Stderr
	require.NoError(f.t, process.Start())
	defer func() { _ = process.Wait() }()
	f.until("the time to kill the process", end)
	require.NoError(f.t, process.Process.Kill())
}

// open returns those negotiations that are not closed.
func (f *fixture) open(all []solana.PublicKey) []solana.PublicKey {
	f.t.Helper()
	var open []solana.PublicKey
	for _, negotiation := range all {
		if f.state(negotiation) != nil {
			open = append(open, negotiation)
		}
	}
	return open
}

// checkOneMovePerTurn checks that a closed negotiation's events contain no duplicate.
func (f *fixture) checkOneMovePerTurn(negotiation solana.PublicKey) {
	f.t.Helper()
	all := f.history(negotiation)
	require.Len(f.t, eventsOf[*protocol.NegotiationCreated](all), 1)
	require.Len(f.t, eventsOf[*protocol.InvitationAccepted](all), 1)
	require.Len(f.t, eventsOf[*protocol.NegotiationSettled](all), 1)
	require.Len(f.t, eventsOf[*protocol.NegotiationClosed](all), 1)
	for i, offer := range eventsOf[*protocol.OfferSubmitted](all) {
		require.Equal(f.t, uint8(i+1), offer.Round)
		want := f.Buyer.PublicKey()
		if i%2 == 1 {
			want = f.Seller.PublicKey()
		}
		require.Equal(f.t, want, offer.Offerer)
	}
}

// checkNoFailedTransactions checks that no wallet transaction failed.
func (f *fixture) checkNoFailedTransactions(wallet solana.PublicKey) {
	f.t.Helper()
	options := &rpc.GetSignaturesForAddressOpts{Commitment: rpc.CommitmentConfirmed}
	listed, err := f.Client.RPC().GetSignaturesForAddressWithOpts(f.ctx, wallet, options)
	require.NoError(f.t, err)
	require.NotEmpty(f.t, listed)
	for _, transaction := range listed {
		require.Nil(f.t, transaction.Err, "transaction %s", transaction.Signature)
	}
}
