// Package hiring lets language models choose the moves of HIRE's workers and seekers, within a strategy's band:
//
//	chooser, err := llm.NewChooser(model, llm.Options{Principal: "...", Budget: budget})
//	player := party.Player{Strategy: strategy.Linear(), Opening: 6e6, Reservation: 4e6, Choose: hiring.Choose(chooser)}
//	worker := party.Worker{Config: config, Quote: player.Decide, Deliver: work}
package hiring

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/party"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

// reserve is the time for signing and sending before the other side stops waiting.
const reserve = 5 * time.Second

// aloneInvalid is the reason why no model is asked after an invalid move.
const aloneInvalid = "the move before was invalid"

// terms are the facts of a turn beside the price.
type terms struct {
	// DeliverySeconds is the time until the deadline of the delivery in the latest offer.
	DeliverySeconds int64 `json:"seconds_to_delivery_deadline"`
	Clarifications  int   `json:"clarifications"`
}

// Choose returns a function for [party.Player].Choose that asks the chooser's models. They receive the task, the
// requirements and the clarifications as quoted data: see [llm.Quote]. No model is asked less than five seconds
// before the other side stops waiting.
func Choose(chooser *llm.Chooser) func(context.Context, party.Turn, bargain.Assessment) (bargain.Action, error) {
	return func(ctx context.Context, turn party.Turn, assessed bargain.Assessment) (bargain.Action, error) {
		now := time.Now()
		latest := turn.Offers[len(turn.Offers)-1]
		position := llm.Position{
			Negotiation: fmt.Sprintf("%s/%d", turn.Conversation, turn.Deal), Role: string(turn.Role),
			Assessment: assessed, Decimals: turn.Asset.Decimals,
			TimeLeftPercent: 100 * max(assessed.Rounds-assessed.Round, 0) / max(assessed.Rounds, 1),
			Deadline:        turn.Due.Add(-reserve),
			Facts: terms{
				DeliverySeconds: int64(latest.Deadline.Sub(now) / time.Second), Clarifications: len(turn.Text.Exchanges),
			},
			Quotes: quotes(turn.Text),
		}
		if end, limited := ctx.Deadline(); limited && end.Add(-reserve).Before(position.Deadline) {
			position.Deadline = end.Add(-reserve)
		}
		if turn.Invalid != nil {
			position.Alone = aloneInvalid
		}
		return chooser.Choose(ctx, position)
	}
}

// exchanges is the number of clarifications that a model receives, the latest ones.
const exchanges = 5

// quotes returns the texts of a deal.
func quotes(text party.Text) []llm.Quote {
	list := []llm.Quote{quote(hire.RoleSeeker, "task", text.Task)}
	if len(text.Requirements) > 0 {
		list = append(list, quote(hire.RoleSeeker, "requirements", text.Requirements...))
	}
	for _, exchange := range text.Exchanges[max(len(text.Exchanges)-exchanges, 0):] {
		name, said := "questions", exchange.Questions
		if len(said) == 0 {
			name, said = "answers", exchange.Answers
		}
		list = append(list, quote(exchange.By, name, said...))
	}
	return list
}

func quote(by hire.Role, name string, texts ...hire.Text) llm.Quote {
	lines := make([]string, len(texts))
	for i, text := range texts {
		lines[i] = text.Untrusted()
	}
	return llm.Quote{Author: string(by), Name: name, Text: strings.Join(lines, "\n")}
}
