package indexer

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

const endingsBond = 700_000

// sealed plays a comparison of reservation prices. If sellers is zero, the seller does not reveal.
func (s *scenario) sealed(
	session, buyers, sellers uint64, reveal func(*haggle.Negotiation, *protocol.SealedPrice) *haggle.Action,
) solana.PublicKey {
	s.t.Helper()
	negotiation := s.invited(session, func(request *haggle.CreateRequest) { request.Zopa, request.Bond = true, endingsBond })
	n, err := s.Client.Negotiation(negotiation).Snapshot(s.ctx)
	require.NoError(s.t, err)
	buyer, err := protocol.SealPrice(n.Address, &n.Negotiation, s.Buyer.PublicKey(), buyers)
	require.NoError(s.t, err)
	seller, err := protocol.SealPrice(n.Address, &n.Negotiation, s.Seller.PublicKey(), max(sellers, escrow/10))
	require.NoError(s.t, err)
	s.do(s.Client.Negotiation(buyer.Negotiation()).CommitZopa(buyer).Build(s.ctx))(s.Buyer)
	s.do(s.Client.Negotiation(seller.Negotiation()).CommitZopa(seller).Build(s.ctx))(s.Seller)
	s.do(s.Client.Negotiation(buyer.Negotiation()).RevealZopa(buyer).Build(s.ctx))(s.Buyer)
	if sellers > 0 {
		s.do(reveal(s.Client.Negotiation(seller.Negotiation()), seller).Build(s.ctx))(s.Seller)
	}
	return negotiation
}

func (s *scenario) expire(negotiation solana.PublicKey) {
	s.t.Helper()
	n, err := s.Client.Negotiation(negotiation).Snapshot(s.ctx)
	require.NoError(s.t, err)
	require.NoError(s.t, s.Chain.AdvanceTo(s.ctx, n.TurnDeadline))
	s.do(s.Client.Negotiation(negotiation).Expire(s.Buyer.PublicKey()).Build(s.ctx))(s.Buyer)
}

// deadline plays three milestones. At the deadline, one milestone is disputed, one under review and one
// unclaimed.
func (s *scenario) deadline(session uint64) solana.PublicKey {
	s.t.Helper()
	negotiation := s.invited(session, func(request *haggle.CreateRequest) {
		request.Milestones = &haggle.Milestones{Arbiter: s.arbiter.PublicKey(), Shares: []uint16{3333, 3333, 3334}}
		request.Bond = endingsBond
	})
	s.offer(negotiation, s.Buyer, 3_000_001)
	s.accept(negotiation, s.Seller, 3_000_001)
	claim := func(index uint8) {
		s.do(s.Client.Negotiation(negotiation).ClaimMilestone(s.Seller.PublicKey(), index, [32]byte{'c', index}).Build(s.ctx))(s.Seller)
	}
	claim(0)
	s.do(s.Client.Negotiation(negotiation).DisputeMilestone(s.Buyer.PublicKey(), 0, [32]byte{'d'}).Build(s.ctx))(s.Buyer)
	claim(1)
	n, err := s.Client.Negotiation(negotiation).Snapshot(s.ctx)
	require.NoError(s.t, err)
	require.NoError(s.t, s.Chain.AdvanceTo(s.ctx, n.ArbitrationDeadline()))
	s.do(s.Client.Negotiation(negotiation).SettleDeadline(s.Seller.PublicKey()).Build(s.ctx))(s.Seller)
	return negotiation
}

// agreement plays two milestones: one is released, the other split by settle_by_agreement.
func (s *scenario) agreement(session uint64) solana.PublicKey {
	s.t.Helper()
	negotiation := s.invited(session, func(request *haggle.CreateRequest) {
		request.Milestones = &haggle.Milestones{Arbiter: s.arbiter.PublicKey(), Shares: []uint16{4000, 6000}, ReviewHours: 72}
		request.Bond = endingsBond
	})
	s.offer(negotiation, s.Buyer, 3_000_001)
	s.accept(negotiation, s.Seller, 3_000_001)
	s.do(s.Client.Negotiation(negotiation).ClaimMilestone(s.Seller.PublicKey(), 0, [32]byte{}).Build(s.ctx))(s.Seller)
	s.do(s.Client.Negotiation(negotiation).ReleaseMilestone(s.Buyer.PublicKey(), 0).Build(s.ctx))(s.Buyer)
	s.doTogether(s.Client.Negotiation(negotiation).SettleByAgreement(solana.PublicKey{}, haggle.Split{SellerBps: 2_500, BondToBuyerBps: 1_000}).Build(s.ctx))(s.Buyer, s.Seller)
	return negotiation
}

func (s *scenario) held(owner solana.PublicKey) int64 {
	s.t.Helper()
	account, err := token.AssociatedAddress(owner, s.Mint, solana.TokenProgramID)
	require.NoError(s.t, err)
	found, err := s.Chain.Tokens(s.ctx, account)
	require.NoError(s.t, err)
	return int64(found)
}

// ending is a way to end a negotiation, with the status, the bond state and the forfeited part.
type ending struct {
	name, status, bond string
	forfeited          int64
	play               func(session uint64) solana.PublicKey
}

