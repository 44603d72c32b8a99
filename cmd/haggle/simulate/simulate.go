// Package simulate has the command "haggle simulate".
package simulate

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	"github.com/haggle-protocol/haggle/internal/cli/profile"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/internal/lab/simulation"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

const help = `Plays one session of two strategies and prints every move with its reason. It needs no chain.
The end shows each party's steps and concessions, and the strategies that fit its offers, as haggle analyze
does.

--scenario is
  random-SEED-NUMBER   a random scenario with one to four issues, with alternating offers
  haggle-SEED-NUMBER   one with Haggle's own rules; the first party is the buyer
  FOLDER               a domain and two profiles in GENIUS' XML or NegMAS' YAML or JSON

Names, seed, rounds and repetition are those of "haggle tournament": a session of its table is the same here.

The optimal player knows the reservation prices of both sides, which no agent does: it is a benchmark, and
plays in haggle scenarios only.

A strategy has parameters as in negmas-boulware:e=6 or faratin-exponential:k=0.2,e=2, or in JSON:
{"name":"faratin-exponential","parameters":{"k":0.2,"e":2}}. Parameters that are left out have their defaults.
The output has the strategy's first name, and the parameters that differ from their defaults. All commands
with --strategy accept the same.

Strategies, with the ranges of their parameters:
`

// Command returns "haggle simulate".
func Command(s *session.Session) *cobra.Command {
	var name, order string
	plan := tournament.Plan{}
	repetition := 0
	cmd := &cobra.Command{
		Use: "simulate FIRST SECOND", Short: "Play one session of two strategies, move by move",
		Long: help + overview(),
		Example: `  haggle simulate linear negmas-boulware
  haggle simulate boulware:e=6 tft:kindness=0.1
  haggle simulate micro hardliner --scenario random-1-3 --seed 7 --rounds 20`,
		ValidArgs: game.Names(),
	}
	cmd.Flags().StringVar(&name, "scenario", "haggle-1-1", "a generated scenario by its name, or a folder")
	cmd.Flags().Uint64Var(&plan.Seed, "seed", 1, "number from which the strategies' random numbers follow")
	cmd.Flags().IntVar(&plan.Steps, "rounds", 100,
		"rounds of alternating offers; Haggle's scenarios have their own")
	cmd.Flags().StringVar(&order, "order", string(simulation.OrderNumber),
		"order of equal utilities: number, or negmas for a scenario from files, with NegMAS' discounts")
	command.Choices(cmd, "order", simulation.Orders()...)
	cmd.Flags().IntVar(&repetition, "repetition", 0, "number of the repetition in a tournament, from 0")
	cmd.Flags().Uint64Var(&plan.PriceStep, "step", 0,
		player.StepUsage(", in Haggle's scenarios, in base units"))
	command.Documents(cmd, turnView{}, endView{})
	cmd.RunE = s.Limited(func(_ context.Context, arguments []string) error {
		switch {
		case plan.Steps < 1 || plan.Steps > tournament.MaxSteps:
			return exitcode.Usagef("--rounds must be from 1 to %s", report.Count(tournament.MaxSteps))
		case repetition < 0 || repetition >= tournament.MaxScenarioSessions:
			return exitcode.Usagef("--repetition must be from 0 to %s, as in a tournament",
				report.Count(tournament.MaxScenarioSessions-1))
		}
		scenario, err := simulation.Scenario(name)
		if err == nil {
			err = simulation.Order(order).Apply(scenario)
		}
		if err != nil {
			return exitcode.AsUsage(err, "haggle simulate --help")
		}
		if scenario.Rules != nil && cmd.Flags().Changed("rounds") {
			return exitcode.Usagef("--rounds: the scenario %s has its own rounds, up to %d; leave it out",
				scenario.Name, scenario.Rules.MaxRounds)
		}
		if plan.Entrants, err = simulation.Entrants(arguments, nil); err == nil {
			err = simulation.CheckRules(plan.Entrants, tournament.Join{tournament.List{scenario}}, plan.PriceStep)
		}
		if err != nil {
			return exitcode.AsUsage(err, "")
		}
		turns, end, err := plan.Trace(scenario, 0, 1, repetition)
		if err != nil {
			return err
		}
		return show(s, scenario, turns, &end, plan.Entrants)
	})
	return cmd
}

// overview describes each strategy, including parameters.
func overview() string {
	var rows format.Rows
	for _, entry := range game.List() {
		lines := []string{entry.Summary}
		if len(entry.Aliases) > 0 {
			lines = append(lines, "also named "+strings.Join(entry.Aliases, ", "))
		}
		for _, p := range entry.Parameters {
			lines = append(lines, fmt.Sprintf("  %s (%s): %s", p.Name, p.Range(), p.Summary))
		}
		rows = append(rows, [2]string{entry.Name, strings.Join(lines, "\n")})
	}
	return rows.String()
}

