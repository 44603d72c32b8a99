package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/actions"
	"github.com/haggle-protocol/haggle/internal/cli/agentrun"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const buyHelp = `Buys one service from one of up to eight sellers. It invites all of them, each with an escrow of its own,
bargains with all by a strategy, and takes the first agreement. The others are rejected, and their escrows
come back.

With each seller the highest price is --reservation, or the best price that another seller offers at present
if that is lower. --max-total is the most that the purchase costs: the price and the decay of all
negotiations. A --policy counts each of the escrows. See haggle agent --help for the strategies.
Each offer to each seller costs --decay-bps of an escrow, which can cost more than a further seller saves: by
default nothing decays.

The program cannot withdraw an offer, so two standing offers could be two purchases. The buyer has at most
one standing offer, or one acceptance, at a time. It moves on to another seller when the seller's answer is
final, about 13 seconds later. A seller that does not answer is rejected when the others' time requires it, so
--window must leave each seller enough.

--key names the purchase, for example by an order's number. Started again with the same key, sellers and
terms, the command continues with the same negotiations, and buys nothing twice: it may be killed at any time.
After the end it prints the same result. The state database (--state) has the record of the purchase.

The exit code is 0 if it has bought, and 8 without a deal.`

const buyExample = `  haggle buy --sellers ADDRESS,ADDRESS,ADDRESS --mint ADDRESS --escrow 5 --service "Summarise a paper" \
      --strategy linear --opening 2 --reservation 3.5 --max-total 4.2 --key order-1234`

// buyCommand holds the flags of haggle buy. The embedded command holds the agent flags, and prints.
type buyCommand struct {
	agentCommand
	sellers          []string
	escrow           amount.Text
	service, key     string
	rounds           uint8
	decayBps         uint16
	deadline, window duration.Flag
	invited          []solana.PublicKey
}

// bought is the output for a finished purchase.
type bought struct {
	// Negotiation and Seller identify the deal; they are missing if there is none.
	Negotiation *solana.PublicKey `json:"negotiation,omitempty"`
	Seller      *solana.PublicKey `json:"seller,omitempty"`
	// Price is 0 if there is no deal. It includes the fee.
	Price amount.Tokens `json:"price"`
	// Total is the price and the decay of all negotiations.
	Total amount.Tokens `json:"total"`
	// Sellers is the number of negotiations.
	Sellers int `json:"sellers"`
}

// BuyCommand returns "haggle buy".
func BuyCommand(s *session.Session) *cobra.Command {
	b := &buyCommand{
		agentCommand: agentCommand{Session: s, role: "buyer", side: protocol.OfferSideBuyer},
		deadline:     duration.Flag(30 * time.Minute),
		window:       duration.Flag(time.Duration(protocol.DefaultResponseWindow) * time.Second),
	}
	cmd := &cobra.Command{
		Use: "buy", Short: "Bargain with several sellers and buy from one", Long: buyHelp, Example: buyExample,
	}
	flags := cmd.Flags()
	b.play.Register(cmd, "")
	b.trust.Register(flags)
	b.limits.RegisterFee(flags)
	flags.StringSliceVar(&b.sellers, "sellers", nil, "addresses of 1 to 8 sellers, separated by commas")
	flags.Var(&b.mint, "mint", "mint of the payment")
	flags.Var(&b.escrow, "escrow", "deposit for each seller: the maximum price")
	flags.StringVar(&b.service, "service", "", "description of the service, of which only the SHA-256 goes on chain")
	flags.StringVar(&b.key, "key", "", "idempotency key, for example an order's number: the same key buys once")
	flags.Var(&b.opening, "opening", "first price")
	flags.Var(&b.reservation, "reservation", "price beyond which no deal is better than a deal")
	flags.Var(&b.maxTotal, "max-total", "most that the purchase costs in all: price and decay of all negotiations")
	flags.Var(&b.deadline, "deadline", "time from now until the negotiations end")
	flags.Var(&b.window, "window", "response window")
	flags.Uint8Var(&b.rounds, "rounds", protocol.DefaultMaxRounds, "number of offers of both sides in each negotiation")
	flags.Uint16Var(&b.decayBps, "decay-bps", 0,
		"share that an escrow loses each round, in basis points")
	command.Required(cmd, "sellers", "mint", "escrow", "service", "key", "strategy", "reservation", "max-total")
	command.Documents(cmd, actions.Action{}, agentrun.Note{}, agent.Record{}, ended{}, bought{})
	b.changed = flags.Changed
	cmd.RunE = s.Unlimited(b.run)
	return cmd
}

