package hire_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/verify"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// process is a process that is restarted whenever it is killed.
type process struct {
	role string
	plan string

	lock    sync.Mutex
	running *exec.Cmd
	over    bool
	// ended receives the process's error or nil, unless it was killed.
	ended chan error
}

// supervise starts a process, and restarts it after each kill.
func supervise(t *testing.T, plan, role string) *process {
	p := &process{role: role, plan: plan, ended: make(chan error, 1)}
	var done sync.WaitGroup
	done.Go(func() {
		for {
			command := exec.Command(os.Args[0])
			command.Env = append(os.Environ(), envPlan+"="+plan, envRole+"="+role)
			command.Stderr = t.Output()
			p.lock.Lock()
			if p.over {
				p.lock.Unlock()
				return
			}
			err := command.Start()
			p.running = command
			p.lock.Unlock()
			if err == nil {
				err = command.Wait()
			}
			if err == nil || command.ProcessState == nil || command.ProcessState.Exited() {
				p.ended <- err
				return
			}
		}
	})
	t.Cleanup(func() {
		p.lock.Lock()
		p.over = true
		p.lock.Unlock()
		p.kill()
		done.Wait()
	})
	return p
}

// kill kills the process, and reports whether it was running.
func (p *process) kill() bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.running != nil && p.running.Process != nil && p.running.Process.Kill() == nil
}

// number returns a number of the environment.
func number(name string, standard int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return standard
}

// stage is a chain with a plan's wallets.
func stage(t *testing.T, database string, seekers, purchases int) (*localnet.Net, *plan, string) {
	t.Helper()
	chain, err := localnet.Start(t.Context(), localnet.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, chain.Close()) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &plan{
		Folder: t.TempDir(), RPC: chain.Chain.RPCURL(), WS: chain.Chain.WSURL(), Listen: listener.Addr().String(),
		Mint: chain.Mint.String(), Arbiter: chain.Treasury.String(), Database: database,
		Seekers: seekers, Purchases: purchases,
	}
	require.NoError(t, listener.Close())
	for _, name := range append(p.seekers(), roleWorker, "settlement") {
		key, err := wallet.GenerateKeypair()
		require.NoError(t, err)
		require.NoError(t, key.Save(p.path(name+".json")))
		require.NoError(t, chain.Endow(t.Context(), key.PublicKey()))
	}
	text, err := json.Marshal(p)
	require.NoError(t, err)
	path := p.path("plan.json")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return chain, p, path
}

// Seekers, the worker and the home are killed at random moments. Each purchase is settled once, each contract
// leads to a settlement, the balances match the agreed prices, and the home's logs prove this.
func TestKillsLoseNothingAndPayNothingTwice(t *testing.T) {
	for name, database := range map[string]string{"sqlite": t.TempDir() + "/home.db", "postgres": server.Create(t)} {
		t.Run(name, func(t *testing.T) { kills(t, database) })
	}
}

func kills(t *testing.T, database string) {
	seekers, purchases := number("HAGGLE_HIRE_SEEKERS", 2), number("HAGGLE_HIRE_PURCHASES", 6)
	most := number("HAGGLE_HIRE_KILLS", 20)
	chain, p, path := stage(t, database, seekers, purchases)
	before := balances(t, chain, p)
	processes := []*process{supervise(t, path, roleHome), supervise(t, path, roleWorker)}
	for _, role := range p.seekers() {
		processes = append(processes, supervise(t, path, role))
	}
	killed := map[string]int{}
	settled, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for count := 0; count < most; {
			select {
			case <-time.After(100*time.Millisecond + rand.N(500*time.Millisecond)):
			case <-settled:
				return
			case <-t.Context().Done():
				return
			}
			if victim := processes[rand.IntN(len(processes))]; victim.kill() {
				killed[victim.role]++
				count++
			}
		}
	}()
	limit := time.After(time.Duration(number("HAGGLE_HIRE_MINUTES", 4)) * time.Minute)
	for _, seeker := range processes[2:] {
		select {
		case err := <-seeker.ended:
			require.NoError(t, err, seeker.role)
		case err := <-processes[0].ended:
			t.Fatal(roleHome, err)
		case err := <-processes[1].ended:
			t.Fatal(roleWorker, err)
		case <-limit:
			t.Fatal("not all purchases are settled in time; kills: ", killed)
		}
	}
	close(settled)
	<-over
	t.Logf("%d purchases settled, kills: %v", seekers*purchases, killed)

	paid, fees := audited(t, chain, p)
	// The worker's last payment may be in the block that the seeker has seen first.
	require.Eventually(t, func() bool {
		after := balances(t, chain, p)
		if after[roleWorker] != before[roleWorker]+sum(paid)-fees {
			return false
		}
		for _, role := range p.seekers() {
			if after[role] != before[role]-paid[role] {
				return false
			}
		}
		return true
	}, 30*time.Second, 200*time.Millisecond, "balances are those of the agreed prices: paid %v, fees %d, before %v, after %v",
		paid, fees, before, balances(t, chain, p))
}

