// Package overhead_test measures the overhead of the SDK: an action's time beyond the requests, and many
// subscriptions sharing a connection. `make bench` runs it and writes docs/BENCHMARKS.md.
package overhead_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// startNet returns a chain with two agents, until the benchmark ends.
func startNet(t testing.TB) *localnet.Net {
	t.Helper()
	net, err := localnet.Start(t.Context(), localnet.Options{Progress: func(line string) { t.Log(line) }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	return net
}

// price is the price in every offer, in the mint's base units.
const price = 2_000_000

// bargain creates a negotiation where the buyer makes the next offer.
func bargain(t testing.TB, client *haggle.Client, net *localnet.Net) *haggle.Snapshot {
	t.Helper()
	created, err := client.CreateNegotiation(haggle.CreateRequest{
		Buyer: net.Buyer.PublicKey(), Seller: net.Seller.PublicKey(), Mint: net.Mint, Decimals: localnet.Decimals,
		ServiceHash:  protocol.ServiceHash("measured"),
		Key:          rand.Text(),
		EscrowAmount: 2 * price, MaxRounds: protocol.MaxRounds, Deadline: time.Hour,
	}).Build(t.Context())
	require.NoError(t, err)
	_, err = created.Do(t.Context(), net.Buyer)
	require.NoError(t, err)
	n, err := client.Negotiation(created.Negotiation).Snapshot(t.Context())
	require.NoError(t, err)
	accepted, err := client.At(n).AcceptInvitation(net.Seller.PublicKey(), n.TermsHash(), localnet.Decimals,
		haggle.Deposit{}).Build(t.Context())
	require.NoError(t, err)
	_, err = accepted.Do(t.Context(), net.Seller)
	require.NoError(t, err)
	n, err = client.Negotiation(created.Negotiation).Snapshot(t.Context())
	require.NoError(t, err)
	return n
}

// offer makes an offer for the side on turn.
func offer(t testing.TB, client *haggle.Client, net *localnet.Net, n *haggle.Snapshot) (*haggle.Receipt, error) {
	t.Helper()
	signer := net.Buyer
	if n.Turn() == protocol.OfferSideSeller {
		signer = net.Seller
	}
	action, err := client.At(n).SubmitOffer(signer.PublicKey(), haggle.Offer{Amount: price}).Build(t.Context())
	if err != nil {
		return nil, err
	}
	return action.Do(t.Context(), signer)
}
