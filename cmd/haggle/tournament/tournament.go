// Package tournament has the command "haggle tournament".
package tournament

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/languagemodel"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	"github.com/haggle-protocol/haggle/internal/cli/progress"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/internal/lab/simulation"
	"github.com/haggle-protocol/haggle/internal/lab/simulation/queue"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

const help = `Plays strategies against each other over many scenarios, in both roles, on all processors.
It needs no chain.

--scenarios is a list of
  random:N   N random scenarios with one to four issues, with alternating offers
  haggle:N   N random scenarios with Haggle's own rules: one price, decay, smallest offer and fee
  FOLDER     a domain and two profiles in GENIUS' XML or NegMAS' YAML or JSON; or subfolders with these

The folder of --out gets index.html, a page with scores, concession curves and agreements; the tables scores
and sessions as CSV and Parquet; and plan.json. The same plan gives the same bytes for any number of workers.

After Ctrl-C the folder has the results of the finished sessions, and the same command plays the rest.

With --db several processes share the work through a PostgreSQL database, with jobs of River: run the same
command on any number of machines, each with a folder of its own. Each folder gets the whole result. A job of
a process that was killed is played again after five minutes. Put a password into PGPASSWORD or ~/.pgpass.

Variants of a strategy take part by their parameters: --strategies negmas-boulware,negmas-boulware:e=6. Tables
and plan have the parameters that differ from their defaults, in the order of haggle simulate --help.

A language model takes part as llm:openai:MODEL, llm:anthropic:MODEL and so on (haggle agent --help),
within the band of --llm-band; --principal, --llm-tokens or --llm-cost are required. --llm-answers keeps
its responses, so that a repetition asks nothing again, needs no key, and gives the same bytes.

A score is the advantage: the gain over no agreement as a part of the greatest possible gain. Its confidence
interval of 95 % is Student's, with one observation for each scenario: the mean of all sessions in it,
repetitions and self-play included, since these depend on each other. The Nash distance of an agreement is the
Euclidean distance of both parties' utilities to the Nash bargaining solution.`

// Command returns "haggle tournament".
func Command(s *session.Session) *cobra.Command {
	options := simulation.Options{}
	var database, band string
	var models languagemodel.Flags
	cmd := &cobra.Command{
		Use: "tournament", Short: "Play negotiation strategies against each other", Long: help,
		Example: `  haggle tournament --out results
  haggle tournament --strategies micro,linear,negmas-boulware --scenarios haggle:100 --seed 7 --out results
  haggle tournament --scenarios random:50,scenarios/genius --rounds 50 --out results
  haggle tournament --strategies llm:openai:MODEL,linear,micro --scenarios haggle:20 --out results \
      --principal "Earn as much as you can." --llm-tokens 1000000 --llm-answers answers.jsonl
  haggle tournament --scenarios random:10000 --db postgres://USER@HOST/NAME --out results`,
	}
	flags := cmd.Flags()
	flags.Var((*strategyList)(&options.Strategies), "strategies",
		"strategies that take part, with parameters as in negmas-boulware:e=6 (default: all but optimal; "+
			"haggle simulate --help lists them); can be repeated")
	flags.StringSliceVar(&options.Scenarios, "scenarios", []string{"random:20", "haggle:20"},
		"scenarios: random:N, haggle:N or a folder; can be repeated")
	flags.Uint64Var(&options.Seed, "seed", 1, "number from which all random numbers follow")
	flags.IntVar(&options.Rounds, "rounds", 100,
		"rounds of alternating offers; Haggle's scenarios have their own")
	flags.StringVar((*string)(&options.Order), "order", string(simulation.OrderNumber),
		"order of equal utilities: number, or negmas for scenarios from files, with NegMAS' discounts")
	flags.IntVar(&options.Repetitions, "repetitions", 1, "sessions of each pair in each scenario and role")
	flags.BoolVar(&options.SelfPlay, "self-play", false, "play each strategy against itself too")
	flags.Uint64Var(&options.PriceStep, "step", 0, player.StepUsage(", in Haggle's scenarios, in base units"))
	flags.IntVar(&options.Workers, "workers", 0, "sessions at the same time (default: one for each processor)")
	flags.StringVar(&options.Folder, "out", "",
		"folder for the results: a new one, or that of a stopped tournament")
	flags.StringVar(&database, "db", "", "PostgreSQL database for several processes: postgres://USER@HOST/NAME")
	models.RegisterOptions(flags)
	flags.StringVar(&band, "llm-band", llm.DefaultStrategy, "with llm:MODEL: strategy of the band, and after a failure")
	command.Required(cmd, "out")
	command.Choices(cmd, "strategies", game.Names()...)
	command.Choices(cmd, "order", simulation.Orders()...)
	command.Documents(cmd, resultView{})
	cmd.RunE = s.Unlimited(func(ctx context.Context, _ []string) error {
		switch {
		case options.Rounds < 1 || options.Rounds > tournament.MaxSteps:
			return exitcode.Usagef("--rounds must be from 1 to %s", report.Count(tournament.MaxSteps))
		case options.Repetitions < 1:
			return exitcode.Usagef("--repetitions must be positive")
		case options.Workers < 0 || options.Workers > maxWorkers:
			return exitcode.Usagef("--workers must be from 1 to %s, or 0 for one for each processor",
				report.Count(maxWorkers))
		case flags.Changed("rounds") && simulation.HaveOwnRounds(options.Scenarios):
			return exitcode.Usagef("--rounds: Haggle's scenarios have their own rounds; leave it out")
		}
		if err := withModels(ctx, &options, &models, band, flags.Changed); err != nil {
			return err
		}
		if flags.Changed("db") {
			pool, err := open(ctx, database)
			if err != nil {
				return err
			}
			defer pool.Close()
			share(&options, pool, s.Logger(slog.LevelError))
		}
		return run(ctx, s, &options)
	})
	return cmd
}

