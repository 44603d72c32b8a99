// Command agent is a seller for scripts: it accepts each offer after some time, or makes offers only.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

func main() {
	rpc := flag.String("rpc", "", "RPC endpoint")
	ws := flag.String("ws", "", "WebSocket endpoint")
	key := flag.String("key", "", "keypair file")
	mint := flag.String("mint", "", "mint")
	thinking := flag.Duration("thinking", 0, "time of a decision")
	stubborn := flag.Bool("stubborn", false, "make offers only")
	flag.Parse()
	config := haggle.Config{Endpoint: *rpc, WSEndpoint: *ws}
	if err := run(config, *key, *mint, *thinking, *stubborn); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(config haggle.Config, keyFile, mint string, thinking time.Duration, stubborn bool) (err error) {
	key, err := wallet.LoadKeypairFile(keyFile)
	if err != nil {
		return err
	}
	payment, err := solana.PublicKeyFromBase58(mint)
	if err != nil {
		return err
	}
	client, err := haggle.NewClient(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	var decisions atomic.Int64
	seller, err := agent.New(client, key, agent.Config{
		Mints:    map[solana.PublicKey]agent.Limits{payment: {Decimals: 6, MinPrice: 1, SingleSourceUpTo: 5_000_000}},
		Services: [][32]byte{protocol.ServiceHash("it")},
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Decide: func(ctx context.Context, _ agent.Turn) (agent.Decision, error) {
			decisions.Add(1)
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(thinking):
			}
			if stubborn {
				return agent.Offer{Amount: 4_000_000}, nil
			}
			return agent.Accept{}, nil
		},
	})
	if err != nil {
		return err
	}
	deal, err := seller.RunOne(context.Background(), solana.PublicKey{})
	if deal != nil {
		fmt.Printf("%s: price %d after %d offers, %d decisions\n",
			deal.Status, deal.Price, deal.Rounds, decisions.Load())
	}
	return err
}