func (b *buyCommand) run(ctx context.Context, _ []string) (err error) {
	if err := b.check(); err != nil {
		return err
	}
	if b.gate, err = b.trust.Gate(); err != nil {
		return err
	}
	play, err := b.play.Open(b.decided)
	if err != nil {
		return err
	}
	defer b.ShowProgress("waiting for the endpoint")()
	defer func() { err = errors.Join(err, play.Close()) }()
	client, key, err := b.ClientAndKey(ctx)
	if err != nil {
		return err
	}
	b.client, b.wallet = client, key.PublicKey()
	if b.gate != nil {
		for _, seller := range b.invited {
			if err := b.gate.Check(ctx, seller); err != nil {
				return err
			}
		}
	}
	config, err := b.purchase(ctx, play)
	if err != nil {
		return err
	}
	purchase, err := agent.NewPurchase(client, key, config)
	if err != nil {
		return exitcode.AsUsage(err, "")
	}
	b.steps.report, b.steps.idle = b.Stage, "inviting the sellers"
	b.Stage(b.steps.idle)
	result, err := purchase.Run(ctx)
	if result == nil {
		return exitcode.Match(err, exitcode.Case{Is: agent.ErrPurchaseTerms, Kind: exitcode.Refused,
			Hint: "a further purchase needs another --key"}, exitcode.Case{Is: agent.ErrRecordLost, Kind: exitcode.Refused,
			Hint: "use the --state that the purchase began with"})
	}
	return errors.Join(b.print(result), err)
}

// check checks the flags that need no chain.
func (b *buyCommand) check() error {
	for _, text := range b.sellers {
		var seller connection.Address
		if err := seller.Set(strings.TrimSpace(text)); err != nil {
			return exitcode.Usagef("--sellers: %w", err)
		}
		b.invited = append(b.invited, seller.Key())
	}
	switch {
	case b.play.HasOpening() && b.opening.IsZero():
		return exitcode.Requires("--strategy", "--opening", "")
	case b.service == "":
		return exitcode.Usagef("--service: must not be empty")
	case b.rounds < protocol.MinRounds || b.rounds > protocol.MaxRounds:
		return exitcode.Usagef("--rounds %d: must be %d to %d", b.rounds, protocol.MinRounds, protocol.MaxRounds)
	case b.decayBps > protocol.MaxDecayRateBps:
		return exitcode.Usagef("--decay-bps %d: must be 0 to %d", b.decayBps, protocol.MaxDecayRateBps)
	}
	b.limits.Allow(b.rounds, b.decayBps)
	if err := b.limits.Check(); err != nil {
		return err
	}
	b.log = &agentrun.Log{Agent: b.role, Out: b.Stdout, JSON: b.JSON}
	return nil
}

// purchase returns the configuration of the purchase.
func (b *buyCommand) purchase(ctx context.Context, play *player.Player) (agent.PurchaseConfig, error) {
	config, err := b.config(ctx, play)
	if err != nil {
		return agent.PurchaseConfig{}, err
	}
	config.Decide, config.Concerns = nil, nil
	escrow, err := b.Units(ctx, b.mint.Key(), "--escrow", b.escrow)
	if err != nil {
		return agent.PurchaseConfig{}, err
	}
	records, err := b.Connection.State(ctx)
	if err != nil {
		return agent.PurchaseConfig{}, err
	}
	return agent.PurchaseConfig{
		Key: b.key, Sellers: b.invited, Player: play.Player, Agent: config, Store: records,
		Terms: haggle.CreateRequest{
			Mint: b.mint.Key(), Decimals: b.log.Amounts.Decimals, EscrowAmount: escrow,
			ServiceHash: protocol.ServiceHash(b.service), MaxRounds: b.rounds, DecayRateBps: &b.decayBps,
			ResponseWindow: time.Duration(b.window), Deadline: time.Duration(b.deadline), MaxFeeBps: b.limits.MaxFeeBps(),
		},
	}, nil
}

// print prints the purchase result. If there is no deal, it returns an error.
func (b *buyCommand) print(result *agent.PurchaseResult) error {
	document := bought{Total: b.log.Tokens(result.Total), Price: b.log.Tokens(0), Sellers: len(result.Negotiations)}
	if deal := result.Deal; deal != nil {
		document.Negotiation, document.Seller, document.Price = &deal.Negotiation, &deal.Counterpart, b.log.Tokens(deal.Price)
	}
	if b.JSON {
		b.log.Document(document)
	} else if deal := result.Deal; deal != nil {
		b.log.Note("bought from %s for %s, %s with all decay", deal.Counterpart, document.Price, document.Total)
	}
	if result.Deal == nil {
		return noDeal(fmt.Errorf("no deal with %d sellers: the decay was %s", document.Sellers, document.Total))
	}
	return nil
}
