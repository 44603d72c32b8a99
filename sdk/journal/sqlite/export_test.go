package sqlite

import "time"

// OpenWithLease is Open with another length of the leases, which are renewed if renew is set.
func OpenWithLease(path string, lease time.Duration, renew bool) (*Store, error) {
	return open(path, lease, renew)
}
