package agent_test

import (
	"bytes"
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
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// requireBond adds a bond, which an agent accepts up to Limits.MaxBond.
func requireBond(r *haggle.CreateRequest) { r.Bond = 100_000 }

// requireSealedPrices adds a comparison of sealed prices, which needs Config.Seal.
func requireSealedPrices(r *haggle.CreateRequest) { r.Bond, r.Zopa = 100_000, true }

// addMilestones adds two milestones, which need Config.OnMilestone and Config.Arbiters.
func (f *fixture) addMilestones(r *haggle.CreateRequest) {
	arbiter, err := wallet.GenerateKeypair()
	require.NoError(f.t, err)
	f.arbiter = arbiter.PublicKey()
	r.Milestones = &haggle.Milestones{Arbiter: f.arbiter, Shares: []uint16{4000, 6000}, ReviewHours: 1}
}

func TestUnsuitableInvitationIsDeclinedWithTheReason(t *testing.T) {
	f := newFixture(t)
	other, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	worthless, err := f.Chain.CreateMint(f.ctx, 6)
	require.NoError(t, err)
	require.NoError(t, f.Chain.Endow(f.ctx, worthless, holding(f.Buyer, 5_000_000)))
	unchanged := func(*haggle.CreateRequest) {}
	delivers := func(context.Context, agent.Turn) (agent.MilestoneMove, error) { return agent.Wait{}, nil }
	for reason, c := range map[string]struct {
		terms  func(*haggle.CreateRequest)
		config func(*agent.Config)
	}{
		"it is for another service": {func(r *haggle.CreateRequest) {
			r.ServiceHash = protocol.ServiceHash("something else")
		}, nil},
		"neither Config.Services nor Config.Admit is set": {unchanged, func(c *agent.Config) { c.Services = nil }},
		"is not one of the agent's": {func(r *haggle.CreateRequest) {
			r.Mint = worthless
		}, nil},
		"the agent sells nothing for its mint": {unchanged, func(c *agent.Config) {
			c.Mints = f.limits(func(l *agent.Limits) { l.MinPrice = 0 })
			c.Mints[worthless] = agent.Limits{Decimals: 6, MinPrice: 1, SingleSourceUpTo: 1}
		}},
		"its escrow of 5000000 base units cannot pay 4975001 base units": {unchanged, func(c *agent.Config) {
			c.Mints = f.limits(func(l *agent.Limits) { l.MinPrice = 4_975_001 })
		}},
		"its protocol fee is 50 basis points, at most 49": {unchanged, func(c *agent.Config) { c.MaxFeeBps = new(uint16(49)) }},
		"it requires a bond of 100000 base units, at most 99999 base units": {requireBond, func(c *agent.Config) {
			c.Mints = f.limits(func(l *agent.Limits) { l.MaxBond = 99_999 })
		}},
		"it compares sealed prices, and the agent seals none": {requireSealedPrices, func(c *agent.Config) {
			c.Mints = f.limits(acceptBond)
		}},
		"it has milestones, and the agent delivers none": {f.addMilestones, nil},
		"its arbiter": {f.addMilestones, func(c *agent.Config) {
			c.OnMilestone, c.Arbiters = delivers, []solana.PublicKey{other.PublicKey()}
		}},
		"its review window is 73 hours, at most 72": {func(r *haggle.CreateRequest) {
			f.addMilestones(r)
			r.Milestones.ReviewHours = 73
		}, func(c *agent.Config) { c.OnMilestone, c.Arbiters = delivers, []solana.PublicKey{f.arbiter} }},
		"the counterparty's trust score is 3, at least 5": {unchanged, func(c *agent.Config) {
			c.Admit = func(context.Context, *haggle.Snapshot) error {
				return errors.Join(agent.ErrRefused, errors.New("the counterparty's trust score is 3, at least 5"))
			}
		}},
	} {
		t.Run(reason, func(t *testing.T) {
			negotiation := f.invite(c.terms)
			config := agent.Config{Decide: wait, Services: services, Mints: f.limits()}
			if c.config != nil {
				c.config(&config)
			}
			seller := f.run(f.Seller, config)
			defer seller.stop()
			f.until("the refusal is reported", func() bool {
				for _, err := range seller.errors() {
					var refusal *agent.Refusal
					about := !errors.As(err, &refusal) || refusal.Negotiation == negotiation
					if about && errors.Is(err, agent.ErrRefused) && strings.Contains(err.Error(), reason) {
						return true
					}
				}
				return false
			})
			require.Equal(t, protocol.NegotiationStatusCreated, f.state(negotiation).Status)
			for _, act := range seller.acts() {
				require.NotEqual(t, negotiation, act.Before.Address)
			}
		})
	}
}

func TestAdmitIsCalledBeforeEitherSideEngages(t *testing.T) {
	f := newFixture(t)
	var sellers, buyers atomic.Int64
	negotiation := f.invite()
	f.run(f.Seller, agent.Config{
		Decide: concede(4_500_000, 500_000, false),
		Admit: func(_ context.Context, n *haggle.Snapshot) error {
			require.Equal(t, protocol.NegotiationStatusCreated, n.Status)
			sellers.Add(1)
			return nil
		},
	})
	buyer := f.run(f.Buyer, agent.Config{
		Decide: concede(2_000_000, 500_000, true),
		Admit: func(_ context.Context, n *haggle.Snapshot) error {
			require.Zero(t, n.CurrentRound)
			buyers.Add(1)
			return nil
		},
	})
	require.Equal(t, negotiation, f.result(buyer).Negotiation)
	require.EqualValues(t, 1, sellers.Load())
	require.EqualValues(t, 1, buyers.Load())
}

// seals returns a Config.Seal that keeps the sealed prices.
func seals(
	as *wallet.Keypair, price uint64,
) func(context.Context, *haggle.Snapshot) (*protocol.SealedPrice, error) {
	kept := map[solana.PublicKey][]byte{}
	return func(_ context.Context, n *haggle.Snapshot) (*protocol.SealedPrice, error) {
		if secret := kept[n.Address]; secret != nil {
			return protocol.ParseSealedPrice(secret)
		}
		sealed, err := protocol.SealPrice(n.Address, &n.Negotiation, as.PublicKey(), price)
		if err != nil {
			return nil, err
		}
		kept[n.Address], err = sealed.Secret()
		return sealed, err
	}
}

// comparePrices runs a buyer that accepts the midpoint if it is still open, and a seller that leaves every
// decision open. It returns the seller and the events.
func comparePrices(t *testing.T, signer func(haggle.Signer) haggle.Signer, config agent.Config) (*running, []haggle.EventEnvelope) {
	t.Helper()
	f := newFixture(t)
	buyer := f.run(f.Buyer, agent.Config{
		Seal: seals(f.Buyer, 4_000_000),
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			if turn.CanAccept() {
				return agent.Accept{}, nil
			}
			return agent.Wait{}, nil
		},
	})
	config.Decide, config.Seal = wait, seals(f.Seller, 3_000_000)
	config.Mints, config.Services = f.limits(acceptBond), services
	seller := f.run(signer(f.Seller), config)
	require.NoError(t, f.Chain.Endow(f.ctx, f.Mint, holding(f.Seller, 1_000_000)))
	negotiation := f.invite(requireSealedPrices)
	f.result(buyer)
	require.EqualValues(t, 3_500_000, f.result(seller).Price)
	history := f.history(negotiation)
	require.Len(t, eventsOf[*protocol.BondSettled](history), 1)
	require.Empty(t, buyer.errors())
	return seller, history
}

