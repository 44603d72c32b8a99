package agentrun

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/statefolder"
	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// noJournal is the value of --journal for no journal.
const noJournal = "none"

// openJournal opens the database that --journal names; it returns nil for none.
func (p *Party) openJournal(ctx context.Context) (*store.Store, error) {
	path := p.flags.Journal
	if path == noJournal {
		return nil, nil
	}
	if path == "" {
		var err error
		if path, err = p.ownJournal(ctx); err != nil {
			return nil, err
		}
	}
	opened, err := sqlite.Open(ctx, path)
	if errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrVersion) {
		return nil, exitcode.WithHint(fmt.Errorf("--journal: %w", err),
			"it may record transactions in flight: restore the file, or check haggle negotiation list and name a new file")
	}
	if err != nil {
		return nil, fmt.Errorf("--journal: %w", err)
	}
	return opened, nil
}

// ownJournal returns the path to the agent's file, in a directory that it creates. Each combination of role,
// wallet, counterparty, mint, service and cluster uses a separate file: a transaction sent to a given cluster
// does not exist on another.
func (p *Party) ownJournal(ctx context.Context) (string, error) {
	client, err := p.flags.Connection.Client()
	if err != nil {
		return "", err
	}
	genesis, err := client.RPC().GetGenesisHash(ctx)
	if err != nil {
		return "", err
	}
	folder, err := statefolder.Path(statefolder.Journals)
	if err != nil {
		return "", fmt.Errorf("where to keep the journal: %w", err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("the journal's directory: %w", err)
	}
	return filepath.Join(folder, p.journalName(genesis)), nil
}

func (p *Party) journalName(genesis solana.Hash) string {
	matter := sha256.New()
	for _, part := range [][32]byte{genesis, p.Self, p.Counterpart, p.Mint, p.ServiceHash} {
		matter.Write(part[:])
	}
	return p.Agent + "-" + hex.EncodeToString(matter.Sum(nil)[:8]) + ".db"
}
