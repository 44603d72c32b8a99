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
	"github.com/haggle-protocol/haggle/sdk/journal"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Where a process of the test binary that is to be an agent finds what it needs.
const (
	envEndpoint   = "AGENT_TEST_ENDPOINT"
	envWSEndpoint = "AGENT_TEST_WS_ENDPOINT"
	envKeypair    = "AGENT_TEST_KEYPAIR"
	envJournal    = "AGENT_TEST_JOURNAL"
	envMint       = "AGENT_TEST_MINT"
)

func TestMain(m *testing.M) {
	if os.Getenv(envKeypair) != "" {
		fmt.Fprintln(os.Stderr, beBuyer())
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// beBuyer is an agent until it is killed.
func beBuyer() error {
	me, err := haggle.LoadKeypairFile(os.Getenv(envKeypair))
	if err != nil {
		return err
	}
	config := haggle.Config{Endpoint: os.Getenv(envEndpoint), WSEndpoint: os.Getenv(envWSEndpoint)}
	if path := os.Getenv(envJournal); path != "" {
		book, err := journal.Open(path)
		if err != nil {
			return err
		}
		defer book.Close()
		config.Journal = book
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
		Decide: concede(2_000_000, 300_000, true), Mints: map[solana.PublicKey]agent.Limits{mint: {MaxPrice: 5_000_000}},
	})
	if err != nil {
		return err
	}
	return buyer.Run(context.Background())
}

// An agent that is killed again and again, and each time started again at once.
func TestKilledAgentMakesOneOfferPerTurn(t *testing.T) {
	for name, withJournal := range map[string]bool{"journal": true, "no journal": false} {
		t.Run(name, func(t *testing.T) {
			s := setStage(t)
			killUntilDone(s, withJournal)
		})
	}
}

func killUntilDone(s *stage, withJournal bool) {
	const negotiations = 6
	folder := s.t.TempDir()
	keypair := filepath.Join(folder, "buyer.json")
	require.NoError(s.t, s.Buyer.Save(keypair))
	environment := append(os.Environ(),
		envEndpoint+"="+s.Chain.RPCURL, envWSEndpoint+"="+s.Chain.WSURL, envKeypair+"="+keypair, envMint+"="+s.Mint.String())
	if withJournal {
		environment = append(environment, envJournal+"="+filepath.Join(folder, "journal"))
	}
	var all []solana.PublicKey
	for range negotiations {
		all = append(all, s.invite(func(r *haggle.CreateRequest) {
			r.MaxRounds, r.ResponseWindow, r.Deadline = 12, time.Hour, 10*time.Hour
		}))
	}
	seller := s.run(s.Seller, agent.Config{Decide: concede(4_500_000, 300_000, false), Services: [][32]byte{service}})
	random := rand.New(rand.NewPCG(1, 2))
	kills := 0
	for len(s.open(all)) > 0 {
		require.NoError(s.t, s.ctx.Err())
		moves := len(seller.did())
		s.live(environment, func() bool {
			if len(seller.did()) > moves {
				// It is about to react, or in the middle of that.
				time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
				return true
			}
			return len(s.open(all)) == 0
		})
		kills++
	}
	require.Greater(s.t, kills, 2, "it has not been killed in the middle")
	require.Empty(s.t, seller.failed())
	for _, negotiation := range all {
		s.checkOneMovePerTurn(negotiation)
	}
	if withJournal {
		s.checkNothingFailed(s.Buyer.PublicKey())
	}
	s.t.Logf("killed %d times", kills)
}

// live is one life of the agent.
func (s *stage) live(environment []string, end func() bool) {
	s.t.Helper()
	executable, err := os.Executable()
	require.NoError(s.t, err)
	process := exec.CommandContext(s.ctx, executable)
	process.Env = environment
	process.Stderr = os.Stderr
	require.NoError(s.t, process.Start())
	defer func() { _ = process.Wait() }()
	s.until("the end of a life", end)
	require.NoError(s.t, process.Process.Kill())
}

// open are those of some negotiations that have not been closed.
func (s *stage) open(all []solana.PublicKey) []solana.PublicKey {
	s.t.Helper()
	var open []solana.PublicKey
	for _, negotiation := range all {
		if s.state(negotiation) != nil {
			open = append(open, negotiation)
		}
	}
	return open
}

// checkOneMovePerTurn finds out whether a negotiation has gone from its beginning to its end with each move
// made once.
func (s *stage) checkOneMovePerTurn(negotiation solana.PublicKey) {
	s.t.Helper()
	all := s.history(negotiation)
	require.Len(s.t, eventsOf[*protocol.NegotiationCreated](all), 1)
	require.Len(s.t, eventsOf[*protocol.InvitationAccepted](all), 1)
	require.Len(s.t, eventsOf[*protocol.NegotiationSettled](all), 1)
	require.Len(s.t, eventsOf[*protocol.NegotiationClosed](all), 1)
	for i, offer := range eventsOf[*protocol.OfferSubmitted](all) {
		require.Equal(s.t, uint8(i+1), offer.Round)
		want := s.Buyer.PublicKey()
		if i%2 == 1 {
			want = s.Seller.PublicKey()
		}
		require.Equal(s.t, want, offer.Offerer)
	}
}

// checkNothingFailed finds out whether a wallet has paid for nothing in vain.
func (s *stage) checkNothingFailed(wallet solana.PublicKey) {
	s.t.Helper()
	listed, err := s.Client.RPC().GetSignaturesForAddressWithOpts(s.ctx, wallet, &rpc.GetSignaturesForAddressOpts{Commitment: rpc.CommitmentConfirmed})
	require.NoError(s.t, err)
	require.NotEmpty(s.t, listed)
	for _, one := range listed {
		require.Nil(s.t, one.Err, "transaction %s", one.Signature)
	}
}
