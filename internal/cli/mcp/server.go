// Package mcp offers the steps in an on-chain negotiation as Model Context Protocol tools. The server runs
// beside the wallet, over stdio, and signs only what a spending policy allows.
//
// The counterparty's text never becomes part of results: they contain only addresses, numbers, hashes and
// this package's words. Text from a node appears only in error details, bounded and marked as untrusted.
// Arguments do not reach the counterparty as text either: services are hashed.
package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/haggle-protocol/haggle/internal/cli/mint"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/policy"
)

// DefaultWait is how long a call waits for transaction confirmation.
const DefaultWait = 30 * time.Second

// Config contains everything used by the tools. All fields are required except Wait.
type Config struct {
	// Client needs a journal, which prevents repeated execution.
	Client *haggle.Client
	// Wallet signs within the policy limits. Nothing else signs.
	Wallet *policy.Policy
	// Limits is Wallet's configuration, and Usage reads the usage records.
	Limits policy.Config
	Usage  func(context.Context) ([]policy.Record, error)
	// Wait limits a call that sends. If 0, DefaultWait is used.
	Wait time.Duration
	// Version is reported in the server's description.
	Version string
}

const instructions = `Negotiate a price on Solana and settle it from escrow. haggle_status without arguments
lists your open negotiations, haggle_budget shows your money and the owner's limits,
haggle_await_invitation waits for a buyer, and haggle_suggest suggests your next move. Follow "next" in each answer. Use dry_run before you send money.
Amounts are tokens ("3.5") or base units ("3500000u"). After the outcome "unknown" call haggle_status before
you send anything again. A denial by the policy is final: report it, and do not work around it. Each sending
call names the state that you have read, and the program refuses another one. haggle_close returns the rent
of an ended negotiation to the buyer.`

// server holds the state shared by the calls.
type server struct {
	Config
	// sending has an element while a call sends: the wallet carries out one action at a time.
	sending chan struct{}

	lock  sync.Mutex
	mints map[solana.PublicKey]mint.Mint
	// keys maps idempotency keys to the calls that sent a transaction.
	keys map[string]keyedCall
	// pending maps negotiations to transactions with unknown outcome.
	pending map[solana.PublicKey]pendingTransaction
}

// New returns a server with the wallet's tools.
func New(config Config) *mcp.Server {
	if config.Wait == 0 {
		config.Wait = DefaultWait
	}
	s := &server{
		Config: config, sending: make(chan struct{}, 1), mints: map[solana.PublicKey]mint.Mint{},
		keys: map[string]keyedCall{}, pending: map[solana.PublicKey]pendingTransaction{},
	}
	// The server logs nothing to its client, so it does not declare the logging capability.
	m := mcp.NewServer(&mcp.Implementation{Name: "haggle", Title: "Haggle", Version: config.Version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}})
	s.addTools(m)
	return m
}

// me returns the wallet's address.
func (s *server) me() solana.PublicKey { return s.Wallet.PublicKey() }

// amountText formats an amount in an error: in tokens without the symbol if the mint is known. See [Amount].
func (s *server) amountText(address solana.PublicKey, units uint64) string {
	s.lock.Lock()
	known, is := s.mints[address]
	s.lock.Unlock()
	if !is {
		return mint.Offline(address, units)
	}
	return known.Tokens(units).Decimal() + " tokens"
}

// pinned reads a mint, and records its decimals at their first use: see [mint.Mint.Pin].
func (s *server) pinned(ctx context.Context, address solana.PublicKey) (mint.Mint, error) {
	read, err := s.mint(ctx, address)
	if err != nil {
		return read, err
	}
	return read, read.Pin(ctx, s.Client)
}

// mint reads a mint once.
func (s *server) mint(ctx context.Context, address solana.PublicKey) (mint.Mint, error) {
	s.lock.Lock()
	known, is := s.mints[address]
	s.lock.Unlock()
	if is {
		return known, nil
	}
	read, err := mint.Read(ctx, s.Client, address)
	if err != nil {
		return mint.Mint{}, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.mints[address] = read
	return read, nil
}
