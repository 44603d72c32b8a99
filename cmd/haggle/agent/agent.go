// Package agent has the command "haggle agent".
package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/actions"
	"github.com/haggle-protocol/haggle/internal/cli/agentrun"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/languagemodel"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	"github.com/haggle-protocol/haggle/internal/cli/proving"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/identity"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const agentHelp = `Bargains by a strategy in all negotiations of the wallet in one mint, as a buyer
or as a seller, until Ctrl-C; with NEGOTIATION or --one in one negotiation, to its end.

A seller accepts invitations for its --service. A buyer invites with "haggle negotiation create"; the agent
finds the negotiation and bargains. It answers, keeps the deadlines, claims payouts and closes.

Prices are tokens of the mint. --opening is the price from which a strategy with a curve concedes; others
(micro, hardliner, random, car ...) begin at the best price and do not need it. --reservation is the price
beyond which no deal is better than a deal; a seller receives at least that after the fee. --max-total (buyer)
or --min-price (seller, after the fee) limits every signature, whatever the strategy does; --policy limits the
wallet. --max-total is the price and the decay of all offers together: each offer lowers the highest price
that the agent offers or accepts by its decay. A total is never above the escrow.
A seller reports a sale once the payment is proven: finalized, and confirmed by nodes of two hosts (--url).
--finalized-above and --single-source-up-to permit less proof for low prices. With one node the latter is
required.
A strategy can have parameters, as in boulware:e=6 or tft:kindness=0.1: "haggle simulate --help" has their
ranges. The record and the proof have the strategy's first name with them.
The strategy optimal plays the equilibrium of Haggle's rules. It needs --other-reservation, the reservation
price that it assumes of the other side: as good as that guess, and no better.
The agent takes no part in negotiations with sealed prices, bonds or milestones, nor in those on worse terms
than --max-decay-bps, --max-rounds, --min-window and --max-fee-bps. It accepts no offer with terms beside the
price.

A decision follows from strategy, prices, --seed, the terms and the offers, so that it is the same after a
restart and in a simulation. The clock does not change it: the strategy's target holds until the deadline.
There is one exception: if the node does not return all earlier offers before the time to answer is over, the
agent decides by those that it has. Each decision is printed with its reason. --record appends it to a file,
as one line of JSON, before it is carried out: the state (round, standing, previous, effective_escrow,
least, most, time, deadline), the move ("offer", "accept" or "end"), the price and the reason; amounts are
base units.
The field "values" has numbers to check the reason: the strategy's time from 0 to 1, its utility of the move
and of the standing offer, and the reservation value.

With --proof the agent commits to strategy, prices and seed before its first move: it prints the commitment,
and each offer carries it as its strategy hash. At the end it writes a proof for each negotiation in which it
made a move, with which anyone can replay its moves (haggle verify). The file reveals the reservation price:
publish it, or keep it. It exists from the first move on, and a restarted agent needs it. An agent that
accepts or rejects without an offer has published no commitment: give the printed one to the other side.

` + languagemodel.Help + `
Each decision of a model is printed with the model's own reason, which is not trusted, and at the end the
tokens that it used. --record then has what the model was told, its answers, corrections and costs.

With --llm and --proof the agent commits to the model, the SHA-256 of its instructions and a band of prices:
"buyerBand" or "sellerBand" of the mint in --policy, which also limits each signature. The moves cannot be
replayed, but "haggle verify" shows that each price lay within the band.

With --declare-model and --declare-prompt the commitment is to a language model and to the SHA-256 of its
prompt instead: for an agent whose strategy and prices a model has chosen. No model is called, and nobody can
check the claim: the proof shows both, and cannot be replayed.

With --domain and --profile the agent bargains about several issues: a domain and its own preferences in
GENIUS' XML or NegMAS' YAML or JSON. --price-issue is an integer issue, whose values are tokens. An offer on
chain has the price and the SHA-256 of a document with all issues. The documents travel through the folder of
--documents, which both sides share; an offer whose document is missing or has another hash is not accepted.
The profile's reservation value decides instead of --opening and --reservation, before the fee. With --proof
the agent commits to the texts of both files, too, and each document has the commitment and the hash of the
document that it answers. The proof reveals the profile.

The log on stderr has each negotiation in which the agent engages with its terms, whom it waits for and until
when, and, before it acts, each step that it takes because no answer or decision has come in time.

With NEGOTIATION or --one the exit code is 0 with a deal, and 8 without one or if a seller declines
NEGOTIATION. It ends at once with exit code 4 if NEGOTIATION does not
exist, and with 2 if the wallet does not have the role of --role there, or if it pays in another mint.`

