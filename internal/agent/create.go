package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/failure"
	"github.com/haggle-protocol/haggle/sdk"
)

// Create escrows and invites, once: while it is not known whether the transaction has been executed, it is looked for instead of
// being repeated, for a second one would escrow a second time.
func (p *Party) Create(ctx context.Context, request haggle.CreateRequest) (*haggle.NegotiationAccount, error) {
	created, err := p.Client.CreateNegotiation(ctx, request)
	if err != nil {
		return nil, err
	}
	n := &haggle.NegotiationAccount{Address: created.Negotiation}
	n.EffectiveEscrow = request.EscrowAmount
	err = p.Do(ctx, "create", n, nil, created.Action, nil)
	var unknown *haggle.UnknownOutcome
	for wait := attemptPause; errors.As(err, &unknown) && ctx.Err() == nil; wait = min(2*wait, attemptPauseMost) {
		p.Note("it is not known yet whether %s has been created: looking", n.Address)
		pause(ctx, wait)
		err = p.certain(ctx, n, unknown)
	}
	return n, failure.WithHint(err, fmt.Sprintf("should it exist (haggle negotiation show %s), the agent goes on with it when it is started again", n.Address))
}

// certain is nil once the negotiation exists.
func (p *Party) certain(ctx context.Context, n *haggle.NegotiationAccount, unknown *haggle.UnknownOutcome) error {
	if _, err := p.Client.GetNegotiation(ctx, n.Address); err == nil {
		return nil
	}
	receipt, err := p.Client.Outcome(ctx, unknown)
	if err != nil && !errors.Is(err, haggle.ErrDetailsUnavailable) {
		return err
	}
	p.Did("create", n, nil, receipt, p.decimals)
	return nil
}
