package agent_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	bin "github.com/gagliardetto/binary"
	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// purchase is a purchase in a test, with the sellers' wallets.
type purchase struct {
	*fixture
	sellers  []*wallet.Keypair
	config   agent.PurchaseConfig
	database *store.Store
	// before is the number of buyer tokens at the start.
	before uint64
}

// newPurchase returns a purchase from a number of sellers, with a reservation price of 4,000,000.
func newPurchase(t *testing.T, sellers int) *purchase {
	t.Helper()
	p := &purchase{fixture: newFixture(t)}
	for range sellers {
		seller, err := wallet.GenerateKeypair()
		require.NoError(t, err)
		require.NoError(t, p.Chain.Fund(p.ctx, seller.PublicKey(), 1_000_000_000))
		require.NoError(t, p.Chain.Endow(p.ctx, p.Mint, holding(seller, 0)))
		p.sellers = append(p.sellers, seller)
		p.config.Sellers = append(p.config.Sellers, seller.PublicKey())
	}
	require.NoError(t, p.Chain.Endow(p.ctx, p.Mint, holding(p.Buyer, 100_000_000)))
	p.before = p.tokens(p.Buyer)
	path := filepath.Join(t.TempDir(), "state.db")
	var err error
	p.database, err = sqlite.Open(p.ctx, path)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, p.database.Close()) })
	p.config = purchaseConfig(p.Mint, p.config.Sellers, p.database)
	return p
}

// purchaseConfig returns the configuration of the tests' purchases.
func purchaseConfig(
	mint solana.PublicKey, sellers []solana.PublicKey, records agent.PurchaseStore,
) agent.PurchaseConfig {
	return agent.PurchaseConfig{
		Key: "order-1", Store: records, Sellers: sellers,
		Terms: haggle.CreateRequest{
			Mint: mint, Decimals: localnet.Decimals, EscrowAmount: 5_000_000, ServiceHash: service, MaxRounds: 6,
			ResponseWindow: time.Hour, Deadline: 2 * time.Hour,
		},
		Player: agent.Player{Strategy: strategy.Linear(), Name: "linear", Opening: 1_000_000, Reservation: 4_000_000},
		Agent: agent.Config{Mints: map[solana.PublicKey]agent.Limits{
			mint: {Decimals: localnet.Decimals, MaxTotal: 5_000_000},
		}},
	}
}

func (p *purchase) tokens(of *wallet.Keypair) uint64 {
	p.t.Helper()
	tokens, err := p.Chain.Tokens(p.ctx, p.tokenAccount(of))
	require.NoError(p.t, err)
	return tokens
}

// sell runs agents of the sellers, with one Decide each; nil is none.
func (p *purchase) sell(decide ...decideFunc) (all []*running) {
	for i, decide := range decide {
		if decide != nil {
			all = append(all, p.run(p.sellers[i], agent.Config{Decide: decide, Services: services}))
		}
	}
	return all
}

// start returns the purchase by a client with the journal, and the signer.
func (p *purchase) start(as haggle.Signer) *agent.Purchase {
	p.t.Helper()
	config := p.Chain.ClientConfig()
	config.Journal = p.database
	client, err := haggle.NewClient(config)
	require.NoError(p.t, err)
	p.t.Cleanup(func() { assert.NoError(p.t, client.Close()) })
	started, err := agent.NewPurchase(client, as, p.config)
	require.NoError(p.t, err)
	return started
}

// buy runs the purchase to the end.
func (p *purchase) buy() *agent.PurchaseResult {
	p.t.Helper()
	result, err := p.start(p.Buyer).Run(p.ctx)
	require.NoError(p.t, err)
	return result
}

// negotiation returns the address of the negotiation with a seller.
func (p *purchase) negotiation(seller int) solana.PublicKey {
	address, _, err := protocol.FindNegotiationAddress(
		p.Buyer.PublicKey(), p.config.Sellers[seller], haggle.SessionIDFor(p.config.Key))
	require.NoError(p.t, err)
	return address
}

