package ledger

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// Options configure a ledger. Module is required.
type Options struct {
	// Module runs the ledger's engine. It must stay open as long as the ledger.
	Module *engine.Module
	// Faucet pays for airdrops. If nil, a new key is used.
	Faucet solana.PrivateKey
	// Now returns block times. If nil, time.Now is used.
	Now func() time.Time
	// History is the number of blocks that the ledger keeps, with their transactions. If zero, 100,000 is
	// used; the minimum is 512.
	History int
}

const (
	defaultHistory = 100_000
	leastHistory   = 512
	// LamportsPerSignature is the fee per transaction signature, besides the priority fee.
	LamportsPerSignature = 5000
	// FaucetLamports is the faucet's balance on a new ledger, as on a new solana-test-validator.
	FaucetLamports = 500_000_000 * solana.LAMPORTS_PER_SOL
)

// Ledger is a chain, as a node sees it. It is safe for concurrent use.
type Ledger struct {
	*chain
	// behind is how many slots this node is behind: see [Ledger.Behind].
	behind uint64
}

// chain is what all nodes share.
type chain struct {
	lock     sync.Mutex
	module   *engine.Module
	engine   *engine.Engine
	faucet   solana.PrivateKey
	history  int
	now      func() time.Time
	watchers map[*watcher]struct{}
	closed   bool

	state
}

// state is a snapshot's content. Blocks, accounts and transactions never change once they are stored, except
// for the open block.
type state struct {
	genesis solana.Hash
	// offset is added to block times.
	offset time.Duration
	// blocks have consecutive slots. The last block is open.
	blocks []*Block
	// hashes maps the blockhashes that transactions can use, or could lately, to their slots.
	hashes       map[solana.Hash]uint64
	accounts     map[solana.PublicKey]*engine.Account
	owned        map[solana.PublicKey]map[solana.PublicKey]struct{}
	transactions map[solana.Signature]*Transaction
	mentions     map[solana.PublicKey][]*Transaction
	count        uint64
	// forks is the number of forks. It makes the hashes of replaced blocks differ.
	forks uint64
}

// New returns a ledger with a first, open block. Close releases it.
func New(ctx context.Context, options Options) (*Ledger, error) {
	if options.Module == nil {
		return nil, errors.New("ledger: Module not set")
	}
	l := &Ledger{chain: &chain{
		module: options.Module, faucet: options.Faucet, now: options.Now, history: options.History,
		watchers: map[*watcher]struct{}{},
	}}
	if l.now == nil {
		l.now = time.Now
	}
	if l.history == 0 {
		l.history = defaultHistory
	}
	if l.history < leastHistory {
		return nil, fmt.Errorf("ledger: History must be at least %d", leastHistory)
	}
	var err error
	if l.faucet == nil {
		if l.faucet, err = solana.NewRandomPrivateKey(); err != nil {
			return nil, err
		}
	}
	if l.engine, err = options.Module.New(ctx); err != nil {
		return nil, err
	}
	if err := l.begin(); err != nil {
		return nil, errors.Join(err, l.engine.Close())
	}
	return l, nil
}

// begin copies the engine's accounts, funds the faucet and opens the first blocks.
func (l *Ledger) begin() error {
	l.state = state{
		hashes:       map[solana.Hash]uint64{},
		accounts:     map[solana.PublicKey]*engine.Account{},
		owned:        map[solana.PublicKey]map[solana.PublicKey]struct{}{},
		transactions: map[solana.Signature]*Transaction{},
		mentions:     map[solana.PublicKey][]*Transaction{},
	}
	if _, err := rand.Read(l.genesis[:]); err != nil {
		return err
	}
	entries, err := l.engine.Accounts()
	if err != nil {
		return err
	}
	for _, entry := range entries {
		l.mirror(entry.Address, entry.Account)
	}
	if err := l.setAccount(l.faucet.PublicKey(), engine.Account{
		Lamports: FaucetLamports, Owner: solana.SystemProgramID, RentEpoch: rentExempt,
	}); err != nil {
		return err
	}
	if err := l.setAccount(solana.WrappedSol, nativeMint()); err != nil {
		return err
	}
	// Transactions need a closed block's hash.
	for range 2 {
		if err := l.open(); err != nil {
			return err
		}
	}
	return nil
}

// nativeMint returns the SPL Token mint of wrapped SOL, which every cluster has.
func nativeMint() engine.Account {
	data := make([]byte, mintSize)
	data[mintDecimals], data[mintInitialized] = 9, 1
	return engine.Account{
		Lamports: solana.LAMPORTS_PER_SOL, Owner: solana.TokenProgramID, RentEpoch: rentExempt, Data: data,
	}
}

// Close releases the engine. Methods that execute transactions return engine.ErrClosed afterwards.
func (l *Ledger) Close() error {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.closed = true
	return l.engine.Close()
}

// Genesis returns the random genesis hash.
func (l *Ledger) Genesis() solana.Hash {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.genesis
}
