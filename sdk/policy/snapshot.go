package policy

import (
	"context"
	"errors"
)

const (
	// compactAfter is the number of appended records that triggers compaction into a snapshot.
	compactAfter = 1_000
	// pruneEvery is how often usage is pruned, in seconds of the policy's clock.
	pruneEvery = 60 * 60
)

// tidy prunes usage and replaces the store's records by a snapshot, if either is due. If replacing fails, the
// store keeps the records.
func (p *Policy) tidy(ctx context.Context) {
	now := p.config.Now()
	if now.Unix()-p.pruned >= pruneEvery {
		p.pruned = now.Unix()
		p.usage.prune(now)
	}
	if p.appended < compactAfter {
		return
	}
	p.appended = 0
	state, err := p.usage.clone()
	if err == nil {
		record := Record{Kind: RecordSnapshot, Wallet: p.wallet, Time: now.Unix(), Day: state.Day, Snapshot: state}
		err = p.log.Replace(ctx, record)
	}
	if err != nil && !errors.Is(err, ErrBehind) {
		p.config.Logger.WarnContext(ctx, "usage not compacted", "wallet", p.wallet, "reason", err)
	}
}