func sum(of map[string]uint64) (total uint64) {
	for _, value := range of {
		total += value
	}
	return total
}

func balances(t *testing.T, chain *localnet.Net, p *plan) map[string]uint64 {
	t.Helper()
	all := map[string]uint64{}
	for _, name := range append(p.seekers(), roleWorker) {
		key, err := p.key(name)
		require.NoError(t, err)
		all[name], err = tokens(t.Context(), chain, key.PublicKey())
		require.NoError(t, err)
	}
	return all
}

// audited verifies each log with the settlement, and returns the seekers' payments and the fees.
func audited(t *testing.T, chain *localnet.Net, p *plan) (paid map[string]uint64, fees uint64) {
	t.Helper()
	worker, err := p.key(roleWorker)
	require.NoError(t, err)
	settlement, err := p.key("settlement")
	require.NoError(t, err)
	options := verify.Options{
		Rules: hire.Rules{System: settlement.PublicKey().String()}, Assets: p.assets(),
		Key: func(_ context.Context, id string) (ed25519.PublicKey, error) {
			if id == p.origin() {
				return messageKey(worker).Public().(ed25519.PublicKey), nil
			}
			return hire.KeyOf(id)
		},
	}
	paid = map[string]uint64{}
	negotiations := map[string]bool{}
	for _, role := range p.seekers() {
		key, err := p.key(role)
		require.NoError(t, err)
		home := &hire.Home{
			Origin: p.origin(), Agent: key.PublicKey().String(), Key: messageKey(key), Client: &hire.Client{Local: true},
		}
		for i := range p.Purchases {
			report := verified(t, chain, home, p.conversation(i), options)
			settled := 0
			for _, deal := range report.Deals {
				require.Equal(t, 2, deal.Contracts, "each agreement has its contract: %+v", report)
				require.Equal(t, "Settled", deal.Settlement.Status, "each contract reaches its settlement: %+v", report)
				require.Equal(t, deal.Settlement.Escrow, deal.Settlement.Paid)
				require.False(t, negotiations[deal.Negotiation], "a negotiation settles one agreement")
				negotiations[deal.Negotiation] = true
				paid[role] += deal.Settlement.Paid
				fees += deal.Settlement.Fee
				settled++
			}
			require.Equal(t, 1, settled, "a purchase is paid once: %+v", report)
		}
	}
	return paid, fees
}

// verified waits for both copies of the contract, and verifies the log.
func verified(
	t *testing.T, chain *localnet.Net, home *hire.Home, conversation string, options verify.Options,
) *verify.Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		log, err := home.Log(ctx, conversation, home.Agent)
		require.NoError(t, err)
		links, err := verify.Links(log)
		require.NoError(t, err)
		report, err := verify.Log(ctx, links, options)
		require.NoError(t, err)
		require.Empty(t, report.Findings)
		if last := len(report.Deals) - 1; last >= 0 && report.Deals[last].Contracts == 2 {
			require.NoError(t, report.Chain(ctx, chain.Client))
			require.Empty(t, report.Findings)
			return report
		}
		time.Sleep(200 * time.Millisecond)
	}
}
