package overhead_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
)

// BenchmarkSubscriptions measures the time from the decision to make an offer until another client's listener
// receives the event, while that client holds so many subscriptions on a single connection. It also reports
// the memory per subscription, and the time until all subscriptions are restored when the connection was cut.
func BenchmarkSubscriptions(b *testing.B) {
	net := startNet(b)
	for _, many := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(many), func(b *testing.B) { benchmarkSubscriptions(b, net, many) })
	}
}

func benchmarkSubscriptions(b *testing.B, net *localnet.Net, many int) {
	connection := newRelay(b, net.Chain.WSURL())
	client, err := haggle.NewClient(haggle.Config{Endpoint: net.Chain.RPCURL(), WSEndpoint: connection.url})
	require.NoError(b, err)
	defer client.Close()
	n := bargain(b, net.Client, net)
	before := memoryInUse()
	subscription, err := client.Watch(b.Context(), n.Address)
	require.NoError(b, err)
	all := append(watchOthers(b, client, many-1), subscription)
	require.Equal(b, 1, connection.connections(), "one connection")
	each := float64(memoryInUse()-min(before, memoryInUse())) / float64(many)

	began := time.Now()
	connection.cut()
	for connection.connections() < 2 || !allConnected(all) {
		time.Sleep(time.Millisecond)
	}
	reconnected := time.Since(began)
	require.Equal(b, 2, connection.connections())

	for b.Loop() {
		if n.RoundsLeft() == 0 {
			b.Fatal("there are no rounds left: see -benchtime")
		}
		receipt, err := offer(b, net.Client, net, n)
		require.NoError(b, err)
		for seen := range subscription.Events() {
			if seen.Signature == receipt.Signature {
				break
			}
		}
		b.StopTimer()
		n, err = net.Client.Negotiation(n.Address).Snapshot(b.Context())
		require.NoError(b, err)
		b.StartTimer()
	}
	b.ReportMetric(each, "B/subscription")
	b.ReportMetric(float64(reconnected.Milliseconds()), "ms/reconnect")
}

func TestSubscriptionsShareAConnectionAndAreMadeAgain(t *testing.T) {
	net := startNet(t)
	connection := newRelay(t, net.Chain.WSURL())
	client, err := haggle.NewClient(haggle.Config{Endpoint: net.Chain.RPCURL(), WSEndpoint: connection.url})
	require.NoError(t, err)
	defer client.Close()
	n := bargain(t, net.Client, net)
	subscription, err := client.Watch(t.Context(), n.Address)
	require.NoError(t, err)
	all := append(watchOthers(t, client, 500), subscription)
	require.Equal(t, 1, connection.connections())
	connection.cut()
	require.Eventually(t, func() bool { return connection.connections() == 2 && allConnected(all) }, time.Minute, 10*time.Millisecond)
	receipt, err := offer(t, net.Client, net, n)
	require.NoError(t, err)
	require.Equal(t, receipt.Signature, (<-subscription.Events()).Signature)
	require.Equal(t, 2, connection.connections())
}

// watchOthers subscribes to negotiations without events.
func watchOthers(t testing.TB, client *haggle.Client, many int) []*haggle.Subscription {
	t.Helper()
	const atOnce = 16
	subscriptions, failed := make([]*haggle.Subscription, many), make([]error, many)
	var group sync.WaitGroup
	for worker := range atOnce {
		group.Go(func() {
			for n := worker; n < many; n += atOnce {
				subscriptions[n], failed[n] = client.Watch(context.WithoutCancel(t.Context()), quiet(n))
			}
		})
	}
	group.Wait()
	for _, err := range failed {
		require.NoError(t, err)
	}
	return subscriptions
}

// quiet returns an address where no account exists.
func quiet(n int) (address solana.PublicKey) {
	binary.BigEndian.PutUint64(address[24:], uint64(n)+1<<32)
	return address
}

func allConnected(subscriptions []*haggle.Subscription) bool {
	for _, subscription := range subscriptions {
		if !subscription.Lag().Connected {
			return false
		}
	}
	return true
}

// memoryInUse returns the memory of this process in bytes, stacks included.
func memoryInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc + stats.StackInuse
}