const agentExample = `  haggle agent --role seller --strategy linear --mint ADDRESS --service "Summarise a paper" \
      --opening 4.5 --reservation 3 --min-price 3 --single-source-up-to 5
  haggle agent NEGOTIATION --role buyer --strategy linear --mint ADDRESS --opening 2 --reservation 3.5 \
      --max-total 4.2 --record decisions.jsonl
  haggle agent NEGOTIATION --role buyer --mint ADDRESS --max-total 3.5 --llm openai:MODEL --llm-tokens 200000 \
      --principal "A summary of the paper. Cheap matters more than fast."
  haggle agent NEGOTIATION --role buyer --strategy negmas-linear --mint ADDRESS --max-total 14 \
      --domain domain.yml --profile buyer.yml --documents shared`

// agentCommand holds the flags of haggle agent.
type agentCommand struct {
	*session.Session
	role                                     string
	mint                                     connection.Address
	opening, reservation, minPrice, maxTotal amount.Text
	services                                 []string
	one                                      bool
	maxOpen, maxOpenPerBuyer                 uint16
	proofs, model, prompt                    string
	trust                                    connection.TrustFlags
	play                                     player.Flags
	limits                                   player.LimitFlags
	settlement                               player.SettlementFlags
	issues                                   issueFlags
	llm                                      languagemodel.Flags
	// changed reports whether a flag is set.
	changed func(flag string) bool

	log    *agentrun.Log
	side   protocol.OfferSide
	gate   *identity.Gate
	prover *proving.Prover
	// band is the policy band that the agent commits to; nil if it commits to none.
	band   *proof.Band
	models *llm.Player
	client *haggle.Client
	// wallet is the opened wallet's address.
	wallet solana.PublicKey
	steps  steps
	// single is NEGOTIATION, and end stops the run; both are unset if NEGOTIATION is not given.
	single solana.PublicKey
	end    context.CancelCauseFunc
	// joined reports whether the seller had joined NEGOTIATION at the start.
	joined bool
	// reported is true once a negotiation's end has been printed.
	reported atomic.Bool
	// ignored holds the negotiations where the wallet plays the opposite role.
	ignored sync.Map
	// proving holds the proofs that are being written.
	proving sync.WaitGroup
}

// Command returns "haggle agent".
func Command(s *session.Session) *cobra.Command {
	a := &agentCommand{Session: s}
	cmd := &cobra.Command{
		Use: "agent [NEGOTIATION]", Short: "Bargain by a strategy, as a buyer or a seller", Long: agentHelp,
		Example: agentExample,
	}
	flags := cmd.Flags()
	a.play.Register(cmd, "")
	a.trust.Register(flags)
	a.limits.Register(flags)
	a.settlement.Register(flags)
	a.llm.Register(flags)
	flags.StringVar(&a.role, "role", "", "buyer or seller")
	flags.Var(&a.mint, "mint", "mint of the payment")
	flags.Var(&a.opening, "opening", "first price")
	flags.Var(&a.reservation, "reservation", "price beyond which no deal is better than a deal")
	flags.Var(&a.minPrice, "min-price", "least that a seller receives after the fee")
	flags.Var(&a.maxTotal, "max-total", "most that a buyer pays in all: price and decay")
	flags.StringArrayVar(&a.services, "service", nil,
		"description of a service that a seller sells; can be repeated")
	flags.Uint16Var(&a.maxOpen, "max-open", agent.DefaultMaxOpen, "most open negotiations of a seller")
	flags.Uint16Var(&a.maxOpenPerBuyer, "max-open-per-buyer", agent.DefaultMaxOpenPerCounterpart,
		"most open negotiations of a seller with one buyer; further invitations wait")
	flags.BoolVar(&a.one, "one", false, "end with the first negotiation in which the agent takes part")
	flags.StringVar(&a.proofs, "proof", "", "folder for proofs of the strategy; the offers carry the commitment")
	flags.StringVar(&a.model, "declare-model", "",
		"with --proof: claim that this language model chose strategy and prices; the commitment is to it in their place")
	flags.StringVar(&a.prompt, "declare-prompt", "",
		"with --declare-model: file with the model's prompt; only its SHA-256 is revealed")
	cmd.MarkFlagsRequiredTogether("declare-model", "declare-prompt")
	a.changed = flags.Changed
	flags.StringVar(&a.issues.domain, "domain", "", "file with the domain of several issues")
	flags.StringVar(&a.issues.profile, "profile", "", "with --domain: file with the agent's preferences")
	flags.StringVar(&a.issues.price, "price-issue", "price", "with --domain: name of the issue that is the price")
	flags.StringVar(&a.issues.documents, "documents", "", "with --domain: folder that both sides share")
	flags.StringVar(&a.issues.memory, "memory", "", "with --domain: private folder with the outcomes so far"+
		" (default: ~/.local/state/haggle/issues, or below $XDG_STATE_HOME)")
	command.Required(cmd, "role", "mint")
	command.Choices(cmd, "role", "buyer", "seller")
	command.Documents(cmd, actions.Action{}, agentrun.Note{}, agent.Record{}, committed{}, issueMove{},
		ended{}, modelMove{}, llm.Spending{})
	cmd.RunE = s.Unlimited(a.run)
	return cmd
}