func (s *scenario) endings() []ending {
	return []ending{
		{"accepted after three offers", "Settled", "None", 0, func(session uint64) solana.PublicKey {
			n := s.invited(session, nil)
			s.offer(n, s.Buyer, 2_000_000)
			s.offer(n, s.Seller, 4_000_000)
			s.offer(n, s.Buyer, 3_000_001)
			s.accept(n, s.Seller, 3_000_001)
			return n
		}},
		{"the middle of two sealed prices", "Settled", "Returned", 0, func(session uint64) solana.PublicKey {
			n := s.sealed(session, 3_000_001, 2_000_000, (*haggle.Negotiation).RevealZopaOnly)
			s.accept(n, s.Seller, 2_500_000)
			return n
		}},
		{"the middle of two sealed prices, accepted by the reveal", "Settled", "Returned", 0, func(session uint64) solana.PublicKey {
			return s.sealed(session, 3_000_001, 2_000_000, (*haggle.Negotiation).RevealZopa)
		}},
		{"sealed prices without a zone", "Rejected", "Returned", 0, func(session uint64) solana.PublicKey {
			return s.sealed(session, 2_000_000, 3_000_000, (*haggle.Negotiation).RevealZopa)
		}},
		{"a seller that does not reveal", "Expired", "Forfeited", endingsBond, func(session uint64) solana.PublicKey {
			n := s.sealed(session, 2_000_000, 0, nil)
			s.expire(n)
			return n
		}},
		{"a seller that rejects the middle", "Rejected", "Forfeited", endingsBond, func(session uint64) solana.PublicKey {
			n := s.sealed(session, 3_000_001, 2_000_000, (*haggle.Negotiation).RevealZopaOnly)
			s.reject(n, s.Seller)
			return n
		}},
		{"rejected after an offer", "Rejected", "Returned", 0, func(session uint64) solana.PublicKey {
			n := s.invited(session, func(request *haggle.CreateRequest) { request.Bond = endingsBond })
			s.offer(n, s.Buyer, 2_000_000)
			s.reject(n, s.Seller)
			return n
		}},
		{"never accepted", "Expired", "None", 0, func(session uint64) solana.PublicKey {
			n := s.create(session, nil)
			s.expire(n)
			return n
		}},
		// 1,000,201 of 3,000,001 are refunded for the unclaimed milestone.
		{"milestones whose time is over", "Settled", "Split", 233_380, s.deadline},
		{"an agreement of both", "Settled", "Split", 70_000, s.agreement},
	}
}

// A negotiation row contains the amounts that moved between the token accounts, for every ending.
func TestEveryEndingIsTheMoneyThatMoved(t *testing.T) {
	s := newScenario(t)
	s.endow()
	s.bargain(1) // creates the treasury's account
	endings := s.endings()
	type flow struct{ buyer, seller, treasury int64 }
	now := func() flow {
		return flow{s.held(s.Buyer.PublicKey()), s.held(s.Seller.PublicKey()), s.held(s.Treasury)}
	}
	moved := make(map[string]flow)
	addresses := make(map[string]solana.PublicKey)
	for i, ending := range endings {
		before := now()
		addresses[ending.name] = ending.play(uint64(100 + i))
		s.close(addresses[ending.name])
		after := now()
		moved[ending.name] = flow{after.buyer - before.buyer, after.seller - before.seller, after.treasury - before.treasury}
	}
	for name, database := range map[string]*Database{"sqlite": newSQLite(t), "postgres": openAt(t, server.Create(t))} {
		runOnce(t, s.ctx, database, s.Client.RPC(), rpc.CommitmentConfirmed)
		for _, ending := range endings {
			t.Run(name+" "+ending.name, func(t *testing.T) {
				var status, bond string
				var net, fee, decay, refund, swept int64
				var toBuyer, toSeller sql.NullInt64
				row := database.statements().row(s.ctx, `SELECT status, bond_state, bond_to_buyer, bond_to_seller, net_amount, fee, decay,
					refund, swept FROM outcomes WHERE complete AND negotiation = $1`, addresses[ending.name].String())
				require.NoError(t, row.Scan(&status, &bond, &toBuyer, &toSeller, &net, &fee, &decay, &refund, &swept))
				require.Equal(t, ending.status, status)
				require.Equal(t, ending.bond, bond)
				require.Equal(t, ending.bond != "None", toBuyer.Valid)
				require.Equal(t, ending.forfeited, toBuyer.Int64)
				if toSeller.Valid {
					require.EqualValues(t, endingsBond-ending.forfeited, toSeller.Int64)
				}
				require.Equal(t, flow{refund - escrow + ending.forfeited, net - ending.forfeited, swept}, moved[ending.name])
				require.Equal(t, swept, fee+decay)
			})
		}
		require.Zero(t, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM violations`))
		agreed := addresses["an agreement of both"].String()
		require.Equal(t, 72, single[int](t, s.ctx, database, `SELECT review_hours FROM outcomes WHERE negotiation = $1`, agreed))
		require.Equal(t, 24, single[int](t, s.ctx, database, `SELECT review_hours FROM outcomes WHERE negotiation = $1`,
			addresses["milestones whose time is over"].String()), "as proposed")
		evidence := func(milestone int, side string) string {
			return single[string](t, s.ctx, database, `SELECT evidence FROM evidence WHERE negotiation = $1 AND milestone = $2 AND side = $3`,
				addresses["milestones whose time is over"].String(), milestone, side)
		}
		require.Equal(t, "63"+strings.Repeat("0", 62), evidence(0, "Seller"))
		require.Equal(t, "64"+strings.Repeat("0", 62), evidence(0, "Buyer"))
		require.Equal(t, "6301"+strings.Repeat("0", 60), evidence(1, "Seller"))
	}
}
