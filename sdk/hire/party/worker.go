package party

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// WorkerRuntime runs a worker.
type WorkerRuntime struct{ runtime *runtime }

// NewWorker returns a worker's runtime. It sends nothing before Run.
func NewWorker(worker Worker) (*WorkerRuntime, error) {
	switch {
	case worker.Quote == nil:
		return nil, errors.New("party: Quote not set")
	case worker.Chain != nil && worker.Deliver == nil:
		return nil, errors.New("party: Deliver not set")
	}
	r, err := newRuntime(worker.Config, hire.RoleWorker, worker.Quote)
	if err != nil {
		return nil, err
	}
	r.capability = func(reply hire.Reply) hire.Payload {
		return &hire.Capability{Reply: reply, Skills: worker.Skills, Prices: worker.Prices}
	}
	if worker.Chain != nil {
		deliver := func(ctx context.Context, a *agreement, turn agent.Turn) (agent.MilestoneMove, error) {
			return r.deliver(ctx, a, turn, worker.Deliver)
		}
		if r.settler, err = newSettler(r, deliver); err != nil {
			return nil, err
		}
	}
	return &WorkerRuntime{r}, nil
}

// Run answers seekers and delivers until the context ends, and returns the context's error. It returns other
// errors if the home refuses the agent, or if the agent cannot start: see [agent.StartError].
func (w *WorkerRuntime) Run(ctx context.Context) error { return w.runtime.run(ctx) }

// deliver does the work, stores the result at the home, and claims the payment.
func (r *runtime) deliver(
	ctx context.Context, a *agreement, turn agent.Turn, work func(context.Context, Contract) ([]byte, error),
) (agent.MilestoneMove, error) {
	if turn.Negotiation.MilestoneState(0) != protocol.MilestoneStateUnclaimed {
		return agent.Wait{}, nil
	}
	if r.rules.System != "" {
		select {
		case <-a.contracted:
		case <-time.After(contractLimit):
			r.Logger.Warn("the home has signed no contract yet", "conversation", a.Conversation)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	result, err := safely(ctx, a.Contract, work)
	if err != nil {
		return nil, err
	}
	if len(result) > hire.MaxDelivery {
		return nil, fmt.Errorf("party: delivery of %d bytes, at most %d", len(result), hire.MaxDelivery)
	}
	hash, err := r.Home.PutDelivery(ctx, a.Conversation, a.Counterpart, result)
	if err != nil {
		return nil, fmt.Errorf("party: store the delivery: %w", err)
	}
	claim := agent.ClaimMilestone{}
	if _, err := hex.Decode(claim.Evidence[:], []byte(hash)); err != nil {
		return nil, err
	}
	return claim, nil
}
