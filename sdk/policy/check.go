package policy

import (
	"bytes"
	"context"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// Check reports whether SignMessage would sign a transaction's message now. It signs nothing, counts nothing
// and does not call Config.Approve: if SignMessage would, it returns the request. It returns a *Denial for
// forbidden messages. The context carries the same [haggle.Signing] as for SignMessage: see [haggle.DryRun].
func (p *Policy) Check(ctx context.Context, message []byte) (approval *Request, err error) {
	read, err := p.examine(ctx, bytes.Clone(message))
	if err != nil {
		return nil, err
	}
	err = p.withOutcomes(ctx, func() error {
		if approval, err = p.required(read); err != nil {
			return err
		}
		p.lock.Lock()
		defer p.lock.Unlock()
		_, err = p.counted(read)
		return err
	})
	if err != nil {
		return nil, err
	}
	return approval, nil
}

// CheckRun is Check for a simulated action's transaction.
func (p *Policy) CheckRun(ctx context.Context, run *haggle.DryRun) (approval *Request, err error) {
	message, err := run.Transaction.Message.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return p.Check(run.Signing.Context(ctx), message)
}

// examine reads messages, unless the policy is stopped.
func (p *Policy) examine(ctx context.Context, message []byte) (*reading, error) {
	if err := p.config.Stopped(); err != nil {
		return nil, err
	}
	if err := p.refresh(ctx); err != nil {
		return nil, err
	}
	read, err := p.read(ctx, message)
	if err != nil {
		return nil, err
	}
	read.signing = p.signing(ctx)
	return read, nil
}

// withOutcomes repeats checks denied for earlier usage if some usage has been given back.
func (p *Policy) withOutcomes(ctx context.Context, check func() error) error {
	err := check()
	if !isUsed(err) {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, reconcileLimit)
	defer cancel()
	if p.Reconcile(limited) > 0 {
		err = check()
	}
	return err
}
