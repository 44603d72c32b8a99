package indexer

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Status describes a database's contents.
type Status struct {
	// Database is the kind, Name the file or the host.
	Database Dialect
	Name     string
	// Schema is the table version.
	Schema int64
	// Program and GenesisHash identify the indexed program and chain. Commitment applies to indexed
	// transactions.
	Program     string
	GenesisHash string
	Commitment  string
	// Checkpoint is the slot through which everything is indexed and final. Head and Finalized are the node's
	// slots at the last write, at UpdatedAt.
	Checkpoint uint64
	Head       uint64
	Finalized  uint64
	UpdatedAt  time.Time
	// Backlog counts the transactions in a long history that are listed but not read yet. Listing reports
	// whether the list is incomplete.
	Backlog uint64
	Listing bool

	Transactions uint64
	// Flawed counts transactions with logs that lack events. Rebuilt counts events that the indexer computed
	// because the logs lack them.
	Flawed       uint64
	Events       uint64
	Rebuilt      uint64
	Negotiations uint64
	// Incomplete counts negotiations with unknown events.
	Incomplete uint64
	// Violations counts negotiations with amounts that do not add up.
	Violations uint64
}

// Status reads the status. It returns [ErrNotIndexed] if no indexer has written to the database.
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
			{`SELECT COUNT(*) FROM events WHERE rebuilt`, &status.Rebuilt},
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
