package scenarios

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// In a scenario with a bond the seller has 600,000 of the five tokens and deposits 500,000; the buyer
// deposits 4,000,000 as escrow and keeps 400,000.
const (
	bond         = 500_000
	sellersPurse = 600_000
	bondedEscrow = 4_000_000
)

// termsWithBond returns terms that require a bond, and gives the seller the tokens for it.
func (s *fixture) termsWithBond() haggle.CreateRequest {
	s.t.Helper()
	require.NoError(s.t, s.venue.Transfer(s.ctx, s.mint, s.buyer.account, s.seller.account, s.buyer.private, sellersPurse))
	terms := s.termsOf(bondedEscrow)
	terms.Bond = bond
	return terms
}

// emits asserts that these are all events of a transaction, in this order. All share the negotiation's
// address and the time, which need not be set. It returns the time in Unix seconds.
func (d *deal) emits(receipt *haggle.Receipt, want ...protocol.Event) int64 {
	d.t.Helper()
	require.NotEmpty(d.t, receipt.Events)
	at := fieldOf(receipt.Events[0], "Timestamp").Int()
	for _, event := range want {
		fieldOf(event, "NegotiationID").Set(reflect.ValueOf(d.address))
		fieldOf(event, "Timestamp").SetInt(at)
	}
	require.Equal(d.t, want, receipt.Events)
	return at
}

func fieldOf(event protocol.Event, name string) reflect.Value {
	return reflect.ValueOf(event).Elem().FieldByName(name)
}

// settlement returns a negotiation's event if it ends with a price or a paid part of the price.
func (d *deal) settlement(rounds uint8, paid, fee, decay uint64) *protocol.NegotiationSettled {
	return &protocol.NegotiationSettled{
		Buyer: d.buyer.PublicKey(), Seller: d.seller.PublicKey(),
		SettledAmount: paid, TotalRounds: rounds, ProtocolFee: fee, EscrowDecayTotal: decay,
		TokenMint: d.mint, ServiceHash: service,
	}
}

func (d *deal) bondGoesTo(party party, reason protocol.BondReason) *protocol.BondSettled {
	return &protocol.BondSettled{To: party.PublicKey(), Amount: bond, Reason: reason}
}

func (d *deal) rejection(by party, refund uint64) *protocol.NegotiationRejected {
	return &protocol.NegotiationRejected{RejectedBy: by.PublicKey(), RefundAmount: refund}
}

// comparison is a deal whose reservation prices are compared before any offer.
type comparison struct {
	*deal
	buyers, sellers *protocol.SealedPrice
}

// compare creates a negotiation with sealed prices: the buyer's highest and the seller's lowest price.
func (s *fixture) compare(terms haggle.CreateRequest, most, least uint64) comparison {
	s.t.Helper()
	terms.Zopa = true
	d := s.bargain(terms)
	return comparison{d, d.seal(s.buyer, most), d.seal(s.seller, least)}
}

func (d *deal) seal(by party, price uint64) *protocol.SealedPrice {
	d.t.Helper()
	sealed, err := protocol.SealPrice(d.address, &d.state().Negotiation, by.PublicKey(), price)
	require.NoError(d.t, err)
	return sealed
}

// comparisonSteps lists a comparison's steps: their names in scenarios, and the sides whose steps they are.
var comparisonSteps = []struct {
	name string
	by   func(s *fixture) party
}{
	{"buyer_commits", func(s *fixture) party { return s.buyer }},
	{"seller_commits", func(s *fixture) party { return s.seller }},
	{"buyer_reveals", func(s *fixture) party { return s.buyer }},
	{"seller_reveals", func(s *fixture) party { return s.seller }},
}

// sellersReveal is the first step where a seller forfeits the bond by a rejection, until the buyer's first
// offer.
const sellersReveal = 3

// step returns the comparison step with that number, from 0. The seller's reveal does not accept the
// midpoint.
func (c comparison) step(number int) move {
	return []move{
		c.commit(c.buyer, c.buyers), c.commit(c.seller, c.sellers),
		c.reveal(c.buyer, c.buyers), c.revealOnly(c.seller, c.sellers),
	}[number]
}

// reach takes a comparison's first steps.
func (c comparison) reach(steps int) {
	c.t.Helper()
	for number := range steps {
		c.do(c.step(number))
	}
}

func (d *deal) commit(by party, sealed *protocol.SealedPrice) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(sealed.Negotiation()).CommitZopa(sealed).Build(ctx)
	}}
}

