// Policy is a buyer whose wallet signs only within spending limits:
//
//	go run ./examples/policy --rpc URL --key buyer.json --mint ADDRESS --seller ADDRESS
//
// The policy decodes each message, then signs. It counts in the state database --state, so the limits per day
// and per counterparty hold across restarts. The program first shows a denial: it tries to deposit more than
// the limit per transaction, and nothing is signed. Then it deposits within the limits and bargains with
// ./examples/seller. "haggle -k buyer.json --state policy.db policy usage" prints the totals.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// Amounts in the mint's base units.
const (
	escrow   = 5_000_000
	maxTotal = 4_000_000 // price and decay
)

func main() {
	rpc := flag.String("rpc", "http://127.0.0.1:8899", "JSON-RPC `URL`")
	ws := flag.String("ws", "", "WebSocket `URL`, if not derived from --rpc")
	keyFile := flag.String("key", "buyer.json", "keypair `FILE` of the Solana tools")
	mint := flag.String("mint", "", "`ADDRESS` of the mint of the payment")
	seller := flag.String("seller", "", "`ADDRESS` of the seller")
	stateFile := flag.String("state", "policy.db", "`FILE` of the state database: the usage of the limits")
	order := flag.String("order", "1", "`NAME` of the purchase: a run with the name of an earlier one deposits nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config := haggle.Config{Endpoint: *rpc, WSEndpoint: *ws}
	if err := run(ctx, config, *keyFile, *mint, *seller, *stateFile, *order); err != nil {
		log.Fatal(err)
	}
}

func run(
	ctx context.Context, config haggle.Config, keyFile, mint, seller, stateFile, order string,
) (err error) {
	payment, err := solana.PublicKeyFromBase58(mint)
	if err != nil {
		return fmt.Errorf("--mint: %w", err)
	}
	counterpart, err := solana.PublicKeyFromBase58(seller)
	if err != nil {
		return fmt.Errorf("--seller: %w", err)
	}
	key, err := wallet.LoadKeypairFile(keyFile)
	if err != nil {
		return fmt.Errorf("--key: %w", err)
	}
	client, err := haggle.NewClient(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	state, err := sqlite.Open(ctx, stateFile)
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	signer, err := limited(ctx, client, key, payment, counterpart, state)
	if err != nil {
		return err
	}

	_, err = invite(ctx, client, signer, payment, counterpart, order, 2*escrow)
	var used *haggle.SessionUsedError
	if errors.As(err, &used) {
		log.Printf("order %s: an earlier run has made the deposit", order)
		return bargain(ctx, client, signer, payment, used.Negotiation)
	}
	var denial *policy.Denial
	if !errors.As(err, &denial) {
		return fmt.Errorf("deposit of %d: not denied: %w", 2*escrow, err)
	}
	log.Printf("not signed: %s: %d requested, limit %d", denial.Rule, denial.Requested, denial.Limit)

	negotiation, err := invite(ctx, client, signer, payment, counterpart, order, escrow)
	if err != nil {
		return err
	}
	return bargain(ctx, client, signer, payment, negotiation)
}

// limited returns a signer that enforces limits for a single mint and counterparty. Everything else is
// denied.
func limited(
	ctx context.Context, client *haggle.Client, key haggle.Signer, mint, seller solana.PublicKey,
	store policy.Store,
) (*policy.Policy, error) {
	return policy.New(ctx, key, policy.Config{
		// Fees and rent: 6,493,680 lamports for a negotiation, refunded on closing.
		Lamports: policy.Limits{
			PerTransaction: 10_000_000, PerNegotiation: 20_000_000, PerCounterparty: policy.Unlimited,
			PerDay: 100_000_000, ApproveAbove: policy.Unlimited,
		},
		Tokens: map[solana.PublicKey]policy.TokenLimits{mint: {
			Limits: policy.Limits{
				PerTransaction: escrow, PerNegotiation: escrow, PerCounterparty: 4 * escrow, PerDay: 4 * escrow,
				ApproveAbove: policy.Unlimited,
			},
			MaxTotal: maxTotal,
		}},
		Counterparties: []solana.PublicKey{seller},
		Negotiations:   policy.Reader(client),
		Evidence:       policy.EvidenceOf(client),
		StopFile:       "stop",
		Store:          store,
	})
}

func invite(
	ctx context.Context, client *haggle.Client, signer haggle.Signer, mint, seller solana.PublicKey,
	order string, deposit uint64,
) (solana.PublicKey, error) {
	invitation, err := client.CreateNegotiation(haggle.CreateRequest{
		Buyer: signer.PublicKey(), Seller: seller, Mint: mint, Decimals: 6, EscrowAmount: deposit,
		ServiceHash: protocol.ServiceHash("Summarise a paper"), Key: order,
	}).Build(ctx)
	if err != nil {
		return solana.PublicKey{}, err
	}
	_, err = invitation.Do(ctx, signer)
	return invitation.Negotiation, err
}

func bargain(
	ctx context.Context, client *haggle.Client, signer haggle.Signer, mint, negotiation solana.PublicKey,
) error {
	buyer, err := agent.New(client, signer, agent.Config{
		Mints: map[solana.PublicKey]agent.Limits{mint: {Decimals: 6, MaxTotal: maxTotal}},
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			bid, err := turn.InRange(maxTotal) // less the decay
			if err == nil && turn.CanAccept() && turn.Standing() <= bid {
				return agent.Accept{}, nil
			}
			return agent.Offer{Amount: bid}, err
		},
	})
	if err != nil {
		return err
	}
	deal, err := buyer.RunOne(ctx, negotiation)
	if deal != nil {
		log.Printf("%s: price %d after %d offers", deal.Status, deal.Price, deal.Rounds)
	}
	return err
}
