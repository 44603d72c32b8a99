package policy

import (
	"context"
	"crypto/sha256"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Settle records an outcome as if it were proven.
func (p *Policy) Settle(ctx context.Context, message []byte, outcome transaction.Outcome) {
	p.settle(ctx, sha256.Sum256(message), outcome)
}