func (d *deal) reveal(by party, sealed *protocol.SealedPrice) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(sealed.Negotiation()).RevealZopa(sealed).Build(ctx)
	}}
}

// revealOnly is reveal, but does not accept the midpoint.
func (d *deal) revealOnly(by party, sealed *protocol.SealedPrice) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(sealed.Negotiation()).RevealZopaOnly(sealed).Build(ctx)
	}}
}

// commitTo is an attempt to commit to any bytes; the SDK commits only to the caller's own price.
func (d *deal) commitTo(by party, commitment [32]byte) move {
	return raw(by, &protocol.SubmitZopaCommitment{Agent: by.PublicKey(), Negotiation: d.address, CreatedAt: d.created, Commitment: commitment})
}

// revealOf is an attempt to reveal a price, which may differ from the committed one.
func (d *deal) revealOf(by party, price uint64, nonce [32]byte) move {
	return raw(by, &protocol.RevealZopaPrice{Agent: by.PublicKey(), Negotiation: d.address, CreatedAt: d.created, Price: price, Nonce: nonce})
}

// nonceIn returns the nonce in a reveal, which is public.
func (d *deal) nonceIn(reveal move) [32]byte {
	d.t.Helper()
	action, err := reveal.build(d.ctx)
	require.NoError(d.t, err)
	last := action.Instructions[len(action.Instructions)-1]
	data, err := last.Data()
	require.NoError(d.t, err)
	var shown protocol.RevealZopaPrice
	require.NoError(d.t, shown.Decode(last.Accounts(), data))
	return shown.Nonce
}

// forces makes a move that must succeed although the SDK would refuse it.
func (s *fixture) forces(m move) *haggle.Receipt {
	s.t.Helper()
	action, err := m.build(s.ctx)
	require.NoError(s.t, err)
	receipt, err := s.force(m.by, action.Instructions...)
	require.NoError(s.t, err)
	return receipt
}

// inTranches changes terms so that the price is paid in tranches of these shares, in basis points, with the
// shortest review.
func inTranches(terms haggle.CreateRequest, arbiter party, shares ...uint16) haggle.CreateRequest {
	terms.Milestones = &haggle.Milestones{Arbiter: arbiter.PublicKey(), Shares: shares, ReviewHours: protocol.MinReviewHours}
	return terms
}

// deliveryOf and complaintOf return the seller's and the buyer's evidence for a milestone.
func deliveryOf(index uint8) [32]byte  { return protocol.EvidenceHash([]byte{'d', index}) }
func complaintOf(index uint8) [32]byte { return protocol.EvidenceHash([]byte{'c', index}) }

// agree creates a negotiation whose first offer the seller accepts.
func (s *fixture) agree(terms haggle.CreateRequest, price uint64) *deal {
	s.t.Helper()
	d := s.bargain(terms)
	d.offers(price)
	s.do(d.accept(s.seller))
	return d
}

func (d *deal) claimMilestone(by party, index uint8) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(d.address).ClaimMilestone(by.PublicKey(), index, deliveryOf(index)).Build(ctx)
	}}
}

func (d *deal) release(by party, index uint8) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(d.address).ReleaseMilestone(by.PublicKey(), index).Build(ctx)
	}}
}

func (d *deal) dispute(by party, index uint8) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(d.address).DisputeMilestone(by.PublicKey(), index, complaintOf(index)).Build(ctx)
	}}
}

// decision is the arbiter's decision: the seller's part of a disputed tranche in basis points.
type decision struct {
	index     uint8
	sellerBps uint16
}

func (d *deal) resolve(by party, decided decision) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(d.address).ResolveDispute(by.PublicKey(), decided.index, decided.sellerBps).Build(ctx)
	}}
}

func (d *deal) settle(by party) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(d.address).SettleDeadline(by.PublicKey()).Build(ctx)
	}}
}

// onlyInTime marks scenarios in the list that take hours by the chain's clock.
const onlyInTime = " (where the clock can be set)"

// scenarioInTime runs a scenario that takes hours, only on a chain with a settable clock. The list names it
// on every chain, so that the lists of two chains are equal only if the chain with a settable clock has run
// it.
func scenarioInTime(t *testing.T, name string, play func(s *fixture)) {
	v, err := shared.open()
	if err != nil {
		t.Fatal(err)
	}
	if v.Kind == localnet.Process {
		scenarioOverTime(t, name+onlyInTime, play)
		return
	}
	fmt.Printf("not played on this chain, where hours take hours: %s\n", name)
	played.add(t, name+onlyInTime)
}
