// Package trading lets language models choose the moves of an arena's players, within a strategy's band, and write their
// messages:
//
//	chooser, err := llm.NewChooser(model, llm.Options{Principal: "...", Budget: budget})
//	p, err := player.New(personality, player.Options{
//		Estimate: 62, Risk: 50 * arena.SetPrice, Choose: trading.Choose(chooser), Say: trading.Say(chooser),
//	})
//
// Names and messages of others reach the models as quoted data. They change no limit, and a message that a model writes
// decides nothing.
package trading

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/player"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

// decimals of prices: ticks of 0.01.
const decimals = 2

// facts are what everybody sees of a market.
type facts struct {
	Price  string `json:"price_of_yes"`
	Trades int    `json:"trades"`
	Agents int    `json:"agents"`
}

func factsOf(desk *trader.Desk) facts {
	return facts{Price: desk.View.Price.String(), Trades: desk.View.Trades, Agents: len(desk.View.Agents)}
}

// packageRole explains the prices of a package: see package player.
const packageRole = "party of a package, whose price is the mean price of its own sales in it; " +
	"a purchase of a token counts as the sale of the other one at 1.00 less its price"

// Choose returns a function for [player.Options].Choose. It decides before the end of its context.
func Choose(chooser *llm.Chooser) func(context.Context, trader.Turn, bargain.Assessment) (bargain.Action, error) {
	return func(ctx context.Context, turn trader.Turn, assessed bargain.Assessment) (bargain.Action, error) {
		role := "seller"
		if turn.Chat.Mode == arena.ModePackages {
			role = packageRole
		} else if worst, best := assessed.Preferences.Extremes(); best < worst {
			role = "buyer"
		}
		return chooser.Choose(ctx, llm.Position{
			Negotiation: fmt.Sprintf("%s/%d", turn.View.Config.Market, turn.Chat.Number), Role: role, Assessment: assessed,
			Decimals: decimals, TimeLeftPercent: 100 * max(assessed.Rounds-assessed.Round, 0) / max(assessed.Rounds, 1),
			Deadline: deadline(ctx, turn.Until), Facts: factsOf(&turn.Desk),
			Quotes: []llm.Quote{question(&turn.Desk), quoteChat(&turn)},
		})
	}
}

// Say returns a function for [player.Options].Say.
func Say(chooser *llm.Chooser) func(context.Context, player.Occasion, trader.Desk, string) (string, error) {
	return func(ctx context.Context, occasion player.Occasion, desk trader.Desk, phrase string) (string, error) {
		return chooser.Compose(ctx, llm.Message{
			Negotiation: desk.View.Config.Market, Role: "trader, for the " + string(occasion), Facts: factsOf(&desk),
			Draft: phrase, Quotes: []llm.Quote{question(&desk), quoteFloor(&desk)},
			Deadline: deadline(ctx, time.Now().Add(llm.DefaultCallTimeout)),
		})
	}
}

// deadline returns the end of ctx, or a later end if ctx has none.
func deadline(ctx context.Context, until time.Time) time.Time {
	if end, limited := ctx.Deadline(); limited {
		return end
	}
	return until
}

func question(desk *trader.Desk) llm.Quote {
	return llm.Quote{Author: "operator", Name: "question", Text: desk.View.Config.Question}
}

func quoteChat(turn *trader.Turn) llm.Quote {
	lines := make([]string, len(turn.Chat.Texts))
	for i, said := range turn.Chat.Texts {
		lines[i] = line(&turn.Desk, said.Agent, said.Text)
	}
	return llm.Quote{Author: "members", Name: "side chat", Text: strings.Join(lines, "\n")}
}

func quoteFloor(desk *trader.Desk) llm.Quote {
	lines := make([]string, len(desk.Said))
	for i, said := range desk.Said {
		lines[i] = line(desk, said.Agent, said.Text)
	}
	return llm.Quote{Author: "agents", Name: "floor", Text: strings.Join(lines, "\n")}
}

// line is a message with its author's name, which the author has chosen.
func line(desk *trader.Desk, id, text string) string {
	author := arena.AgentView{Name: id}
	if known, is := desk.View.Agent(id); is {
		author = known
	}
	return fmt.Sprintf("%q: %q", author.Name, text)
}
