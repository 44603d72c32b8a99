package policy

import (
	"context"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
)

// signerGrace is how long signing may take when the context has ended.
const signerGrace = 2 * time.Second

// signCounted calls the signer. It returns an error if the signer does not return within signerGrace after
// the context has ended.
func (p *Policy) signCounted(ctx context.Context, message []byte) (solana.Signature, error) {
	if err := p.config.Stopped(); err != nil {
		return solana.Signature{}, notSigned{err}
	}
	if ctx.Err() != nil {
		return solana.Signature{}, notSigned{context.Cause(ctx)}
	}
	type result struct {
		signature solana.Signature
		err       error
	}
	signed := make(chan result, 1)
	go func() {
		defer func() {
			if cause := recover(); cause != nil {
				signed <- result{err: fmt.Errorf("haggle: policy: signer panicked: %v", cause)}
			}
		}()
		signature, err := p.signer.SignMessage(ctx, message)
		signed <- result{signature, err}
	}()
	var received result
	select {
	case received = <-signed:
	case <-ctx.Done():
		select {
		case received = <-signed:
		case <-time.After(signerGrace):
			received.err = fmt.Errorf("haggle: policy: signer did not return: %w", context.Cause(ctx))
		}
	}
	if received.err == nil && !received.signature.Verify(p.wallet, message) {
		received.err = fmt.Errorf("haggle: policy: signature of %s is invalid", p.wallet)
	}
	return received.signature, received.err
}

// notSigned is an error from before the call of the signer.
type notSigned struct{ error }

// NotSigned reports that nothing was signed.
func (notSigned) NotSigned() bool { return true }

// Unwrap returns the wrapped error.
func (n notSigned) Unwrap() error { return n.error }
