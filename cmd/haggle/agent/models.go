package agent

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/languagemodel"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/agent/issues"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

// modelMove records a decision made with language models.
type modelMove struct{ llm.Record }

// checkModels checks the flags of language models, and sets the strategy of their band.
func (a *agentCommand) checkModels() error {
	switch {
	case !a.llm.IsSet() && !a.play.IsSet():
		return exitcode.Usagef("missing: --strategy or --llm")
	case !a.llm.IsSet():
		return a.llm.Check(a.changed)
	case a.play.HasStep():
		return exitcode.Excludes("--llm", "--step", "the model chooses the prices")
	case a.model != "":
		return exitcode.Excludes("--llm", "--declare-model", "--llm names the model")
	case a.proofs != "" && a.issues.set():
		return exitcode.Excludes("--llm with --domain", "--proof", "a model's moves cannot be replayed")
	}
	a.play.Default(llm.DefaultStrategy)
	return nil
}

// ask makes language models choose the moves and answer the invitations. several is nil for a price alone.
func (a *agentCommand) ask(config *agent.Config, play *player.Player, several *issues.Player) error {
	logger := config.Logger
	if a.llm.LogsPrompts() {
		logger = a.Logger(slog.LevelInfo)
	}
	models, err := a.llm.Player(llm.Options{
		Strategy: play.Strategy, Name: play.Name, Opening: play.Opening, Reservation: play.Reservation, Seed: play.Seed,
		Logger: logger, Decided: func(record llm.Record) error { return a.answered(play, record) },
	})
	if err != nil {
		return err
	}
	a.models, models.Mints = models, config.Mints
	if a.band != nil {
		models.Range, models.Commit = a.bandRange, a.prover.Commit
	}
	config.Decide = models.Decide
	if several != nil {
		several.Choose = func(ctx context.Context, turn agent.Turn, assessed bargain.Assessment) (bargain.Action, error) {
			return models.Choose(ctx, turn, assessed)
		}
		config.Decide = several.Decide
	}
	decide, admit := config.Decide, config.Admit
	config.Decide = func(ctx context.Context, turn agent.Turn) (agent.Decision, error) {
		a.steps.set(turn.Negotiation.Address, "asking "+a.llm.Names())
		return decide(ctx, turn)
	}
	config.Admit = func(ctx context.Context, n *haggle.Snapshot) error {
		if err := admit(ctx, n); err != nil {
			return err
		}
		a.Stage(n.Address.String() + ": asking " + a.llm.Names())
		return models.Admit(ctx, n)
	}
	return nil
}

// answered prints and records a decision before executing it.
func (a *agentCommand) answered(play *player.Player, record llm.Record) error {
	line, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if a.JSON {
		a.log.Document(modelMove{record})
	} else {
		a.log.Note("%s", languagemodel.Text(record))
	}
	return play.Record(line)
}

// reportSpending prints what the models used in a negotiation.
func (a *agentCommand) reportSpending(negotiation solana.PublicKey) {
	if a.models == nil {
		return
	}
	for _, spent := range a.models.Spending() {
		if address, _, _ := strings.Cut(spent.Negotiation, "/"); address != negotiation.String() {
			continue
		}
		if a.JSON {
			a.log.Document(spent)
			continue
		}
		a.log.Note("%s: %s", negotiation, languagemodel.SpendingText(spent))
	}
}