// check checks on chain that no two sellers are paid, that all negotiations are closed, that the money adds
// up, and that never two offers of the buyer stood at once.
func (p *purchase) check(result *agent.PurchaseResult) {
	p.t.Helper()
	settled, paid, standing := 0, uint64(0), map[solana.PublicKey]bool{}
	var all []haggle.EventEnvelope
	for i, seller := range p.sellers {
		require.Nil(p.t, p.state(p.negotiation(i)), "negotiation %d is closed", i)
		history := p.history(p.negotiation(i))
		settled += len(eventsOf[*protocol.NegotiationSettled](history))
		all = append(all, history...)
		paid += p.tokens(seller)
	}
	if result.Deal == nil {
		require.Zero(p.t, settled)
		require.Zero(p.t, paid)
	} else {
		require.Equal(p.t, 1, settled)
		require.Equal(p.t, result.Deal.Price-result.Deal.Fee, paid)
	}
	require.Equal(p.t, p.before-result.Total, p.tokens(p.Buyer))
	// Events in the same slot are of different negotiations or in order: the sort is stable.
	slices.SortStableFunc(all, func(a, b haggle.EventEnvelope) int { return int(int64(a.Slot) - int64(b.Slot)) })
	for _, envelope := range all {
		switch event := envelope.Event.(type) {
		case *protocol.OfferSubmitted:
			if event.Offerer == p.Buyer.PublicKey() {
				standing[envelope.Negotiation] = true
				require.Len(p.t, standing, 1, "standing offers of the buyer")
				continue
			}
			delete(standing, envelope.Negotiation)
		case *protocol.NegotiationRejected, *protocol.NegotiationExpired:
			delete(standing, envelope.Negotiation)
		case *protocol.NegotiationSettled:
			delete(standing, envelope.Negotiation)
			require.Empty(p.t, standing, "an offer of the buyer stands beside the deal")
		}
	}
}