func (a *agentCommand) run(ctx context.Context, arguments []string) (err error) {
	if err := a.checkRole(); err != nil {
		return err
	}
	var negotiation connection.Address
	if len(arguments) == 1 {
		if err := negotiation.Set(arguments[0]); err != nil {
			return exitcode.Usagef("NEGOTIATION: %w", err)
		}
	}
	if a.gate, err = a.trust.Gate(); err != nil {
		return err
	}
	play, err := a.play.Open(a.decided)
	if err != nil {
		return err
	}
	defer a.ShowProgress("waiting for the endpoint")()
	defer func() { err = errors.Join(err, play.Close()) }()
	client, key, err := a.ClientAndKey(ctx)
	if err != nil {
		return err
	}
	a.client, a.wallet = client, key.PublicKey()
	defer a.proving.Wait()
	config, err := a.config(ctx, play)
	if err != nil {
		return err
	}
	runtime, err := agent.New(client, key, config)
	if err != nil {
		return err
	}
	a.steps.report, a.steps.idle = a.Stage, "waiting for a negotiation that this wallet creates"
	if a.side == protocol.OfferSideSeller {
		a.steps.idle = "waiting for an invitation to sell a --service"
	}
	a.Stage(a.steps.idle)
	if negotiation.Key().IsZero() {
		a.log.Note("%s", a.steps.idle)
	}
	if a.one || !negotiation.Key().IsZero() {
		return a.runSingle(ctx, runtime, negotiation.Key())
	}
	err = runtime.Run(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil // Ctrl-C is the usual end
	}
	return err
}

// checkRole checks the flags that depend on the role.
func (a *agentCommand) checkRole() error {
	switch a.role {
	case "buyer":
		a.side = protocol.OfferSideBuyer
		if a.maxTotal.IsZero() {
			return exitcode.Requires("--role buyer", "--max-total", "")
		}
		if a.settlement.IsSet() {
			return exitcode.Excludes("--role buyer", "--single-source-up-to and --finalized-above", "leave them out")
		}
		if !a.minPrice.IsZero() || len(a.services) > 0 {
			return exitcode.Excludes("--role buyer", "--min-price and --service", "leave them out")
		}
	case "seller":
		a.side = protocol.OfferSideSeller
		if a.minPrice.IsZero() || len(a.services) == 0 {
			return exitcode.Requires("--role seller", "--min-price and --service", "")
		}
		if !a.maxTotal.IsZero() {
			return exitcode.Excludes("--role seller", "--max-total", "leave it out")
		}
		if slices.Contains(a.services, "") {
			return exitcode.Usagef("--service: must not be empty")
		}
	default:
		return exitcode.Usagef("--role: %q is neither buyer nor seller", a.role)
	}
	switch {
	case a.changed("declare-model") && a.model == "":
		return exitcode.Usagef("--declare-model: must not be empty")
	case a.model != "" && a.proofs == "":
		return exitcode.Requires("--declare-model", "--proof", "")
	}
	if a.maxOpen == 0 || a.maxOpenPerBuyer == 0 {
		return exitcode.Usagef("--max-open and --max-open-per-buyer: must be positive")
	}
	if err := a.limits.Check(); err != nil {
		return err
	}
	if err := a.checkModels(); err != nil {
		return err
	}
	if err := a.checkIssues(); err != nil {
		return err
	}
	if err := a.readBand(); err != nil {
		return err
	}
	a.log = &agentrun.Log{Agent: a.role, Out: a.Stdout, JSON: a.JSON}
	return nil
}

