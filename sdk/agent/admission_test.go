package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// bonded, sealed and inTranches are terms that an agent has to be told what to do about.
func bonded(r *haggle.CreateRequest) { r.Bond = 100_000 }

func sealed(r *haggle.CreateRequest) { r.Bond, r.Zopa = 100_000, true }

func (s *stage) inTranches(r *haggle.CreateRequest) {
	arbiter, err := haggle.GenerateKeypair()
	require.NoError(s.t, err)
	s.arbiter = arbiter.PublicKey()
	r.Milestones = &haggle.Milestones{Arbiter: s.arbiter, Shares: []uint16{4000, 6000}, ReviewHours: 1}
}

func TestInvitationsThatAnAgentCannotServeAreRefusedWithTheReason(t *testing.T) {
	s := setStage(t)
	other, err := haggle.GenerateKeypair()
	require.NoError(t, err)
	worthless, err := s.Chain.CreateMint(s.ctx, 6)
	require.NoError(t, err)
	require.NoError(t, s.Chain.Endow(s.ctx, worthless, holding(s.Buyer, 5_000_000)))
	plain := func(*haggle.CreateRequest) {}
	delivers := func(context.Context, agent.Turn) (agent.MilestoneMove, error) { return agent.Wait{}, nil }
	for reason, c := range map[string]struct {
		terms  func(*haggle.CreateRequest)
		config func(*agent.Config)
	}{
		"its service is not in Config.Services":           {func(r *haggle.CreateRequest) { r.ServiceHash = protocol.ServiceHash("something else") }, nil},
		"neither Config.Services nor Config.Admit is set": {plain, func(c *agent.Config) { c.Services = nil }},
		"is not in Config.Mints":                          {func(r *haggle.CreateRequest) { r.Mint = worthless }, nil},
		"Config.Mints has no MinPrice for its mint": {plain, func(c *agent.Config) {
			c.Mints = s.limits(func(l *agent.Limits) { l.MinPrice = 0 })
			c.Mints[worthless] = agent.Limits{MinPrice: 1}
		}},
		"its escrow of 5000000 base units cannot pay 4975001 after the fee": {plain, func(c *agent.Config) {
			c.Mints = s.limits(func(l *agent.Limits) { l.MinPrice = 4_975_001 })
		}},
		"its protocol fee is 50 basis points, at most 49": {plain, func(c *agent.Config) { c.MaxFeeBps = 49 }},
		"it requires a bond of 100000 base units, at most 99999": {bonded, func(c *agent.Config) {
			c.Mints = s.limits(func(l *agent.Limits) { l.MaxBond = 99_999 })
		}},
		"it compares sealed prices, and Config.Seal is not set": {sealed, func(c *agent.Config) { c.Mints = s.limits(withBond) }},
		"it has milestones, and Config.Deliver is not set":      {s.inTranches, nil},
		"is not in Config.Arbiters": {s.inTranches, func(c *agent.Config) {
			c.Deliver, c.Arbiters = delivers, []solana.PublicKey{other.PublicKey()}
		}},
		"its review window is 73 hours, at most 72": {func(r *haggle.CreateRequest) {
			s.inTranches(r)
			r.Milestones.ReviewHours = 73
		}, func(c *agent.Config) { c.Deliver, c.Arbiters = delivers, []solana.PublicKey{s.arbiter} }},
		"the counterparty's trust score is 3, at least 5": {plain, func(c *agent.Config) {
			c.Admit = func(context.Context, *haggle.NegotiationAccount) error {
				return errors.Join(agent.ErrRefused, errors.New("the counterparty's trust score is 3, at least 5"))
			}
		}},
	} {
		t.Run(reason, func(t *testing.T) {
			negotiation := s.invite(c.terms)
			config := agent.Config{Decide: waits, Services: [][32]byte{service}, Mints: s.limits()}
			if c.config != nil {
				c.config(&config)
			}
			seller := s.run(s.Seller, config)
			defer seller.stop()
			s.until("the refusal is reported", func() bool {
				for _, err := range seller.failed() {
					var refusal *agent.Refusal
					about := !errors.As(err, &refusal) || refusal.Negotiation == negotiation
					if about && errors.Is(err, agent.ErrRefused) && strings.Contains(err.Error(), reason) {
						return true
					}
				}
				return false
			})
			require.Equal(t, protocol.NegotiationStatusCreated, s.state(negotiation).Status)
			for _, act := range seller.did() {
				require.NotEqual(t, negotiation, act.Before.Address)
			}
		})
	}
}

