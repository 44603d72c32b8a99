// Milestones pays a price in two tranches, with both agents in a single program:
//
//	go run ./examples/milestones --rpc URL --mint ADDRESS --arbiter ADDRESS --buyer FILE --seller FILE
//
// The seller claims a milestone upon delivery, with the delivery's hash. The buyer checks the delivery and
// releases the tranche, or disputes it; then the arbiter decides. If the buyer does neither within the review
// window, anyone can release the tranche.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

var service = protocol.ServiceHash("Translate a book in two parts")

func main() {
	rpc := flag.String("rpc", "http://127.0.0.1:8899", "JSON-RPC `URL`")
	ws := flag.String("ws", "", "WebSocket `URL`, if not derived from --rpc")
	mint := flag.String("mint", "", "`ADDRESS` of the mint of the payment")
	buyerFile := flag.String("buyer", "buyer.json", "keypair `FILE` of the buyer")
	sellerFile := flag.String("seller", "seller.json", "keypair `FILE` of the seller")
	arbiter := flag.String("arbiter", "", "`ADDRESS` of the arbiter, who is neither party")
	order := flag.String("order", "1", "`NAME` of the purchase")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	err := run(ctx, haggle.Config{Endpoint: *rpc, WSEndpoint: *ws}, *mint, *arbiter, *buyerFile, *sellerFile, *order)
	if err != nil {
		log.Fatal(err)
	}
}

// market is a chain with two parties.
type market struct {
	client        *haggle.Client
	mint, arbiter solana.PublicKey
	buyer, seller *wallet.Keypair
	// order names the purchase.
	order string
}

func run(ctx context.Context, config haggle.Config, mint, arbiter, buyerFile, sellerFile, order string) (err error) {
	m := market{order: order}
	if m.mint, err = solana.PublicKeyFromBase58(mint); err != nil {
		return fmt.Errorf("--mint: %w", err)
	}
	if m.arbiter, err = solana.PublicKeyFromBase58(arbiter); err != nil {
		return fmt.Errorf("--arbiter: %w", err)
	}
	if m.buyer, err = wallet.LoadKeypairFile(buyerFile); err != nil {
		return fmt.Errorf("--buyer: %w", err)
	}
	if m.seller, err = wallet.LoadKeypairFile(sellerFile); err != nil {
		return fmt.Errorf("--seller: %w", err)
	}
	if m.client, err = haggle.NewClient(config); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.client.Close()) }()
	return m.trade(ctx)
}

// trade invites the seller, and runs both agents until the last tranche is paid.
func (m market) trade(ctx context.Context) error {
	invitation, err := m.client.CreateNegotiation(haggle.CreateRequest{
		Buyer: m.buyer.PublicKey(), Seller: m.seller.PublicKey(), Mint: m.mint, Decimals: 6,
		EscrowAmount: 5_000_000, ServiceHash: service, Key: m.order,
		Milestones: &haggle.Milestones{
			Arbiter: m.arbiter, Shares: []uint16{4_000, 6_000}, ReviewHours: 24, Delivery: 7 * 24 * time.Hour,
		},
	}).Build(ctx)
	if err != nil {
		return err
	}
	if _, err := invitation.Do(ctx, m.buyer); err != nil {
		return err
	}
	var agents sync.WaitGroup
	var buyerErr, sellerErr error
	agents.Go(func() { sellerErr = m.runAgent(ctx, m.seller, invitation.Negotiation, deliver) })
	agents.Go(func() { buyerErr = m.runAgent(ctx, m.buyer, invitation.Negotiation, review) })
	agents.Wait()
	return errors.Join(buyerErr, sellerErr)
}

func (m market) runAgent(ctx context.Context, key *wallet.Keypair, negotiation solana.PublicKey,
	milestone func(context.Context, agent.Turn) (agent.MilestoneMove, error),
) error {
	party, err := agent.New(m.client, key, agent.Config{
		Mints: map[solana.PublicKey]agent.Limits{
			m.mint: {Decimals: 6, MinPrice: 2_900_000, MaxTotal: 3_200_000, SingleSourceUpTo: 3_000_000},
		},
		Services:    [][32]byte{service},
		Decide:      decide,
		OnMilestone: milestone,
		Arbiters:    []solana.PublicKey{m.arbiter},
		Acted:       func(act agent.Act) { log.Printf("%s: %s", act.Side, act.Name) },
	})
	if err != nil {
		return err
	}
	deal, err := party.RunOne(ctx, negotiation)
	if deal != nil {
		log.Printf("%s: %s, price %d, fee %d", deal.Side, deal.Status, deal.Price, deal.Fee)
	}
	return err
}

// decide offers 3 tokens of 6 decimals, and accepts that.
func decide(_ context.Context, turn agent.Turn) (agent.Decision, error) {
	if turn.Standing() == 3_000_000 {
		return agent.Accept{}, nil
	}
	price, err := turn.InRange(3_000_000)
	return agent.Offer{Amount: price}, err
}

// deliver is the seller's side: deliver the next part, and claim the milestone with the delivery's hash.
func deliver(_ context.Context, turn agent.Turn) (agent.MilestoneMove, error) {
	for index := range turn.Negotiation.MilestoneCount() {
		if turn.Negotiation.MilestoneState(index) == protocol.MilestoneStateUnclaimed {
			return agent.ClaimMilestone{Index: index, Evidence: protocol.EvidenceHash(delivery(index))}, nil
		}
	}
	return agent.Wait{}, nil
}

// review is the buyer's side: check the delivery, and release the tranche. agent.DisputeMilestone calls the
// arbiter instead.
func review(_ context.Context, turn agent.Turn) (agent.MilestoneMove, error) {
	for index := range turn.Negotiation.MilestoneCount() {
		if turn.Negotiation.MilestoneState(index) == protocol.MilestoneStateUnderReview {
			return agent.ReleaseMilestone{Index: index}, nil
		}
	}
	return agent.Wait{}, nil
}

func delivery(index uint8) []byte { return fmt.Appendf(nil, "part %d of the book", index+1) }
