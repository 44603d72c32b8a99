package hire_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/internal/hire/service"
	homestore "github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/internal/hire/transport"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/party"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// The variables that turn this binary into a plan's process.
const (
	envPlan = "HAGGLE_HIRE_TEST_PLAN"
	envRole = "HAGGLE_HIRE_TEST_ROLE"
)

// The roles. A seeker's role includes a number: seeker0.
const (
	roleHome   = "home"
	roleWorker = "worker"
	roleSeeker = "seeker"
)

// plan contains the data common to all processes.
type plan struct {
	Folder, RPC, WS, Listen string
	Mint, Arbiter           string
	// Database is the home's.
	Database string
	// Seekers is the number of seekers.
	Seekers int
	// Purchases is the number of purchases per seeker.
	Purchases int
}

func (p *plan) origin() string          { return "http://" + p.Listen }
func (p *plan) path(name string) string { return filepath.Join(p.Folder, name) }
func (p *plan) assets() []hire.Asset {
	return []hire.Asset{{Symbol: "TEST", Mint: hire.Base58(p.Mint), Decimals: 6}}
}
func (p *plan) conversation(n int) string { return fmt.Sprintf("order-%d", n) }

// seekers returns the roles of the seekers.
func (p *plan) seekers() []string {
	roles := make([]string, p.Seekers)
	for n := range roles {
		roles[n] = fmt.Sprintf("%s%d", roleSeeker, n)
	}
	return roles
}

// content is what the worker delivers for a purchase.
func content(seeker, conversation string) []byte { return []byte(conversation + " of " + seeker) }

// key returns a wallet's key.
func (p *plan) key(name string) (*wallet.Keypair, error) {
	return wallet.LoadKeypairFile(p.path(name + ".json"))
}

func messageKey(key *wallet.Keypair) ed25519.PrivateKey { return ed25519.PrivateKey(key.PrivateKey()) }

// play runs a plan's process.
func play(path, role string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	p := new(plan)
	if err := json.Unmarshal(text, p); err != nil {
		return err
	}
	switch {
	case role == roleHome:
		return p.home(context.Background())
	case role == roleWorker:
		return p.worker(context.Background())
	case strings.HasPrefix(role, roleSeeker):
		return p.seeker(context.Background(), role)
	}
	return errors.New("no such role")
}

// home serves the worker's home.
func (p *plan) home(ctx context.Context) error {
	worker, err := p.key(roleWorker)
	if err != nil {
		return err
	}
	settlement, err := p.key("settlement")
	if err != nil {
		return err
	}
	client, err := haggle.NewClient(haggle.Config{Endpoint: p.RPC, WSEndpoint: p.WS})
	if err != nil {
		return err
	}
	genesis, err := client.RPC().GetGenesisHash(ctx)
	if err != nil {
		return err
	}
	opened, err := homestore.Open(ctx, p.Database)
	if err != nil {
		return err
	}
	home, err := service.New(service.Config{
		Store: opened, ID: p.origin(), Key: messageKey(worker).Public().(ed25519.PublicKey), Client: &hire.Client{Local: true},
		Settlement: &service.Settlement{
			Key: messageKey(settlement), Genesis: genesis, Assets: p.assets(), Snapshots: client.Snapshots,
		},
	})
	if err != nil {
		return err
	}
	card, err := hire.SignCard(messageKey(worker), nil, hire.Card{
		ID: p.origin(), Inbox: p.origin() + hire.InboxPath, Settlement: hire.Base58(settlement.PublicKey().String()),
	})
	if err != nil {
		return err
	}
	server, err := transport.NewServer(transport.Config{Service: home, Origin: p.origin(), Card: card})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", p.Listen)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return home.Run(ctx) })
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return group.Wait()
}