// strategyList is the value of --strategies.
type strategyList []string

// Set implements [pflag.Value]. A repeated flag adds to the list.
func (l *strategyList) Set(text string) error {
	*l = append(*l, strategy.Split(text)...)
	return nil
}

// String implements [pflag.Value].
func (l *strategyList) String() string { return strings.Join(*l, ",") }

// Type implements [pflag.Value].
func (*strategyList) Type() string { return "strings" }

// withModels lets language models take part as "llm:MODEL".
func withModels(
	ctx context.Context, options *simulation.Options, models *languagemodel.Flags, band string,
	changed func(flag string) bool,
) error {
	if !slices.ContainsFunc(options.Strategies, func(name string) bool { return strings.HasPrefix(name, "llm:") }) {
		return models.Check(changed)
	}
	if changed("db") {
		return exitcode.Excludes("--strategies llm:MODEL", "--db", "each process would have the whole budget")
	}
	base, err := strategy.Parse(band)
	if err != nil {
		return player.StrategyError("llm-band", err)
	}
	options.ModelTerms = models.Terms(base.String())
	options.Models = func(name string) (bargain.Strategy, error) {
		return models.Strategy(ctx, name, base.String(), base.Strategy)
	}
	return nil
}

// maxWorkers bounds the memory for sessions that are played at the same time.
const maxWorkers = 1_000

// open returns the connections to a database, which begin with the first statement.
func open(ctx context.Context, address string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil || strings.TrimSpace(address) == "" {
		// The error of the parser can quote a password.
		return nil, exitcode.Usagef("--db: not a PostgreSQL database: use postgres://USER@HOST/NAME; " +
			"on one machine, leave --db out")
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, exitcode.Usagef("--db: %w", err)
	}
	return pool, nil
}

// share makes the processes sharing a database play the tournament together.
func share(options *simulation.Options, pool *pgxpool.Pool, logger *slog.Logger) {
	options.Play = func(
		ctx context.Context, id string, plan *tournament.Plan, from int, each func(*tournament.Block) error,
	) error {
		return queue.Config{
			Pool: pool, ID: id, Workers: options.Workers, Logger: logger, Progress: options.Progress,
		}.Play(ctx, plan, from, each)
	}
}

func run(ctx context.Context, s *session.Session, options *simulation.Options) error {
	done, err := play(ctx, s, options)
	switch {
	case errors.Is(err, simulation.ErrInput), errors.Is(err, simulation.ErrFolder),
		errors.Is(err, tournament.ErrPlan):
		return exitcode.AsUsage(err, "haggle tournament --help")
	case err != nil:
		return exitcode.Match(err, connection.NoDatabase)
	}
	v := view(options.Folder, done)
	if err := s.Print(v, v.text()); err != nil || done.Complete {
		return err
	}
	return &exitcode.Error{
		Kind: exitcode.Interrupted,
		Err: fmt.Errorf("interrupted after %s of %s sessions, which are kept",
			report.Count(done.Sessions), report.Count(done.Of)),
		Hint: "to continue: run the same command again",
	}
}

