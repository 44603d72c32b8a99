package license

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

// longestPause is the longest pause between two readings of a pending negotiation, also if the gateway names a longer
// one.
const longestPause = time.Minute

// answered sends a proposal, and waits for its answer.
func (c *Client) answered(ctx context.Context, send func() (Answer, error)) (Answer, error) {
	answer, err := repeated(ctx, c, send)
	if err != nil {
		return answer, err
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = firstDelay, longestDelay
	for answer.Action == ActionPending {
		pause := pauses.NextBackOff()
		if named := answer.Negotiation.RetryAfter; named > 0 {
			pause = named
		}
		if err := wait.For(ctx, pause); err != nil {
			return answer, err
		}
		details, err := c.Status(ctx, answer.Negotiation.ID)
		if err != nil {
			return answer, err
		}
		answer = details.answer(answer.Negotiation.Round)
	}
	return answer, nil
}

// answerActions maps the publisher's actions in the history to the actions of answers.
var answerActions = map[string]Action{
	"accept": ActionAccept, "await_approval": ActionApprove, "counter": ActionCounter, "reject": ActionReject,
}

// answer returns the publisher's answer to the client's offer of a round. The history contains it also after later
// rounds, so that a repeated request receives its first answer. Without an entry the answer follows from the status,
// because a deadline or a party can also end a negotiation while the answer is pending.
func (d *Details) answer(round int) Answer {
	answer := Answer{Action: ActionPending, Negotiation: d.Negotiation}
	for _, r := range d.Rounds {
		action, known := answerActions[r.Action]
		if known && r.Number == round && r.Actor == "publisher" {
			answer.Action, answer.Terms, answer.Reason, answer.Codes = action, r.Terms, r.Reason, r.Codes
			answer.Negotiation.Round = round
			return answer
		}
	}
	if d.AnswerPending {
		return answer
	}
	switch d.Status {
	case Accepted:
		answer.Action, answer.Terms = ActionAccept, d.FinalTerms
	case AwaitingApproval:
		answer.Action, answer.Terms = ActionApprove, d.CurrentTerms
	case Rejected:
		answer.Action = ActionReject
	case TimedOut:
		answer.Action = ActionTimeout
	default:
		answer.Action, answer.Terms = ActionCounter, d.CurrentTerms
	}
	answer.Reason, answer.Codes = d.Reason, d.Codes
	if answer.Reason == "" && len(d.Rounds) > 0 {
		last := d.Rounds[len(d.Rounds)-1]
		answer.Reason, answer.Codes = last.Reason, last.Codes
	}
	return answer
}
