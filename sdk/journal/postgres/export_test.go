package postgres

import (
	"context"
	"time"

	"github.com/haggle-protocol/haggle/sdk/journal"
)

// OpenWithLease is Open with another length of the leases, which are renewed if renew is set.
func OpenWithLease(ctx context.Context, address string, lease time.Duration, renew bool) (*journal.Database, error) {
	return open(ctx, address, lease, renew)
}