// config returns the configuration for an agent, with a journal in a separate state file.
func (p *plan) config(ctx context.Context, role, id string, key *wallet.Keypair) (party.Config, error) {
	state, err := sqlite.Open(ctx, p.path(role+".db"))
	if err != nil {
		return party.Config{}, err
	}
	client, err := haggle.NewClient(haggle.Config{Endpoint: p.RPC, WSEndpoint: p.WS, Journal: state})
	if err != nil {
		return party.Config{}, err
	}
	local := &hire.Client{Local: true}
	return party.Config{
		Home:     &hire.Home{Origin: p.origin(), Agent: id, Key: messageKey(key), Client: local},
		Resolver: &hire.Resolver{Client: local, Pins: state.HirePins()}, Assets: p.assets(),
		Limits: party.Limits{
			Prices: map[string]party.PriceLimits{
				"TEST": {Least: 3e6, Most: 5e6, SingleSourceUpTo: 10e6, FinalizedAbove: 10e6},
			},
			Arbiters: []hire.Base58{hire.Base58(p.Arbiter)}, Shortest: time.Minute, Longest: 24 * time.Hour,
		},
		Chain: &party.Chain{Client: client, Wallet: key},
	}, nil
}

// worker bargains and delivers.
func (p *plan) worker(ctx context.Context) error {
	key, err := p.key(roleWorker)
	if err != nil {
		return err
	}
	config, err := p.config(ctx, roleWorker, p.origin(), key)
	if err != nil {
		return err
	}
	player := party.Player{Strategy: strategy.Linear(), Opening: 6e6, Reservation: 3e6}
	worker, err := party.NewWorker(party.Worker{
		Config: config, Quote: player.Decide,
		Deliver: func(_ context.Context, c party.Contract) ([]byte, error) {
			time.Sleep(200 * time.Millisecond)
			return content(c.Counterpart, c.Conversation), nil
		},
	})
	if err != nil {
		return err
	}
	return worker.Run(ctx)
}

// seeker buys until all purchases are settled.
func (p *plan) seeker(ctx context.Context, role string) error {
	key, err := p.key(role)
	if err != nil {
		return err
	}
	self := key.PublicKey().String()
	config, err := p.config(ctx, role, self, key)
	if err != nil {
		return err
	}
	player := party.Player{Strategy: strategy.Linear(), Opening: 2e6, Reservation: 5e6}
	seeker, err := party.NewSeeker(party.Seeker{
		Config: config, Decide: player.Decide,
		Review: func(_ context.Context, c party.Contract, d party.Delivery) (party.Verdict, error) {
			if string(d.Content) != string(content(self, c.Conversation)) {
				return party.Dispute, nil
			}
			return party.Release, nil
		},
	})
	if err != nil {
		return err
	}
	running, stop := context.WithCancelCause(ctx)
	go func() { stop(seeker.Run(running)) }()
	group, ctx := errgroup.WithContext(running)
	for n := range p.Purchases {
		group.Go(func() error {
			time.Sleep(time.Duration(n) * 500 * time.Millisecond)
			return p.buy(ctx, seeker, p.conversation(n))
		})
	}
	return group.Wait()
}

// buy hires until the deal is settled: a kill can let the time for a reply pass.
func (p *plan) buy(ctx context.Context, seeker *party.SeekerRuntime, conversation string) error {
	for {
		result, err := seeker.Hire(ctx, party.Request{
			Conversation: conversation, Worker: p.origin(), Task: conversation, Symbol: "TEST", Price: 2e6,
			Deadline: time.Now().Add(time.Hour).Truncate(time.Second), Arbiter: hire.Base58(p.Arbiter),
		})
		switch {
		case err != nil:
			return err
		case result.Outcome == party.Settled && result.Paid == result.Price:
			return nil
		case result.Outcome != party.Abandoned && !(result.Outcome == party.Declined && result.Code == party.CodeUnavailable):
			return fmt.Errorf("%s: %s %s %v", conversation, result.Outcome, result.Code, result.Err)
		}
	}
}

// tokens returns an owner's balance, in base units.
func tokens(ctx context.Context, net *localnet.Net, owner solana.PublicKey) (uint64, error) {
	account, _, err := solana.FindAssociatedTokenAddress(owner, net.Mint)
	if err != nil {
		return 0, err
	}
	return net.Chain.Tokens(ctx, account)
}
