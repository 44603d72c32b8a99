package license

import (
	"context"
	"errors"
	"time"
)

// leaveTimeout limits the attempt to leave a negotiation when interrupted.
const leaveTimeout = 5 * time.Second

// leave ends the negotiation if it is open and the purchase does not continue it. An error leaves it open
// until the deadline.
func (p *purchase) leave(ctx context.Context) {
	if p.answer.Action != ActionCounter && p.answer.Action != ActionPending || p.Left {
		return
	}
	interrupted := ctx.Err() != nil
	switch {
	case interrupted:
		p.leaving = LeaveCancelled
	case p.Outcome != NoDeal:
		return // a repetition of the request continues it
	}
	departure := Departure{
		Negotiation: p.Negotiation, Reason: p.leaving,
		IdempotencyKey: keyOf(p.request.ID, p.Publisher, "leave "+string(p.leaving)),
	}
	send := p.client.Leave
	if interrupted {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTimeout)
		defer cancel()
		ctx, send = grace, p.client.gateway.Leave
	}
	_, err := send(ctx, departure)
	switch {
	case err == nil:
		p.Left = true
		if interrupted {
			p.end(NoDeal, "interrupted")
			p.Err = nil
		}
	case !interrupted && !errors.Is(err, ErrEnded):
		p.Reason += "; the negotiation stays open until its deadline: " + err.Error()
	}
}

// leftBefore sets the outcome when an interrupted purchase using the same ID has left the negotiation. For
// errors other than [ErrEnded], it returns the error.
func (p *purchase) leftBefore(ctx context.Context, err error) error {
	if !errors.Is(err, ErrEnded) || p.Negotiation == "" {
		return err
	}
	details, failed := p.client.Status(ctx, p.Negotiation)
	if failed != nil || len(details.Rounds) == 0 {
		return err
	}
	if last := details.Rounds[len(details.Rounds)-1]; last.Actor != "client" || last.Action != "leave" {
		return err
	}
	p.endLeft()
	return nil
}

// endLeft sets the outcome of a purchase whose negotiation an interrupted one with the same ID has left.
func (p *purchase) endLeft() {
	p.Left = true
	p.end(NoDeal, "an interrupted purchase with the ID %.40q left the negotiation; use another ID", p.request.ID)
}
