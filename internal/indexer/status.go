package indexer

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Status is what a database holds.
type Status struct {
	// Database is the kind, Name the file or the host.
	Database Dialect
	Name     string
	// Schema is the version of the tables.
	Schema int64
	// Program and GenesisHash are what is indexed; Commitment is how certain it has to be.
	Program     string
	GenesisHash string
	Commitment  string
	// Checkpoint is the slot up to which everything is there and final. Head and Finalized are the slots that the node had reached
	// when the indexer last wrote, which was at UpdatedAt.
	Checkpoint uint64
	Head       uint64
	Finalized  uint64
	UpdatedAt  time.Time
	// Backlog is how many transactions of a long history are listed and not read yet; Listing says that more are being listed.
	Backlog uint64
	Listing bool

	Transactions uint64
	// Flawed are transactions whose logs do not tell everything.
	Flawed       uint64
	Events       uint64
	Negotiations uint64
	// Incomplete are negotiations of which not every event is there.
	Incomplete uint64
	// Violations are negotiations whose money does not add up.
	Violations uint64
}

// Status reads what the database holds. It fails with [ErrNotIndexed] if no indexer has ever run on it.
func (d *Database) Status(ctx context.Context) (*Status, error) {
	status := &Status{Database: d.Dialect, Name: d.Name, Program: protocol.ProgramAddress}
	err := d.read(ctx, func(s statements) error {
		p, err := readProgress(ctx, s)
		if err != nil {
			return err
		}
		if status.Schema, err = d.schemaVersion(ctx, s); err != nil {
			return err
		}
		status.GenesisHash, status.Commitment = p.genesis, p.commitment
		status.Checkpoint, status.Head, status.Finalized = p.checkpoint, p.head, p.finalized
		status.Listing = p.backlog != nil && !p.backlog.listed
		var updated int64
		counts := []struct {
			query string
			into  any
		}{
			{`SELECT updated_at FROM progress`, &updated},
			{`SELECT COUNT(*) FROM backlog`, &status.Backlog},
			{`SELECT COUNT(*) FROM transactions`, &status.Transactions},
			{`SELECT COUNT(*) FROM transactions WHERE flaw IS NOT NULL`, &status.Flawed},
			{`SELECT COUNT(*) FROM events`, &status.Events},
			{`SELECT COUNT(*) FROM negotiations`, &status.Negotiations},
			{`SELECT COUNT(*) FROM negotiations WHERE NOT complete`, &status.Incomplete},
			{`SELECT COUNT(*) FROM violations`, &status.Violations},
		}
		for _, count := range counts {
			if err := s.row(ctx, count.query).Scan(count.into); err != nil {
				return fmt.Errorf("%s: %w", strings.ToLower(count.query), err)
			}
		}
		status.UpdatedAt = time.Unix(updated, 0).UTC()
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name, err)
	}
	return status, nil
}
