// Create-and-settle runs one negotiation from the deposit to the refund of the rent, with both parties in a
// single program:
//
//	go run ./examples/create-and-settle
//	go run ./examples/create-and-settle --rpc URL --mint ADDRESS --buyer FILE --seller FILE
//
// The first form starts a local chain, or uses the chain at HAGGLE_RPC_URL. The second form uses the chain at
// URL and the wallets in two Solana keypair files. The buyer needs 5,000,000 base units of the mint, both
// need SOL for fees, and the buyer for rent.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

const service = "Find whale patterns in 10,000 Solana transactions"

func main() {
	log.SetFlags(0)
	rpc := flag.String("rpc", "", "JSON-RPC `URL` of a chain; if empty, a local chain is started")
	ws := flag.String("ws", "", "WebSocket `URL` of that chain, if not derived from --rpc")
	mint := flag.String("mint", "", "`ADDRESS` of the mint")
	buyer := flag.String("buyer", "", "keypair `FILE` of the buyer")
	seller := flag.String("seller", "", "keypair `FILE` of the seller")
	order := flag.String("order", "1", "`NAME` of the purchase")
	flag.Parse()
	ctx := context.Background()
	var err error
	if *rpc == "" {
		err = settleLocally(ctx, *order)
	} else {
		err = settleAt(ctx, haggle.Config{Endpoint: *rpc, WSEndpoint: *ws}, *mint, *buyer, *seller, *order)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// market is a chain with two parties and a mint.
type market struct {
	client        *haggle.Client
	buyer, seller *wallet.Keypair
	mint          solana.PublicKey
	// order names the purchase.
	order string
}

func settleLocally(ctx context.Context, order string) (err error) {
	progress := func(line string) { fmt.Fprintln(os.Stderr, line) }
	net, err := localnet.Start(ctx, localnet.Options{Progress: progress})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, net.Close()) }()
	return market{net.Client, net.Buyer, net.Seller, net.Mint, order}.settle(ctx)
}

func settleAt(ctx context.Context, config haggle.Config, mint, buyerFile, sellerFile, order string) (err error) {
	m := market{order: order}
	if m.mint, err = solana.PublicKeyFromBase58(mint); err != nil {
		return fmt.Errorf("--mint: %w", err)
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
	return m.settle(ctx)
}

func (m market) settle(ctx context.Context) error {
	client, buyer, seller := m.client, m.buyer, m.seller

	// The buyer deposits its maximum, 5,000,000 base units, and invites the seller.
	invitation, err := client.CreateNegotiation(haggle.CreateRequest{
		Buyer:        buyer.PublicKey(),
		Seller:       seller.PublicKey(),
		Mint:         m.mint,
		Decimals:     6,
		EscrowAmount: 5_000_000,
		ServiceHash:  protocol.ServiceHash(service),
		Key:          m.order,
		MaxRounds:    8,
		DecayRateBps: new(uint16(150)),
		Deadline:     30 * time.Minute,
	}).Build(ctx)
	if err != nil {
		return err
	}
	if err := do(ctx, invitation, nil, buyer); err != nil {
		return err
	}
	address := invitation.Negotiation

	// The seller accepts the terms read, if they name the seller's service.
	snapshot, err := client.Negotiation(address).Snapshot(ctx)
	if err != nil {
		return err
	}
	if snapshot.ServiceHash != protocol.ServiceHash(service) {
		return fmt.Errorf("negotiation %s: other service", address)
	}
	acceptance, err := client.At(snapshot).
		AcceptInvitation(seller.PublicKey(), snapshot.TermsHash(), 6, haggle.Deposit{}).Build(ctx)
	if err := do(ctx, acceptance, err, seller); err != nil {
		return err
	}

	// The buyer offers 2,000,000, the seller 4,000,000, the buyer 3,000,000, and the seller accepts.
	for _, offer := range []struct {
		by     *wallet.Keypair
		amount uint64
	}{{buyer, 2_000_000}, {seller, 4_000_000}, {buyer, 3_000_000}} {
		action, err := client.Negotiation(address).
			SubmitOffer(offer.by.PublicKey(), haggle.Offer{Amount: offer.amount}).Build(ctx)
		if err := do(ctx, action, err, offer.by); err != nil {
			return err
		}
	}
	agreement, err := client.Negotiation(address).AcceptOffer(seller.PublicKey(), 3_000_000).Build(ctx)
	if err := do(ctx, agreement, err, seller); err != nil {
		return err
	}

	// Fee and decay go to the treasury, the rent goes back to the buyer.
	closing, err := client.Negotiation(address).Close(buyer.PublicKey()).Build(ctx)
	if err := do(ctx, closing, err, buyer); err != nil {
		return err
	}
	return m.report(ctx)
}

// do runs an action and prints its receipt and events. It returns the error of the call that built the
// action, if there is one.
func do(ctx context.Context, action *haggle.Action, buildErr error, signers ...haggle.Signer) error {
	if buildErr != nil {
		return buildErr
	}
	receipt, err := action.Do(ctx, signers...)
	if err != nil {
		return fmt.Errorf("%s: %w", action.Name, err)
	}
	fmt.Printf("%-18s %6d compute units, %d lamports, confirmed after %s\n",
		action.Name, receipt.ComputeUnits, receipt.Fee, receipt.Elapsed.Round(time.Millisecond))
	for _, event := range receipt.Events {
		switch event := event.(type) {
		case *protocol.OfferSubmitted:
			fmt.Printf("  round %d: %d of %d base units\n", event.Round, event.Amount, event.EffectiveEscrow)
		case *protocol.NegotiationSettled:
			fmt.Printf("  settled at %d: fee %d, decay %d\n",
				event.SettledAmount, event.ProtocolFee, event.EscrowDecayTotal)
		}
	}
	return nil
}

// report prints the parties' and the treasury's token balances.
func (m market) report(ctx context.Context) error {
	mint, err := m.client.GetMint(ctx, m.mint)
	if err != nil {
		return err
	}
	config, err := m.client.GetConfig(ctx)
	if err != nil {
		return err
	}
	for _, party := range []struct {
		name   string
		wallet solana.PublicKey
	}{{"buyer", m.buyer.PublicKey()}, {"seller", m.seller.PublicKey()}, {"treasury", config.Treasury}} {
		address, err := mint.AssociatedAddress(party.wallet)
		if err != nil {
			return err
		}
		account, err := m.client.GetTokenAccount(ctx, address)
		if err != nil {
			return err
		}
		fmt.Printf("%-8s has %9d base units\n", party.name, account.Amount)
	}
	return nil
}