func signs(signer haggle.Signer) haggle.Signer { return signer }

// slotsOf returns the slots of the seller's reveal and of the acceptance.
func slotsOf(history []haggle.EventEnvelope) (revealed, accepted uint64) {
	for _, envelope := range history {
		switch event := envelope.Event.(type) {
		case *protocol.ZopaRevealed:
			if event.Midpoint > 0 {
				revealed = envelope.Slot
			}
		case *protocol.OfferAccepted:
			accepted = envelope.Slot
		}
	}
	return revealed, accepted
}

func TestSellerAcceptsTheMidpointWithItsReveal(t *testing.T) {
	seller, history := comparePrices(t, signs, agent.Config{})
	require.Empty(t, seller.errors())
	revealed, accepted := slotsOf(history)
	require.Equal(t, revealed, accepted)
	require.Equal(t, eventsOf[*protocol.OfferAccepted](history)[0].AcceptedBy, eventsOf[*protocol.BondSettled](history)[0].To)
}

func TestSellerRevealsOnly(t *testing.T) {
	seller, history := comparePrices(t, signs, agent.Config{RevealOnly: true})
	require.Empty(t, seller.errors())
	require.NotEqual(t, eventsOf[*protocol.OfferAccepted](history)[0].AcceptedBy, eventsOf[*protocol.BondSettled](history)[0].To,
		"the buyer has accepted the midpoint")
}

