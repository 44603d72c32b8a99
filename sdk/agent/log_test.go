package agent_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// lines returns the records from a level on as text: message, and each attribute as name=value.
func (c *capturedLog) lines(from slog.Level) (lines []string) {
	for _, record := range c.all() {
		if record.Level < from {
			continue
		}
		line := record.Message
		record.Attrs(func(attribute slog.Attr) bool {
			line += fmt.Sprintf(" %s=%s", attribute.Key, attribute.Value)
			return true
		})
		lines = append(lines, line+" ")
	}
	return lines
}

// requireOrder requires a line with all parts of each step, in this order.
func requireOrder(t *testing.T, lines []string, steps ...[]string) {
	t.Helper()
	rest := lines
	for _, parts := range steps {
		found := slices.IndexFunc(rest, func(line string) bool {
			return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) })
		})
		require.GreaterOrEqual(t, found, 0, "%q in\n%s", parts, strings.Join(lines, "\n"))
		rest = rest[found+1:]
	}
}

// untilLogged blocks until a logged line contains part.
func (f *fixture) untilLogged(log *capturedLog, part string) {
	f.t.Helper()
	f.until(part, func() bool {
		return slices.ContainsFunc(log.lines(slog.LevelInfo), func(line string) bool { return strings.Contains(line, part) })
	})
}

// tokens returns an amount as the command line writes it in columns.
func tokens(units uint64) string {
	return amount.Tokens{Units: units, Decimals: localnet.Decimals}.Decimal()
}

func utc(seconds int64) string { return time.Unix(seconds, 0).UTC().String() }

// The seller never accepts the invitation: the buyer waits, expires the negotiation and closes it.
func TestLogHasWaitAndExpiryBeforeTheyHappen(t *testing.T) {
	f := newFixture(t)
	log, negotiation := &capturedLog{}, f.invite()
	n := f.state(negotiation)
	ended := f.runOne(f.Buyer, negotiation, agent.Config{Decide: wait, Logger: slog.New(log)})
	waiting := fmt.Sprintf("waiting negotiation=%s side=Buyer for=seller round=0 until=%s left=", negotiation,
		utc(n.TurnDeadline))
	f.untilLogged(log, waiting)
	f.advance(20 * time.Minute)
	require.NoError(t, (<-ended).err)
	lines := log.lines(slog.LevelInfo)
	requireOrder(t, lines,
		[]string{"engaged", negotiation.String(), "side=Buyer", "counterpart=" + f.Seller.PublicKey().String(),
			"escrow=" + tokens(5_000_000), "decay bps=200", "max rounds=8", "until=" + utc(n.GlobalDeadline)},
		[]string{waiting, "state=waiting for the seller to accept the invitation"},
		[]string{"no move in time: expiring the negotiation", "of=seller"},
		[]string{"action done", "action=expire_negotiation"},
		[]string{"closing the negotiation", "reason=expired"},
		[]string{"action done", "action=close_negotiation"},
		[]string{"negotiation ended", "status=Expired", "price=" + tokens(0)},
	)
	for _, message := range []string{"engaged", waiting} {
		count := 0
		for _, line := range lines {
			if strings.HasPrefix(line, message) {
				count++
			}
		}
		require.Equal(t, 1, count, message)
	}
}

// The decision does not come in time: the seller's fallback is logged with the price before it is sent.
func TestLogHasTheFallbackBeforeItIsSent(t *testing.T) {
	f := newFixture(t)
	log := &capturedLog{}
	// This is a single base unit above a round number: the limit must not appear in the log.
	const least = 2_000_001
	negotiation := f.invite(func(r *haggle.CreateRequest) { r.ResponseWindow, r.Deadline = 10*time.Minute, time.Hour })
	ended := f.runOne(f.Seller, negotiation, agent.Config{
		Services: services, Margin: 4 * time.Minute, DecisionTime: time.Hour, Mints: f.limits(func(l *agent.Limits) { l.MinPrice = least }),
		Decide: func(ctx context.Context, _ agent.Turn) (agent.Decision, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
		Fallback: agent.Offer{Amount: 4_500_000}, Logger: slog.New(log),
	})
	f.untilLogged(log, "for=buyer round=0")
	f.do(f.Buyer, f.Client.Negotiation(negotiation).SubmitOffer(f.Buyer.PublicKey(), haggle.Offer{Amount: 3_000_000}))
	f.untilLogged(log, "for=own decision round=1")
	f.advance(8*time.Minute + 10*time.Second) // half of the margin is left for the fallback
	f.untilLogged(log, "for=buyer round=2")
	f.do(f.Buyer, f.Client.Negotiation(negotiation).Reject(f.Buyer.PublicKey()))
	end := <-ended
	require.NoError(t, end.err)
	require.Equal(t, protocol.NegotiationStatusRejected, end.result.Status)
	lines := log.lines(slog.LevelInfo)
	requireOrder(t, lines,
		[]string{"engaged", "side=Seller", "escrow=" + tokens(5_000_000)},
		[]string{"waiting", "for=buyer", "round=0"},
		[]string{"waiting", "for=own decision", "round=1"},
		[]string{"no valid decision in time: carrying out the fallback", "decision=offer",
			"price=" + tokens(4_500_000), "round=1"},
		[]string{"action done", "action=submit_offer"},
		[]string{"waiting", "for=buyer", "round=2", "state=waiting for the buyer to answer the seller's offer"},
	)
	for _, line := range lines {
		require.NotContains(t, line, "2000001")
		require.NotContains(t, line, tokens(least))
	}
}
