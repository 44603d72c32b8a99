package postgres

import (
	"context"
	"time"
)

// OpenWithLease is Open with another length of the leases, which are renewed if renew is set.
func OpenWithLease(ctx context.Context, address string, lease time.Duration, renew bool) (*Store, error) {
	return open(ctx, address, lease, renew)
}