// refusesAcceptances signs no acceptance of an offer, as a policy can.
type refusesAcceptances struct{ haggle.Signer }

func (s refusesAcceptances) SignMessage(ctx context.Context, message []byte) (solana.Signature, error) {
	if bytes.Contains(message, []byte(protocol.AcceptOfferDiscriminator)) {
		return solana.Signature{}, errors.New("acceptance denied")
	}
	return s.Signer.SignMessage(ctx, message)
}

// A seller whose signer refuses the acceptance would lose the bond if it did not reveal.
func TestSellerWithoutAnAcceptanceStillReveals(t *testing.T) {
	seller, history := comparePrices(t,
		func(signer haggle.Signer) haggle.Signer { return refusesAcceptances{signer} }, agent.Config{})
	require.Len(t, seller.errors(), 1)
	require.ErrorContains(t, seller.errors()[0], "acceptance denied")
	require.Len(t, eventsOf[*protocol.ZopaRevealed](history), 2)
	require.NotEqual(t, eventsOf[*protocol.OfferAccepted](history)[0].AcceptedBy, eventsOf[*protocol.BondSettled](history)[0].To)
}

func TestMilestonesAreClaimedReleasedAndSettled(t *testing.T) {
	f := newFixture(t)
	delivers := func(_ context.Context, turn agent.Turn) (agent.MilestoneMove, error) {
		n := turn.Negotiation
		if turn.Side == protocol.OfferSideBuyer {
			index, _ := n.UnderReview()
			if index == 0 {
				return agent.ReleaseMilestone{Index: index}, nil
			}
			return agent.Wait{}, nil // the seller releases the milestone after the review window
		}
		for index := range n.MilestoneCount() {
			if n.MilestoneState(index) == protocol.MilestoneStateUnclaimed {
				return agent.ClaimMilestone{Index: index}, nil
			}
		}
		return agent.Wait{}, nil
	}
	negotiation := f.invite(f.addMilestones)
	arbiters := []solana.PublicKey{f.arbiter}
	buyer := f.run(f.Buyer, agent.Config{
		Decide: concede(2_000_000, 500_000, true), OnMilestone: delivers, Arbiters: arbiters,
	})
	seller := f.run(f.Seller, agent.Config{
		Decide: concede(4_500_000, 500_000, false), OnMilestone: delivers, Arbiters: arbiters, Services: services,
	})
	f.until("the second milestone is under review", func() bool {
		n := f.state(negotiation)
		index, reviewed := n.UnderReview()
		return reviewed && index == 1
	})
	f.advance(time.Hour)
	f.result(buyer)
	sold := f.result(seller)
	require.Equal(t, protocol.NegotiationStatusSettled, sold.Status)
	require.EqualValues(t, 3_500_000, sold.Price)
	require.Len(t, eventsOf[*protocol.MilestoneReleased](f.history(negotiation)), 2)
	require.Empty(t, buyer.errors())
	require.Empty(t, seller.errors())
}

// The program records payouts that frozen accounts cannot receive. The agent claims them later.
func TestRecordedPayoutIsClaimed(t *testing.T) {
	f := newFixture(t)
	f.freeze(f.Seller)
	action := f.settleAt(3_000_000)
	require.EqualValues(t, 2_985_000, f.state(action).ClaimableSeller)
	seller := f.run(f.Seller, agent.Config{Decide: wait})
	f.until("the first claim fails", func() bool { return len(seller.errors()) > 0 })
	require.EqualValues(t, 2_985_000, f.state(action).ClaimableSeller)
	f.thaw(f.Seller)
	f.until("the payout is claimed", func() bool { return f.state(action).ClaimableSeller == 0 })
	f.result(seller)
}
