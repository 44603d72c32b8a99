// Package advise implements the command "haggle advise".
package advise

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const help = `Proposes the terms of a negotiation: deposit, rounds, decay and bond. It needs no chain. It solves the
game that Haggle's rules define for parties that know both values, and prints the result for both sides:

  fair      the highest product of both gains (Nash)
  buyer's   the highest gain of the buyer; usually an ultimatum that leaves the seller its cost
  defaults  the default terms, with the value as the deposit

A gain is relative to no negotiation. Use your best guess for a value that you do not know, and compare
several. The deposit is at most the value. --escrow, --rounds and --decay-bps fix a term, and the others are
chosen.
Without decay an offer costs nothing, but nothing hurries the other side either.`

// The terms of the search, the preferred ones first.
var (
	rounds = []uint8{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
	decays = []uint16{0, 25, 50, 100, 200, 500, 1000}
)

// advice is the output.
type advice struct {
	// Surplus is the value less the cost.
	Surplus amount.Tokens `json:"surplus"`
	// Fair has the highest product of the two gains, BuyersBest the buyer's highest gain. Defaults uses the
	// default terms, with the value as the deposit.
	Fair       proposal `json:"fair"`
	BuyersBest proposal `json:"buyers_best"`
	Defaults   proposal `json:"defaults"`
}

// proposal is terms, with their result in the equilibrium.
type proposal struct {
	Escrow       amount.Tokens `json:"escrow"`
	MaxRounds    uint8         `json:"max_rounds"`
	DecayRateBps uint16        `json:"decay_rate_bps"`
	// Bond pays the seller's delay at every end. If no delay is to be paid, it is 0.
	Bond   amount.Tokens `json:"bond"`
	Agreed bool          `json:"agreed"`
	// Price, Decay and Fee are 0 if there is no agreement. So are the gains, compared with not negotiating.
	Price      amount.Tokens `json:"price"`
	Decay      amount.Tokens `json:"decay"`
	Fee        amount.Tokens `json:"fee"`
	BuyerGain  amount.Tokens `json:"buyer_gain"`
	SellerGain amount.Tokens `json:"seller_gain"`
}

// Command returns "haggle advise".
func Command(s *session.Session) *cobra.Command {
	a := adviser{Session: s}
	cmd := &cobra.Command{
		Use: "advise", Short: "Propose the terms of a negotiation for two values", Long: help,
		Example: `  haggle advise --value 4 --cost 2.5
  haggle advise --value 4 --cost 2.5 --decay-bps 200
  haggle advise --value 4 --cost 2.5 --json | jq .fair`,
	}
	flags := cmd.Flags()
	flags.Var(&a.value, "value", "value of the service to the buyer")
	flags.Var(&a.cost, "cost", "the seller's cost: the least amount that it must get after the fee")
	flags.Var(&a.escrow, "escrow", "deposit (default: chosen, at most the value)")
	flags.Uint8Var(&a.rounds, "rounds", 0, "number of offers of both sides together (default: chosen)")
	flags.Uint16Var(&a.decay, "decay-bps", 0, "decay per offer in basis points (default: chosen)")
	flags.Uint16Var(&a.fee, "fee-bps", protocol.DefaultProtocolFeeBps, "protocol fee in basis points")
	flags.Uint8Var(&a.decimals, "decimals", 6, "decimals of the mint")
	command.Documents(cmd, advice{})
	cmd.RunE = s.Limited(func(context.Context, []string) error {
		h, choice, err := a.choice(flags.Changed)
		if err != nil {
			return err
		}
		return a.print(h, choice)
	})
	return cmd
}

type adviser struct {
	*session.Session
	value, cost, escrow amount.Text
	rounds, decimals    uint8
	decay, fee          uint16
}

// choice returns the game and the terms to choose from.
func (a *adviser) choice(changed func(flag string) bool) (h game.Haggle, choice game.Choice, err error) {
	var missing []string
	for _, flag := range []string{"value", "cost"} {
		if !changed(flag) {
			missing = append(missing, "--"+flag)
		}
	}
	switch {
	case len(missing) > 0:
		return h, choice, exitcode.Usagef("missing: %s", strings.Join(missing, "; "))
	case changed("rounds") && (a.rounds < protocol.MinRounds || a.rounds > protocol.MaxRounds):
		return h, choice, exitcode.Usagef("--rounds must be from %d to %d", protocol.MinRounds, protocol.MaxRounds)
	case a.decay > protocol.MaxDecayRateBps:
		return h, choice, exitcode.Usagef("--decay-bps must be at most %d", protocol.MaxDecayRateBps)
	case a.fee > protocol.MaxProtocolFeeBps:
		return h, choice, exitcode.Usagef("--fee-bps must be at most %d", protocol.MaxProtocolFeeBps)
	}
	for _, flag := range []struct {
		name string
		text amount.Text
		to   *uint64
	}{{"value", a.value, &h.Value}, {"cost", a.cost, &h.Cost}, {"escrow", a.escrow, &choice.Most}} {
		if flag.text.IsZero() {
			continue
		}
		if *flag.to, err = flag.text.In(a.decimals); err != nil {
			return h, choice, exitcode.Usagef("--%s: %w", flag.name, err)
		}
	}
	h.Rules = onchain.Rules{MinOfferBps: protocol.DefaultMinOfferBps, FeeBps: a.fee}
	choice.Least, choice.Rounds, choice.Decays = choice.Most, rounds, decays
	if !changed("escrow") {
		choice.Least, choice.Most = max(h.Cost, protocol.MinEscrowLamports), h.Value
	}
	if changed("rounds") {
		choice.Rounds = []uint8{a.rounds}
	}
	if changed("decay-bps") {
		choice.Decays = []uint16{a.decay}
	}
	switch least := protocol.MinEscrowLamports; {
	case h.Value <= h.Cost:
		return h, choice, &exitcode.Error{Kind: exitcode.NoDeal, Err: errors.New("the value is not above the cost: no price suits both sides")}
	case changed("escrow") && choice.Most < least, choice.Most < choice.Least:
		return h, choice, exitcode.Usagef("the deposit must be at least %s", amount.Tokens{Units: least, Decimals: a.decimals})
	}
	return h, choice, nil
}

func (a *adviser) print(h game.Haggle, choice game.Choice) error {
	fair, best, err := h.Propose(choice)
	if errors.Is(err, game.ErrNoSurplus) {
		return &exitcode.Error{Kind: exitcode.NoDeal, Hint: "the fee and the decay of the first offer must be less than the surplus",
			Err: errors.New("no terms lead to an agreement")}
	}
	if err != nil {
		return err
	}
	usual := h
	usual.Rules.Escrow, usual.Rules.Bond = max(h.Value, protocol.MinEscrowLamports), 0
	usual.Rules.MaxRounds, usual.Rules.DecayRateBps = protocol.DefaultMaxRounds, protocol.DefaultDecayRateBps
	document := advice{
		Surplus: a.tokens(h.Value - h.Cost), Fair: a.proposal(fair), BuyersBest: a.proposal(best),
		Defaults: a.proposal(usual.Advise()),
	}
	table := [][]string{}
	for _, row := range []struct {
		name string
		of   proposal
	}{{"fair", document.Fair}, {"buyer's", document.BuyersBest}, {"defaults", document.Defaults}} {
		price := "no deal"
		if row.of.Agreed {
			price = row.of.Price.Decimal()
		}
		table = append(table, []string{
			row.name, row.of.Escrow.Decimal(), fmt.Sprint(row.of.MaxRounds), format.Percent(row.of.DecayRateBps),
			row.of.Bond.Decimal(), price, row.of.BuyerGain.Decimal(), row.of.SellerGain.Decimal(), row.of.Decay.Decimal(),
			row.of.Fee.Decimal(),
		})
	}
	header := []string{"terms", "escrow", "rounds", "decay", "bond", "price", "buyer gains", "seller gains", "decay costs", "fee"}
	create := fmt.Sprintf("haggle negotiation create --escrow %s --rounds %d --decay-bps %d",
		document.Fair.Escrow.Decimal(), fair.Rules.MaxRounds, fair.Rules.DecayRateBps)
	if fair.Rules.Bond > 0 {
		create += " --bond " + document.Fair.Bond.Decimal()
	}
	return a.Print(document, "surplus "+document.Surplus.Decimal(), "", format.Table(header, table), "",
		"fair terms: "+create+" ...")
}

func (a *adviser) proposal(of game.Advice) proposal {
	return proposal{
		Escrow: a.tokens(of.Rules.Escrow), MaxRounds: of.Rules.MaxRounds, DecayRateBps: of.Rules.DecayRateBps,
		Bond: a.tokens(of.Rules.Bond), Agreed: of.Result.Agreed, Price: a.tokens(of.Result.Price),
		BuyerGain: a.tokens(of.Gains[game.Buyer]), SellerGain: a.tokens(of.Gains[game.Seller]),
		Decay: a.tokens(of.Result.Decay), Fee: a.tokens(of.Rules.Negotiation().FeeOn(of.Result.Price)),
	}
}

func (a *adviser) tokens(units uint64) amount.Tokens {
	return amount.Tokens{Units: units, Decimals: a.decimals}
}