// advanceAfterOffer moves the clock forward by half of the response window when the buyer's offer stands in
// any of the negotiations.
func (p *purchase) advanceAfterOffer(sellers ...int) {
	var waiting sync.WaitGroup
	p.t.Cleanup(waiting.Wait)
	waiting.Go(func() {
		for p.ctx.Err() == nil {
			for _, seller := range sellers {
				n, err := p.Client.Negotiation(p.negotiation(seller)).Snapshot(p.ctx)
				if err != nil || n.CurrentRound == 0 || n.Turn() == protocol.OfferSideBuyer {
					continue
				}
				assert.NoError(p.t, p.Chain.AdvanceTo(p.ctx, n.Time+int64(p.config.Terms.ResponseWindow/time.Second)/2))
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
}

// demand returns a seller that demands a fixed price.
func demand(price uint64) decideFunc { return concede(price, 0, false) }

// TestPurchaseFromTheCheapestOfThree bargains with three sellers with a price each. The strategy would accept
// every seller on the second turn, but the best standing offer limits the price.
func TestPurchaseFromTheCheapestOfThree(t *testing.T) {
	p := newPurchase(t, 3)
	p.config.Player.Opening = 2_400_000
	p.sell(demand(2_600_000), demand(2_550_000), demand(2_500_000))
	result := p.buy()
	require.NotNil(t, result.Deal)
	require.Equal(t, p.negotiation(2), result.Deal.Negotiation)
	require.LessOrEqual(t, result.Deal.Price, uint64(2_500_000))
	require.Len(t, result.Negotiations, 3)
	p.check(result)

	// The same key returns the same result and sends nothing.
	again := p.buy()
	require.Equal(t, result.Deal.Negotiation, again.Deal.Negotiation)
	require.Equal(t, result.Total, again.Total)
	p.check(again)
}

// TestPurchaseWithoutADeal bargains with sellers above the buyer's reservation price.
func TestPurchaseWithoutADeal(t *testing.T) {
	p := newPurchase(t, 2)
	p.config.Terms.MaxRounds = 2
	p.sell(demand(4_800_000), demand(4_900_000))
	result := p.buy()
	require.Nil(t, result.Deal)
	require.Len(t, result.Negotiations, 2)
	p.check(result)
}

// signing is a signer that calls a function before signing an instruction of the program.
type signing struct {
	*wallet.Keypair
	before func(instruction protocol.AnyInstruction)
}

func (s signing) SignMessage(ctx context.Context, message []byte) (solana.Signature, error) {
	var parsed solana.Message
	if err := parsed.UnmarshalWithDecoder(bin.NewBinDecoder(message)); err != nil {
		return solana.Signature{}, err
	}
	for i := range parsed.Instructions {
		instruction, err := protocol.InstructionIn(&parsed, &parsed.Instructions[i])
		if err != nil {
			return solana.Signature{}, err
		}
		if instruction != nil {
			s.before(instruction)
		}
	}
	return s.Keypair.SignMessage(ctx, message)
}

// TestSellerAcceptsWhileItsNegotiationIsRejected lets a seller not answer, so the buyer withdraws the offer
// for the others, and lets the seller accept at this moment.
func TestSellerAcceptsWhileItsNegotiationIsRejected(t *testing.T) {
	p := newPurchase(t, 3)
	p.config.Terms.ResponseWindow = 10 * time.Minute
	p.sell(wait, wait, wait)
	p.advanceAfterOffer(0, 1, 2)
	var accepted sync.Once
	signer := signing{Keypair: p.Buyer, before: func(instruction protocol.AnyInstruction) {
		reject, rejects := instruction.(*protocol.RejectNegotiation)
		if !rejects {
			return
		}
		accepted.Do(func() {
			n := p.state(reject.Negotiation)
			for _, seller := range p.sellers {
				if seller.PublicKey() == n.Seller {
					_, err := p.Client.At(n).AcceptOffer(n.Seller, n.CurrentOfferAmount).Do(p.ctx, seller)
					assert.NoError(p.t, err)
				}
			}
		})
	}}
	result, err := p.start(signer).Run(p.ctx)
	require.NoError(t, err)
	require.NotNil(t, result.Deal)
	p.check(result)
}

// TestUnresponsiveSellerIsReplaced lets a seller join and never answer. The second seller takes over.
func TestUnresponsiveSellerIsReplaced(t *testing.T) {
	p := newPurchase(t, 2)
	p.config.Terms.ResponseWindow = 10 * time.Minute
	p.advanceAfterOffer(0)
	p.sell(wait, demand(3_000_000))
	result := p.buy()
	require.NotNil(t, result.Deal)
	require.Equal(t, p.negotiation(1), result.Deal.Negotiation)
	p.check(result)
}

// TestPolicyLimitsTheSumOfTheEscrows allows two of three escrows on a day. The purchase goes on with two sellers.
func TestPolicyLimitsTheSumOfTheEscrows(t *testing.T) {
	p := newPurchase(t, 3)
	p.sell(demand(3_500_000), demand(3_000_000), demand(2_500_000))
	unlimited := policy.Limits{
		PerTransaction: policy.Unlimited, PerNegotiation: policy.Unlimited, PerCounterparty: policy.Unlimited,
		PerDay: policy.Unlimited, ApproveAbove: policy.Unlimited,
	}
	limits := policy.TokenLimits{Limits: unlimited, MaxTotal: 5_000_000}
	limits.PerDay = 2 * p.config.Terms.EscrowAmount
	limited, err := policy.New(p.ctx, p.Buyer, policy.Config{
		Lamports: unlimited, Tokens: map[solana.PublicKey]policy.TokenLimits{p.Mint: limits},
		Store: p.database, Negotiations: policy.Reader(p.Client),
	})
	require.NoError(t, err)
	var denied []error
	p.config.Agent.Failed = func(_ solana.PublicKey, err error) { denied = append(denied, err) }
	result, err := p.start(limited).Run(p.ctx)
	require.NoError(t, err)
	require.Len(t, result.Negotiations, 2)
	require.NotNil(t, result.Deal)
	require.True(t, slices.ContainsFunc(denied, func(err error) bool { return errors.Is(err, policy.ErrDenied) }))
	require.Equal(t, p.before-result.Total, p.tokens(p.Buyer))
	require.Equal(t, limits.PerDay, limited.Used(p.Mint), "refunds do not reduce it")
}

// TestTwoProcessesBuyOnce runs the same purchase by two clients at once, whose strategies differ.
func TestTwoProcessesBuyOnce(t *testing.T) {
	p := newPurchase(t, 3)
	p.sell(demand(3_500_000), demand(3_000_000), demand(2_500_000))
	first := p.start(p.Buyer)
	p.config.Player.Strategy, p.config.Player.Opening = strategy.NegmasLinear(), 2_000_000
	second := p.start(p.Buyer)
	var results [2]*agent.PurchaseResult
	var all sync.WaitGroup
	for i, process := range []*agent.Purchase{first, second} {
		all.Go(func() {
			var err error
			results[i], err = process.Run(p.ctx)
			assert.NoError(t, err)
		})
	}
	all.Wait()
	require.NotNil(t, results[0])
	require.NotNil(t, results[0].Deal)
	require.Equal(t, results[0].Deal.Negotiation, results[1].Deal.Negotiation)
	p.check(results[0])
}

func TestKeyOfAnotherPurchaseIsRefused(t *testing.T) {
	p := newPurchase(t, 1)
	p.sell(demand(2_500_000))
	result := p.buy()
	require.NotNil(t, result.Deal)
	sellers := p.config.Sellers
	p.config.Sellers = append(slices.Clone(sellers), p.Seller.PublicKey())
	_, err := p.start(p.Buyer).Run(p.ctx)
	require.ErrorIs(t, err, agent.ErrPurchaseTerms)
	p.config.Sellers = sellers
	p.check(result)
}

// TestOffersThatTheRecordLacksPreventAPurchase uses a state database without the purchase, whose first offer
// stands.
func TestOffersThatTheRecordLacksPreventAPurchase(t *testing.T) {
	p := newPurchase(t, 2)
	p.sell(wait, wait)
	ctx, stop := context.WithCancel(p.ctx)
	p.config.Agent.Acted = func(act agent.Act) {
		if act.Name == "submit_offer" {
			stop()
		}
	}
	_, err := p.start(p.Buyer).Run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	other, err := sqlite.Open(p.ctx, filepath.Join(t.TempDir(), "state.db"))
	require.NoError(t, err)
	defer other.Close()
	p.config.Store = other
	for range 2 {
		_, err = p.start(p.Buyer).Run(p.ctx)
		require.ErrorIs(t, err, agent.ErrRecordLost)
	}
}
