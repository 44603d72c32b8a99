package agent_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// waitCounter is a log handler that counts the invitations that wait.
type waitCounter struct{ waits atomic.Int64 }

func (*waitCounter) Enabled(context.Context, slog.Level) bool { return true }

func (c *waitCounter) Handle(_ context.Context, record slog.Record) error {
	if record.Message == "invitation waits" {
		c.waits.Add(1)
	}
	return nil
}

func (c *waitCounter) WithAttrs([]slog.Attr) slog.Handler { return c }

func (c *waitCounter) WithGroup(string) slog.Handler { return c }

// accepted returns the accepted invitations, in order.
func (r *running) accepted() (all []solana.PublicKey) {
	for _, act := range r.acts() {
		if act.Name == "accept_invitation" {
			all = append(all, act.Before.Address)
		}
	}
	return all
}

func TestSellerAcceptsThreeOfThirtyInvitationsOfABuyer(t *testing.T) {
	f := newFixture(t)
	const invitations = 30
	for range invitations {
		f.invite(func(r *haggle.CreateRequest) { r.EscrowAmount = 100_000 })
	}
	counter := &waitCounter{}
	seller := f.run(f.Seller, agent.Config{
		Decide: wait, Services: services, Backoff: time.Nanosecond, Logger: slog.New(counter),
	})
	open := agent.DefaultMaxOpenPerCounterpart
	settle := func(accepted int) {
		f.until("invitations are accepted", func() bool { return len(seller.accepted()) >= accepted })
		time.Sleep(time.Second)
		require.Len(t, seller.accepted(), accepted)
	}
	settle(open)
	require.EqualValues(t, invitations-open, counter.waits.Load(), "each waiting invitation is logged once")
	for i := range 2 {
		f.do(f.Buyer, f.Client.Negotiation(seller.accepted()[i]).Reject(f.Buyer.PublicKey()))
		settle(open + i + 1)
	}
	require.EqualValues(t, invitations-open, counter.waits.Load())
}

func TestSellerHasACapOnAllOpenNegotiations(t *testing.T) {
	f := newFixture(t)
	for range 3 {
		f.invite(func(r *haggle.CreateRequest) { r.EscrowAmount = 100_000 })
	}
	seller := f.run(f.Seller, agent.Config{Decide: wait, Services: services, MaxOpen: 1})
	f.until("an invitation is accepted", func() bool { return len(seller.accepted()) > 0 })
	time.Sleep(time.Second)
	require.Len(t, seller.accepted(), 1)

	// The next invitation of the buyer that rejected waits for the pause.
	first := seller.accepted()[0]
	f.do(f.Buyer, f.Client.Negotiation(first).Reject(f.Buyer.PublicKey()))
	f.until("the rejection is reported", func() bool { return len(seller.results()) == 1 })
	require.Equal(t, protocol.NegotiationStatusRejected, seller.results()[0].Status)
	time.Sleep(time.Second)
	require.Len(t, seller.accepted(), 1)
}