func TestAdmitIsAskedBeforeEitherSideEngages(t *testing.T) {
	s := setStage(t)
	var sellers, buyers atomic.Int64
	negotiation := s.invite()
	s.run(s.Seller, agent.Config{
		Decide: concede(4_500_000, 500_000, false),
		Admit: func(_ context.Context, seen *haggle.NegotiationAccount) error {
			require.Equal(t, protocol.NegotiationStatusCreated, seen.Status)
			sellers.Add(1)
			return nil
		},
	})
	buyer := s.run(s.Buyer, agent.Config{
		Decide: concede(2_000_000, 500_000, true),
		Admit: func(_ context.Context, seen *haggle.NegotiationAccount) error {
			require.Zero(t, seen.CurrentRound)
			buyers.Add(1)
			return nil
		},
	})
	require.Equal(t, negotiation, s.result(buyer).Negotiation)
	require.EqualValues(t, 1, sellers.Load())
	require.EqualValues(t, 1, buyers.Load())
}

// seals returns a Config.Seal that keeps its sealed prices.
func seals(as *haggle.Keypair, price uint64) func(context.Context, *haggle.NegotiationAccount) (*haggle.SealedPrice, error) {
	kept := map[solana.PublicKey][]byte{}
	return func(_ context.Context, seen *haggle.NegotiationAccount) (*haggle.SealedPrice, error) {
		if secret := kept[seen.Address]; secret != nil {
			return haggle.ParseSealedPrice(secret)
		}
		sealed, err := haggle.SealPrice(seen, as.PublicKey(), price)
		if err != nil {
			return nil, err
		}
		kept[seen.Address], err = sealed.Secret()
		return sealed, err
	}
}

func TestAgentsCompareSealedPricesAndTakeTheMidpoint(t *testing.T) {
	s := setStage(t)
	takes := func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
		if turn.Negotiation.HasMidpoint() && turn.CanAccept() && turn.Side == protocol.OfferSideSeller {
			return agent.Accept{}, nil
		}
		return agent.Wait{}, nil
	}
	buyer := s.run(s.Buyer, agent.Config{Decide: takes, Seal: seals(s.Buyer, 4_000_000)})
	seller := s.run(s.Seller, agent.Config{Decide: takes, Seal: seals(s.Seller, 3_000_000), Mints: s.limits(withBond), Services: [][32]byte{service}})
	require.NoError(t, s.Chain.Endow(s.ctx, s.Mint, holding(s.Seller, 1_000_000)))
	negotiation := s.invite(sealed)
	s.result(buyer)
	require.EqualValues(t, 3_500_000, s.result(seller).Price)
	require.Len(t, eventsOf[*protocol.BondSettled](s.history(negotiation)), 1)
	require.Empty(t, buyer.failed())
	require.Empty(t, seller.failed())
}

func TestMilestonesAreClaimedReleasedAndSettled(t *testing.T) {
	s := setStage(t)
	delivers := func(_ context.Context, turn agent.Turn) (agent.MilestoneMove, error) {
		n := turn.Negotiation
		if turn.Side == protocol.OfferSideBuyer {
			index, _ := n.UnderReview()
			if index == 0 {
				return agent.ReleaseMilestone{Index: index}, nil
			}
			return agent.Wait{}, nil // silence: the seller has it released when the review window is over
		}
		for index := range n.MilestoneCount() {
			if n.MilestoneState(index) == protocol.MilestoneStateUnclaimed {
				return agent.ClaimMilestone{Index: index}, nil
			}
		}
		return agent.Wait{}, nil
	}
	negotiation := s.invite(s.inTranches)
	arbiters := []solana.PublicKey{s.arbiter}
	buyer := s.run(s.Buyer, agent.Config{Decide: concede(2_000_000, 500_000, true), Deliver: delivers, Arbiters: arbiters})
	seller := s.run(s.Seller, agent.Config{
		Decide: concede(4_500_000, 500_000, false), Deliver: delivers, Arbiters: arbiters, Services: [][32]byte{service},
	})
	s.until("the second one is under review", func() bool {
		n := s.state(negotiation)
		index, reviewed := n.UnderReview()
		return reviewed && index == 1
	})
	s.advance(time.Hour)
	s.result(buyer)
	sold := s.result(seller)
	require.Equal(t, protocol.NegotiationStatusSettled, sold.Status)
	require.EqualValues(t, 3_500_000, sold.Price)
	require.Len(t, eventsOf[*protocol.MilestoneReleased](s.history(negotiation)), 2)
	require.Empty(t, buyer.failed())
	require.Empty(t, seller.failed())
}

// What cannot be paid to a party is kept for it, and fetched when it can be.
func TestPayoutThatIsKeptIsClaimed(t *testing.T) {
	s := setStage(t)
	s.freeze(s.Seller)
	action := s.settleAt(3_000_000)
	require.EqualValues(t, 2_985_000, s.state(action).ClaimableSeller)
	seller := s.run(s.Seller, agent.Config{Decide: waits})
	s.until("it cannot be claimed yet", func() bool { return len(seller.failed()) > 0 })
	require.EqualValues(t, 2_985_000, s.state(action).ClaimableSeller)
	s.thaw(s.Seller)
	s.until("it is claimed", func() bool { return s.state(action).ClaimableSeller == 0 })
	s.result(seller)
}
