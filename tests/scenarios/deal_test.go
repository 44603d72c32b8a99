package scenarios

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// deal is a scenario's negotiation.
type deal struct {
	*fixture
	address, vault solana.PublicKey
	session        uint64
	// key is the creation's; empty if invite did not create the deal.
	key string
	// created is the negotiation's created_at, in Unix seconds.
	created int64
}

// service is the traded service.
var service = protocol.ServiceHash("Analyze 10,000 Solana transactions for whale patterns")

// decimals returns the decimals of the scenario's mint.
func (s *fixture) decimals() uint8 {
	if s.wrapped {
		return 9
	}
	return localnet.Decimals
}

// terms returns the terms of the published cost scenario: 5,000,000 base units, 200 basis points a round, up
// to ten rounds.
func (s *fixture) terms() haggle.CreateRequest {
	decay := uint16(200)
	return haggle.CreateRequest{
		Buyer: s.buyer.PublicKey(), Seller: s.seller.PublicKey(), Mint: s.mint, Decimals: s.decimals(),
		EscrowAmount: fiveTokens, ServiceHash: service, DecayRateBps: &decay, MaxRounds: 10,
		Key: rand.Text(),
	}
}

// termsOf returns the same terms for another escrow.
func (s *fixture) termsOf(escrow uint64) haggle.CreateRequest {
	terms := s.terms()
	terms.EscrowAmount = escrow
	return terms
}

// invite creates a negotiation whose invitation is not yet accepted by the seller.
func (s *fixture) invite(terms haggle.CreateRequest) (*deal, *haggle.Receipt) {
	s.t.Helper()
	action, err := s.venue.client.CreateNegotiation(terms).Build(s.ctx)
	require.NoError(s.t, err)
	receipt, err := action.Do(s.ctx, s.buyer)
	require.NoError(s.t, err)
	d := s.dealOf(action)
	d.key = terms.Key
	return d, receipt
}

// dealOf returns a finished creation's deal.
func (s *fixture) dealOf(action *haggle.Action) *deal {
	s.t.Helper()
	d := &deal{fixture: s, address: action.Negotiation, vault: action.Creation.EscrowVault, session: action.Creation.SessionID}
	d.created = d.state().CreatedAt
	return d
}

// bargain creates a negotiation where the buyer makes the next offer.
func (s *fixture) bargain(terms haggle.CreateRequest) *deal {
	s.t.Helper()
	d, _ := s.invite(terms)
	s.do(d.takePart(s.seller))
	return d
}

// offers makes offers in turn, starting with the side on turn.
func (d *deal) offers(amounts ...uint64) {
	d.t.Helper()
	for _, amount := range amounts {
		d.do(d.offer(d.onTurn(), amount))
	}
}

func (d *deal) onTurn() party {
	if d.state().Turn() == protocol.OfferSideBuyer {
		return d.buyer
	}
	return d.seller
}

func (d *deal) state() *haggle.Snapshot {
	d.t.Helper()
	state, err := d.venue.client.Negotiation(d.address).Snapshot(d.ctx)
	require.NoError(d.t, err)
	return state
}

func (d *deal) takePart(by party) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		seen, err := d.venue.client.Negotiation(d.address).Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		return d.venue.client.At(seen).AcceptInvitation(by.PublicKey(), [32]byte{}, d.decimals(),
			haggle.Deposit{}).Build(ctx)
	}}
}

func (d *deal) offer(by party, amount uint64) move {
	return d.offerWith(by, amount, [64]byte{})
}

func (d *deal) offerWith(by party, amount uint64, metadata [64]byte) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(d.address).SubmitOffer(by.PublicKey(), haggle.Offer{Amount: amount, Metadata: metadata}).Build(ctx)
	}}
}

func (d *deal) accept(by party) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		seen, err := d.venue.client.Negotiation(d.address).Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		return d.venue.client.At(seen).AcceptOffer(by.PublicKey(), 0).Build(ctx)
	}}
}

func (d *deal) reject(by party) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(d.address).Reject(by.PublicKey()).Build(ctx)
	}}
}

func (d *deal) expire(by party) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(d.address).Expire(by.PublicKey()).Build(ctx)
	}}
}

func (d *deal) claim(by party, destination solana.PublicKey) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(d.address).ClaimPayout(by.PublicKey(), destination).Build(ctx)
	}}
}

// claimOf is an attempt to claim an amount, which may differ from the recorded one.
func (d *deal) claimOf(by party, destination solana.PublicKey, amount uint64) move {
	return raw(by, &protocol.ClaimPayout{
		Party: by.PublicKey(), Negotiation: d.address, DestinationTokenAccount: destination, TokenMint: d.mint,
		TokenProgram: d.tokenProgram, CreatedAt: d.created, Amount: amount,
	})
}

// delivery names the accounts to close to. If zero, the parties' associated accounts are used.
type delivery struct {
	toBuyer, toSeller solana.PublicKey
}

func (d *deal) closeTo(by party, to delivery) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		// A rejected closing skips the wait in the SDK's action.
		if err := d.passCreation(ctx); err != nil {
			return nil, err
		}
		return d.venue.client.Negotiation(d.address).Close(by.PublicKey()).PayTo(haggle.TokenAccounts{Buyer: to.toBuyer, Seller: to.toSeller}).Build(ctx)
	}}
}

// closeUndelivered is an attempt to close without accounts for the recorded payouts.
func (d *deal) closeUndelivered(by party) move {
	closing := raw(by, &protocol.CloseNegotiation{
		Closer: by.PublicKey(), Negotiation: d.address, Buyer: d.buyer.PublicKey(),
		TreasuryTokenAccount: d.treasuryAccount, TokenMint: d.mint, TokenProgram: d.tokenProgram,
	})
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		if err := d.passCreation(ctx); err != nil {
			return nil, err
		}
		return closing.build(ctx)
	}}
}

// passCreation waits until the second of creation is over. The program closes nothing in that second.
func (d *deal) passCreation(ctx context.Context) error {
	for {
		now, err := d.venue.client.Now(ctx)
		if err != nil || now > d.created {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (d *deal) close(by party) move { return d.closeTo(by, delivery{}) }

// the returns the only event of type E in a transaction.
func the[E protocol.Event](t *testing.T, receipt *haggle.Receipt) E {
	t.Helper()
	var found []E
	for _, event := range receipt.Events {
		if event, ok := event.(E); ok {
			found = append(found, event)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}
