package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/agent/issues"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

// modelMove is the record of a decision with language models.
type modelMove struct{ llm.Record }

// checkModels checks the flags of language models, and sets the strategy of their band.
func (a *agentCommand) checkModels() error {
	switch {
	case !a.llm.IsSet() && !a.play.IsSet():
		return exitcode.Usagef("missing: --strategy or --llm")
	case !a.llm.IsSet():
		return a.llm.Check(a.changed)
	case a.proofs != "":
		return exitcode.Excludes("--llm", "--proof", "a model's moves cannot be replayed")
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

// answered prints and records a decision before it is carried out.
func (a *agentCommand) answered(play *player.Player, record llm.Record) error {
	line, err := json.Marshal(record)
	if err != nil {
		return err
	}
	if a.JSON {
		a.log.Document(modelMove{record})
	} else {
		a.log.Note("%s", textOf(record))
	}
	return play.Record(line)
}

// textOf returns a decision on one line. The models' reasons are quoted, because they are not trusted.
func textOf(record llm.Record) string {
	address, _, _ := strings.Cut(record.Negotiation, "/")
	text := fmt.Sprintf("%s round %d: %s", address, record.Round, record.Move.Move)
	if record.Question == "invitation" {
		text = fmt.Sprintf("%s invitation: %s", address, record.Move.Move)
	}
	if offer := record.Move.Offer; offer != nil && offer.Price != "" {
		text += " " + offer.Price
	}
	var why []string
	if record.Fallback != "" {
		why = append(why, "by the strategy: "+record.Fallback)
	}
	for _, answer := range record.Answers {
		switch {
		case answer.Failure != "":
			why = append(why, fmt.Sprintf("%s: %s", answer.Model, answer.Failure))
		default:
			why = append(why, fmt.Sprintf("%s: %q", answer.Model, answer.Reason))
		}
	}
	if record.Correction != "" {
		why = append(why, record.Correction)
	}
	if len(why) == 0 {
		why = append(why, record.Move.Reason)
	}
	return text + " (" + strings.Join(why, "; ") + ")"
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
		text := fmt.Sprintf("%s: %d requests to %s, %d tokens read, %d written", negotiation, spent.Requests, spent.Model,
			spent.InputTokens, spent.OutputTokens)
		if spent.AssumedTokens > 0 {
			text += fmt.Sprintf(", and up to %d in requests without a count", spent.AssumedTokens)
		}
		if spent.Cost > 0 {
			text += ", " + spent.Cost.String()
		}
		a.log.Note("%s", text)
	}
}
