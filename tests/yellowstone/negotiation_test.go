package yellowstone_test

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// escrow is in the mint's base units.
const escrow = 2_000_000

// negotiation is a negotiation between the station's two agents, over plain JSON-RPC.
type negotiation struct {
	*station
	t       *testing.T
	ctx     context.Context
	address solana.PublicKey
	rounds  uint64
}

// prepare returns a negotiation's address and the function that creates it.
func (s *station) prepare(t *testing.T, ctx context.Context) (n *negotiation, create func()) {
	t.Helper()
	action, err := s.Client.CreateNegotiation(haggle.CreateRequest{
		Buyer: s.Buyer.PublicKey(), Seller: s.Seller.PublicKey(), Mint: s.Mint, Decimals: localnet.Decimals,
		EscrowAmount: escrow, Key: rand.Text(),
		ServiceHash: protocol.ServiceHash("What the plugin tells of"), MaxRounds: 20,
	}).Build(ctx)
	require.NoError(t, err)
	n = &negotiation{station: s, t: t, ctx: ctx, address: action.Negotiation}
	return n, func() {
		t.Helper()
		_, err := action.Do(ctx, s.Buyer)
		require.NoError(t, err)
	}
}

// join accepts the invitation for the seller.
func (n *negotiation) join() {
	n.t.Helper()
	seen, err := n.Client.Negotiation(n.address).Snapshot(n.ctx)
	require.NoError(n.t, err)
	accepting, err := n.Client.At(seen).AcceptInvitation(n.Seller.PublicKey(), [32]byte{}, localnet.Decimals,
		haggle.Deposit{}).Build(n.ctx)
	n.do(n.Seller, accepting, err)
}

func (n *negotiation) do(by *wallet.Keypair, action *haggle.Action, err error) {
	n.t.Helper()
	require.NoError(n.t, err)
	_, err = action.Do(n.ctx, by)
	require.NoError(n.t, err)
}

// offer makes offers in turn.
func (n *negotiation) offer(times int) {
	n.t.Helper()
	for range times {
		by := n.Buyer
		if n.rounds%2 == 1 {
			by = n.Seller
		}
		n.rounds++
		action, err := n.Client.Negotiation(n.address).SubmitOffer(by.PublicKey(), haggle.Offer{Amount: escrow/2 + n.rounds}).Build(n.ctx)
		n.do(by, action, err)
	}
}

// end rejects and closes the negotiation for the buyer.
func (n *negotiation) end() {
	n.t.Helper()
	rejecting, err := n.Client.Negotiation(n.address).Reject(n.Buyer.PublicKey()).Build(n.ctx)
	n.do(n.Buyer, rejecting, err)
	closing, err := n.Client.Negotiation(n.address).Close(n.Buyer.PublicKey()).Build(n.ctx)
	n.do(n.Buyer, closing, err)
}

// history returns the result from a client's History.
func history(t *testing.T, client *haggle.Client, address solana.PublicKey) (all []haggle.EventEnvelope) {
	t.Helper()
	for seen, err := range client.History(t.Context(), address) {
		require.NoError(t, err)
		all = append(all, seen)
	}
	return all
}