// play runs the tournament with a bar on a terminal, and otherwise with a line now and then.
func play(ctx context.Context, s *session.Session, options *simulation.Options) (*simulation.Report, error) {
	unit := "sessions"
	if options.Play != nil {
		unit = "sessions of all processes"
	}
	if !s.JSON && progress.IsTerminal(s.Stderr) {
		bar := progress.NewBar(s.Stderr, unit)
		defer bar.Stop()
		options.Progress = bar.Set
		return simulation.Run(ctx, *options)
	}
	defer s.ShowProgress("no finished " + unit + " yet")()
	options.Progress = func(sessions, of int) {
		s.Stage(fmt.Sprintf("%s of %s %s, %d %%", report.Count(sessions), report.Count(of), unit, 100*sessions/of))
	}
	return simulation.Run(ctx, *options)
}

type resultView struct {
	// Page is the file with the page.
	Page string `json:"page"`
	// Sessions counts finished sessions, including Continued sessions finished by an earlier run.
	Sessions  int  `json:"sessions"`
	Continued int  `json:"continued"`
	Planned   int  `json:"planned"`
	Complete  bool `json:"complete"`
	// Scores lists the best strategy first.
	Scores []scoreView `json:"scores"`
}

// scoreView contains decimal numbers as strings.
type scoreView struct {
	Strategy string `json:"strategy"`
	// Advantage is the gain over no agreement as a part of the greatest possible gain.
	Advantage fixed.Number `json:"advantage"`
	// Margin is half the width of the 95 % confidence interval. It is missing with fewer than two scenarios.
	Margin *fixed.Number `json:"margin,omitempty"`
	// Behind is by how much the best strategy has a higher advantage, and BehindMargin half the width of the paired
	// 95 % confidence interval: of the differences in each scenario. If it is at least Behind, the scenarios do not
	// tell the two apart.
	Behind       fixed.Number  `json:"behind"`
	BehindMargin *fixed.Number `json:"behind_margin,omitempty"`
	// Value is the mean discounted utility.
	Value         fixed.Number `json:"value"`
	AgreementRate fixed.Number `json:"agreement_rate"`
	// NashDistance and ParetoDistance are means over the agreements, in the parties' undiscounted utilities.
	// They are missing if no agreement can be measured.
	NashDistance   *fixed.Number `json:"nash_distance,omitempty"`
	ParetoDistance *fixed.Number `json:"pareto_distance,omitempty"`
	Sessions       int64         `json:"sessions"`
	Scenarios      int64         `json:"scenarios"`
}

func view(folder string, done *simulation.Report) resultView {
	v := resultView{
		Page: filepath.Join(folder, simulation.PageFile), Sessions: done.Sessions, Continued: done.Continued,
		Planned: done.Of, Complete: done.Complete,
	}
	for _, score := range done.Scores {
		row := scoreView{
			Strategy: score.Name, Advantage: score.Advantage, Behind: score.Behind, Value: score.Value,
			AgreementRate: score.AgreementRate, Sessions: score.Sessions, Scenarios: score.Scenarios,
			NashDistance: score.NashDistance, ParetoDistance: score.ParetoDistance,
		}
		if score.HasMargin {
			row.Margin, row.BehindMargin = &score.Margin, &score.BehindMargin
		}
		v.Scores = append(v.Scores, row)
	}
	return v
}

func (v resultView) text() string {
	var rows [][]string
	for i, score := range v.Scores {
		var margin, behind string
		if score.Margin != nil {
			margin = fmt.Sprintf("±%.3f", score.Margin.Float())
		}
		if score.BehindMargin != nil && i > 0 {
			behind = fmt.Sprintf("%.3f ±%.3f", score.Behind.Float(), score.BehindMargin.Float())
		}
		nash := ""
		if score.NashDistance != nil {
			nash = fmt.Sprintf("%.3f", score.NashDistance.Float())
		}
		rows = append(rows, []string{
			strconv.Itoa(i + 1), score.Strategy, fmt.Sprintf("%.3f", score.Advantage.Float()), margin, behind,
			fmt.Sprintf("%.1f %%", 100*score.AgreementRate.Float()), nash, report.Count(score.Sessions),
		})
	}
	columns := []string{"rank", "strategy", "advantage", "(95 %)", "behind the best", "agreement", "Nash distance", "sessions"}
	return strings.Join([]string{
		format.Table(columns, rows),
		fmt.Sprintf("%s; the page is %s", report.Counted(v.Sessions, "session", ""), v.Page),
	}, "\n")
}
