// Package buyer is the example agent that buys a service: it escrows the highest price, invites one seller,
// and concedes in equal steps from the opening price towards the reservation price.
//
//	buyer --seller ADDRESS --mint ADDRESS --escrow 5 --opening 2 --reservation 3.5
//
// The SDK's package agent runs the negotiation; this package has Decide. Once restarted, it continues the
// open negotiation: the negotiation state is on chain, and the journal holds the unsent transactions.
package buyer

import (
	"context"
	"os"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/agentrun"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
)

type buyer struct {
	*agentrun.Party
	escrow    uint64
	maxTotal  uint64
	rounds    uint8
	decayBps  uint16
	maxFeeBps *uint16
	deadline  time.Duration
}

// Main runs the command line until the agent ends, and exits.
func Main(arguments []string) {
	log := &agentrun.Log{Agent: "buyer", Out: os.Stdout}
	var known agentrun.Flags
	var b buyer
	var escrow, maxTotal amount.Text
	var key string
	deadline := duration.Flag(30 * time.Minute)
	cmd := &cobra.Command{
		Use:   "buyer",
		Short: "Buy a service: bargain with a seller on Solana",
		Long: `Escrows the maximum price, invites the seller, and concedes in equal steps from the opening price to the
reservation price, or as --strategy says. At the end it closes the negotiation.

After an interrupt or a crash it continues with its open negotiation. Every transaction is written to the
journal before it is sent. A restarted buyer first resolves an unfinished transaction, which can take a
minute. With --key it buys once, whatever nodes report: another run with that key continues the purchase, or
says what it has bought, and refuses other terms. Without --key it prints the key that it uses.

The exit codes are haggle's (haggle help exit-codes): 0 if it has bought, 8 without a deal.`,
		Example: "  buyer --seller ADDRESS --mint ADDRESS --escrow 5 --opening 2 --reservation 3.5 --keypair buyer.json",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if key == "" && cmd.Flags().Changed("key") {
				return exitcode.Usagef("--key: must not be empty")
			}
			if b.Party, err = known.Open(cmd.Context(), log); err != nil {
				return err
			}
			defer b.Close()
			if b.escrow, err = b.Units("--escrow", escrow); err != nil {
				return err
			}
			if b.maxTotal = b.escrow; !maxTotal.IsZero() {
				if b.maxTotal, err = b.Units("--max-total", maxTotal); err != nil {
					return err
				}
			}
			b.deadline, b.Key = time.Duration(deadline), key
			known.Limits.Allow(b.rounds, b.decayBps)
			b.maxFeeBps = known.Limits.MaxFeeBps()
			return b.buy(cmd.Context())
		},
	}
	known.Register(cmd, "seller", "2", "3.5")
	_ = escrow.Set("5")
	cmd.Flags().Var(&escrow, "escrow", "deposit: the maximum price")
	cmd.Flags().Var(&maxTotal, "max-total",
		"most that the buyer pays in all: price and decay (default: --escrow)")
	cmd.Flags().Uint8Var(&b.rounds, "rounds", 8, "number of offers of both sides together")
	cmd.Flags().Uint16Var(&b.decayBps, "decay-bps", 150, "share that the escrow loses each round, in basis points")
	cmd.Flags().Var(&deadline, "deadline", "time from the creation until the negotiation ends")
	cmd.Flags().StringVar(&key, "key", "", "name of the purchase, for example an order's number (default: a random one)")
	cmd.SetArgs(arguments)
	agentrun.Main(cmd, log)
}

func (b *buyer) buy(ctx context.Context) error {
	if b.Opening > b.Reservation || b.Reservation > b.maxTotal || b.maxTotal > b.escrow {
		return exitcode.Usagef(
			"--opening, --reservation, --max-total and --escrow: none must exceed the next one")
	}
	negotiation, err := b.unfinished(ctx)
	earlier, acted := false, false
	if err == nil && negotiation.IsZero() {
		negotiation, earlier, err = b.invite(ctx)
	}
	if err != nil {
		return err
	}
	deal, err := b.Bargain(ctx, negotiation, agent.Config{
		Decide: b.Play().Decide,
		Mints: map[solana.PublicKey]agent.Limits{
			b.Mint: {Decimals: b.Amounts.Decimals, MaxTotal: b.maxTotal},
		},
		Acted: func(agent.Act) { acted = true },
	})
	if err != nil {
		return err
	}
	if earlier && !acted {
		b.Note("bought before with --key %q, in %s, for %s: nothing was bought now; another purchase needs another --key",
			b.Key, negotiation, b.Tokens(deal.Price))
		return nil
	}
	b.Note("bought for %s after %d offers", b.Tokens(deal.Price), deal.Rounds)
	return nil
}