// config returns the runtime configuration. It reads the mint, because prices depend on it.
func (a *agentCommand) config(ctx context.Context, play *player.Player) (config agent.Config, err error) {
	if a.log.Amounts, err = a.PinnedMint(ctx, a.mint.Key()); err != nil {
		return config, err
	}
	limits, bound, other := agent.Limits{Decimals: a.log.Amounts.Decimals}, uint64(0), uint64(0)
	for _, price := range []struct {
		flag string
		text amount.Text
		into *uint64
	}{
		{"--opening", a.opening, &play.Opening}, {"--reservation", a.reservation, &play.Reservation},
		{"--min-price", a.minPrice, &limits.MinPrice}, {"--max-total", a.maxTotal, &limits.MaxTotal},
		{"--step", play.PriceStep, &play.Step}, {"--other-reservation", play.Other, &other},
	} {
		if price.text.IsZero() {
			continue
		}
		if *price.into, err = a.Units(ctx, a.mint.Key(), price.flag, price.text); err != nil {
			return config, err
		}
	}
	err = a.settlement.Limit(&limits, func(flag string, text amount.Text) (uint64, error) {
		return a.Units(ctx, a.mint.Key(), flag, text)
	})
	if err != nil {
		return config, err
	}
	if !play.Other.IsZero() {
		play.Assume(other)
	}
	if note := play.Note(); note != "" && !a.opening.IsZero() {
		a.log.Warn(a.Stderr, note)
	}
	if bound = limits.MaxTotal; a.side == protocol.OfferSideSeller {
		bound = limits.MinPrice
	}
	if a.reservation.IsZero() && a.llm.IsSet() {
		play.Reservation = bound
	}
	// If no opening price is set, a model's band begins at the best price; otherwise the strategy ignores it.
	best := a.opening.IsZero() && a.llm.IsSet()
	if a.opening.IsZero() {
		play.Opening = play.Reservation
	}
	switch {
	case bound == 0 && a.side == protocol.OfferSideSeller:
		return config, exitcode.Usagef("--min-price: must be positive")
	case bound == 0:
		return config, exitcode.Usagef("--max-total: must be positive")
	case a.issues.set():
	case a.side == protocol.OfferSideBuyer && (play.Opening > play.Reservation || play.Reservation > bound):
		return config, exitcode.Usagef(
			"--opening must not exceed --reservation, and --reservation must not exceed --max-total")
	case a.side == protocol.OfferSideSeller && (play.Opening < play.Reservation || play.Reservation < bound):
		return config, exitcode.Usagef(
			"--opening must not be below --reservation, and --reservation must not be below --min-price")
	}
	play.Suits = hasNoTerms
	if err := a.checkBand(limits); err != nil {
		return config, err
	}
	if a.proofs != "" {
		if err := a.prove(play, limits.MaxTotal); err != nil {
			return config, err
		}
	}
	config = agent.Config{
		Decide: play.Decide, Mints: map[solana.PublicKey]agent.Limits{a.mint.Key(): limits},
		Concerns: a.concerns, Admit: a.admit, Acted: a.acted, Ended: a.ended, Failed: a.failed,
		Logger: a.Logger(agent.LevelNotice), Names: agent.Names{
			Endpoint: "--url", WSEndpoint: "--ws", Mints: "--mint", SingleSourceUpTo: player.SingleSourceFlag,
			Fund: "send SOL to it; on localhost, devnet and testnet: haggle airdrop 1 " + a.wallet.String(),
		},
	}
	a.limits.Limit(&config)
	config.MaxOpen, config.MaxOpenPerCounterpart = int(a.maxOpen), int(a.maxOpenPerBuyer)
	for _, service := range a.services {
		config.Services = append(config.Services, protocol.ServiceHash(service))
	}
	if a.issues.set() {
		several, err := a.issuePlayer(play)
		if err != nil {
			return config, err
		}
		config.Decide = several.Decide
		if a.llm.IsSet() {
			return config, a.ask(&config, play, several)
		}
	} else if a.llm.IsSet() {
		if best {
			play.Opening = a.bestPrice()
		}
		return config, a.ask(&config, play, nil)
	}
	return config, nil
}

// hasNoTerms reports whether the negotiation's offer is about the price alone.
func hasNoTerms(n *haggle.Snapshot) bool { return protocol.IsPriceOnly(n.Metadata) }

// concerns reports whether the agent plays the wallet's role in a negotiation. Open negotiations with the
// opposite role are printed once.
func (a *agentCommand) concerns(n *haggle.Snapshot) bool {
	if n.Party(a.side) == a.wallet {
		return true
	}
	if _, known := a.ignored.LoadOrStore(n.Address, nil); !known && !n.IsOver() {
		a.log.Note("%s ignored: the wallet is its %s, not its %s (--role)",
			n.Address, format.Side(1-a.side), a.role)
	}
	return false
}

// admit checks the counterparty and the terms before the agent takes part.
func (a *agentCommand) admit(ctx context.Context, n *haggle.Snapshot) error {
	if n.Status == protocol.NegotiationStatusCreated && !hasNoTerms(n) {
		return &agent.Refusal{Negotiation: n.Address, Reason: "it has terms beside price and service"}
	}
	if a.gate == nil {
		return nil
	}
	return a.gate.Admit(a.wallet)(ctx, n)
}
