package hiretest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Chain contains negotiations opened by a test, in devnet tokens.
type Chain struct {
	lock         *sync.Mutex
	negotiations map[solana.PublicKey]*haggle.Snapshot
	// Looks counts negotiation reads.
	Looks int
	// Looked has a value after each request.
	Looked chan struct{}
}

// NewChain returns an empty chain.
func NewChain() *Chain {
	return &Chain{
		lock: new(sync.Mutex), negotiations: map[solana.PublicKey]*haggle.Snapshot{}, Looked: make(chan struct{}, 1),
	}
}

// Snapshots returns negotiations, nil for those that do not exist.
func (c *Chain) Snapshots(
	_ context.Context, _ rpc.CommitmentType, addresses ...solana.PublicKey,
) (all []*haggle.Snapshot, err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, address := range addresses {
		c.Looks++
		all = append(all, c.negotiations[address])
	}
	select {
	case c.Looked <- struct{}{}:
	default:
	}
	return all, nil
}

// Clear deletes all negotiations.
func (c *Chain) Clear() {
	c.lock.Lock()
	defer c.lock.Unlock()
	clear(c.negotiations)
}

// Open creates a conversation's required negotiation, after applying change.
func (c *Chain) Open(
	t testing.TB, k *Talk, state hire.State, now time.Time, change func(*haggle.Snapshot),
) escrow.Terms {
	t.Helper()
	terms, err := escrow.Of(state, k.Seeker.Public(), k.Worker.Public(), escrow.Assets("devnet"))
	require.NoError(t, err)
	address, err := terms.Address()
	require.NoError(t, err)
	created := now.Unix()
	n := &haggle.Snapshot{Address: address, Time: created, Negotiation: protocol.Negotiation{
		Buyer: terms.Seeker, Seller: terms.Worker, SessionID: terms.Session, TokenMint: terms.Mint,
		EscrowAmount: terms.Price, ServiceHash: terms.Service, MaxRounds: 1, ResponseWindow: 300,
		GlobalDeadline: created + 1800, TurnDeadline: created + 1800, CreatedAt: created, Arbiter: terms.Arbiter,
		ReviewHours: 24, MilestoneBps: [8]uint16{10_000}, MilestoneDeadline: terms.Deadline.Unix() + 24*3600 + 60,
	}}
	change(n)
	c.lock.Lock()
	defer c.lock.Unlock()
	c.negotiations[address] = n
	return terms
}
