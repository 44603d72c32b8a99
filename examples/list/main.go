// List prints an agent's negotiations, and whose turn it is in each:
//
//	go run ./examples/list --rpc https://api.devnet.solana.com AGENT
//
// If no address is given, it starts a local chain, where a buyer invites a seller to three negotiations, and
// lists the buyer's.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func main() {
	log.SetFlags(0)
	rpc := flag.String("rpc", os.Getenv(localnet.EnvRPCURL), "JSON-RPC `URL` of the agent's chain")
	flag.Parse()
	var err error
	if flag.NArg() > 0 {
		err = listAgent(context.Background(), *rpc, flag.Arg(0))
	} else {
		err = listInvitations(context.Background())
	}
	if err != nil {
		log.Fatal(err)
	}
}

func listAgent(ctx context.Context, endpoint, address string) error {
	agent, err := solana.PublicKeyFromBase58(address)
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	if endpoint == "" {
		return fmt.Errorf("RPC URL not set: use --rpc or %s", localnet.EnvRPCURL)
	}
	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint})
	if err != nil {
		return err
	}
	defer client.Close()
	return list(ctx, client, agent)
}

// list prints all negotiations with the agent as buyer or seller, in any status.
func list(ctx context.Context, client *haggle.Client, agent solana.PublicKey) error {
	now, err := client.Now(ctx)
	if err != nil {
		return err
	}
	for negotiation, err := range client.FindNegotiations(ctx, haggle.Filter{Party: agent}) {
		if err != nil {
			return err
		}
		fmt.Printf("%s session %d: %s, round %d of %d, %d of %d base units in escrow, %s\n",
			negotiation.Address, negotiation.SessionID, negotiation.Status,
			negotiation.CurrentRound, negotiation.MaxRounds, negotiation.EffectiveEscrow,
			negotiation.EscrowAmount, next(negotiation, agent, now))
	}
	return nil
}

// next returns the next possible step and the seconds left for it.
func next(negotiation *haggle.Snapshot, agent solana.PublicKey, now int64) string {
	switch {
	case negotiation.IsOver():
		return "can be closed"
	case negotiation.IsOverdue(now):
		return "can be expired"
	case negotiation.Status == protocol.NegotiationStatusCreated:
		return fmt.Sprintf("invited, %d s left", negotiation.TurnDeadline-now)
	case negotiation.Party(negotiation.Turn()) == agent:
		return fmt.Sprintf("your turn, %d s left", negotiation.TurnDeadline-now)
	default:
		return fmt.Sprintf("the other side's turn, %d s left", negotiation.TurnDeadline-now)
	}
}

func listInvitations(ctx context.Context) error {
	progress := func(line string) { fmt.Fprintln(os.Stderr, line) }
	net, err := localnet.Start(ctx, localnet.Options{Progress: progress})
	if err != nil {
		return err
	}
	defer net.Close()
	for escrow := range uint64(3) {
		invitation, err := net.Client.CreateNegotiation(haggle.CreateRequest{
			Buyer:        net.Buyer.PublicKey(),
			Seller:       net.Seller.PublicKey(),
			Mint:         net.Mint,
			Decimals:     localnet.Decimals,
			EscrowAmount: (escrow + 1) * 1_000_000,
			Key:          fmt.Sprint("order ", escrow+1),
		}).Build(ctx)
		if err != nil {
			return err
		}
		if _, err := invitation.Do(ctx, net.Buyer); err != nil {
			return err
		}
	}
	return list(ctx, net.Client, net.Buyer.PublicKey())
}