// turnView is a move. Decimal numbers are text.
type turnView struct {
	Turn int `json:"turn"`
	// Party is first or second.
	Party    string `json:"party"`
	Strategy string `json:"strategy"`
	// Move is offer, accept or end.
	Move string `json:"move"`
	// Outcome is the offer, or the accepted one.
	Outcome string `json:"outcome,omitempty"`
	// Utilities contains the outcome's utilities for party 1 and party 2.
	Utilities []fixed.Number `json:"utilities,omitempty"`
	Reason    string         `json:"reason"`
}

// endView is the session's end.
type endView struct {
	Scenario string `json:"scenario"`
	// Ending is agreement, left or deadline.
	Ending string `json:"ending"`
	// Party accepted the last offer or ended the session.
	Party     string `json:"party,omitempty"`
	Agreement string `json:"agreement,omitempty"`
	// Values are discounted utilities; with Haggle's rules decay and fee are subtracted.
	Values [2]fixed.Number `json:"values"`
	// Advantages contains the gains over no agreement as shares in the greatest possible gains.
	Advantages [2]fixed.Number `json:"advantages"`
	// Settlement divides the escrow, in base units, by Haggle's rules.
	Settlement *settlementView `json:"settlement,omitempty"`
	// Profiles describe the first and the second party, as haggle analyze does.
	Profiles [2]profile.View `json:"profiles"`
	// Exploited is the party that conceded at least three quarters of what both did before they agreed.
	Exploited string `json:"exploited,omitempty"`
}

type settlementView struct {
	Escrow   uint64 `json:"escrow,string"`
	Price    uint64 `json:"price,string"`
	ToSeller uint64 `json:"to_seller,string"`
	Fee      uint64 `json:"fee,string"`
	Decay    uint64 `json:"decay,string"`
	Refund   uint64 `json:"refund,string"`
}

func settlement(rules *onchain.Rules, s onchain.Settlement) *settlementView {
	if rules == nil {
		return nil
	}
	return &settlementView{rules.Escrow, s.Price, s.ToSeller, s.Fee, s.Decay, s.Refund}
}

func show(
	s *session.Session, scenario *tournament.Scenario, turns []tournament.Turn, end *tournament.Session,
	entrants []tournament.Entrant,
) error {
	a, err := simulation.Analyze(scenario, turns, end)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, turn := range turns {
		v := turnView{
			Turn: turn.Number, Party: simulation.Role(turn.By), Strategy: entrants[turn.By].Name,
			Move: turn.Move.String(), Outcome: turn.Text, Reason: turn.Reason,
		}
		row := []string{strconv.Itoa(v.Turn), v.Party, v.Move, v.Outcome, "", "", v.Reason}
		if turn.Outcome != bargain.NoOutcome {
			v.Utilities = turn.Utilities[:]
			row[4], row[5] = decimals(turn.Utilities[0]), decimals(turn.Utilities[1])
		}
		rows = append(rows, row)
		if s.JSON {
			if err := s.Print(v); err != nil {
				return err
			}
		}
	}
	v := endView{
		Scenario: scenario.Name, Ending: end.Ending.String(), Party: simulation.Role(end.By),
		Agreement: end.AgreementText, Values: end.Values, Advantages: end.Advantages,
		Settlement: settlement(scenario.Rules, end.Settlement), Exploited: simulation.Role(a.Exploited),
		Profiles: [2]profile.View{profile.Of(a.Parties[0]), profile.Of(a.Parties[1])},
	}
	header := []string{"turn", "party", "move", "outcome", "first", "second", "reason"}
	summary := format.Rows{
		{"scenario", v.Scenario},
		{"ending", simulation.Ending(end)},
		{"agreement", v.Agreement},
		{"values", decimals(v.Values[0]) + ", " + decimals(v.Values[1])},
		{"advantages", decimals(v.Advantages[0]) + ", " + decimals(v.Advantages[1])},
	}
	if e := v.Settlement; e != nil {
		summary = append(summary, [2]string{"escrow", fmt.Sprintf("%s = paid %s + fee %s + decay %s + refund %s",
			report.Count(e.Escrow), report.Count(e.ToSeller), report.Count(e.Fee), report.Count(e.Decay),
			report.Count(e.Refund))})
	}
	for role, p := range v.Profiles {
		summary = append(summary, [2]string{simulation.Role(role), strings.Join(p.Lines(), "\n")})
	}
	summary = append(summary, [2]string{"exploited", v.Exploited})
	return s.Print(v, format.Table(header, rows), "", summary.String())
}

// decimals writes a number with three decimals.
func decimals(n fixed.Number) string { return fmt.Sprintf("%.3f", n.Float()) }
