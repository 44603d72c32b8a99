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
// rounds, so that a repeated request receives its first answer. It contains none if a deadline or a party has ended the
// negotiation while the answer was pending.
func (d *Details) answer(round int) Answer {
	answer := Answer{Action: ActionPending, Negotiation: d.Negotiation, Reason: d.Reason, Codes: d.Codes}
	for _, r := range d.Rounds {
		action, known := answerActions[r.Action]
		if known && r.Number == round && r.Actor == "publisher" {
			answer.Action, answer.Terms, answer.Reason, answer.Codes = action, r.Terms, r.Reason, r.Codes
			answer.Negotiation.Round = round
			return answer
		}
	}
	switch d.Status {
	case Rejected:
		answer.Action = ActionReject
	case TimedOut:
		answer.Action = ActionTimeout
	}
	return answer
}
