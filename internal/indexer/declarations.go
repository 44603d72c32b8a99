package indexer

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/identity"
)

// Declaration limits. An agent that reaches the first limit can declare nothing more.
const (
	// MaxDeclarations is how many declarations a database keeps per agent.
	MaxDeclarations = 1000
	// MaxDeclarationFile is the maximum size of declaration files in bytes.
	MaxDeclarationFile = 1 << 20
	// maxClockDifference limits how far a declaration's time may be ahead of this machine's clock.
	maxClockDifference = time.Minute
)

// ErrDeclaration means that declarations are refused: a signature is invalid, a time is in the future, the
// file is too large, or the agent has declared too often.
var ErrDeclaration = errors.New("declarations refused")

// Declared is returned by [Database.Declare].
type Declared struct {
	// Added counts the new declarations.
	Added int
	// Unchanged counts the declarations that the database contains already, or drops in favor of a different
	// declaration with the same agent and time.
	Unchanged int
}

// ReadDeclarationFile reads and verifies the declarations in a file, a sequence of JSON values. It returns
// [ErrDeclaration] if any is invalid, if the file contains none, and if the file is larger than
// [MaxDeclarationFile].
func ReadDeclarationFile(path string) ([]identity.Declaration, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, MaxDeclarationFile+1))
	if err != nil {
		return nil, err
	}
	if len(content) > MaxDeclarationFile {
		return nil, fmt.Errorf("%w: %s: larger than %d bytes: divide it", ErrDeclaration, path, MaxDeclarationFile)
	}
	declarations, err := identity.ReadDeclarations(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDeclaration, path, err)
	}
	now := time.Now()
	for i := range declarations {
		if err := checkDeclaration(&declarations[i], now); err != nil {
			return nil, fmt.Errorf("%w: %s: number %d: %w", ErrDeclaration, path, i+1, err)
		}
	}
	if len(declarations) == 0 {
		return nil, fmt.Errorf("%w: %s: no declaration in the file", ErrDeclaration, path)
	}
	return declarations, nil
}

// Declare adds declarations, all or none. If two have the same agent and time, it keeps the greater
// signature, as [identity.DeclarationAt] does, so that their arrival order does not matter. It returns
// [ErrDeclaration] if any is refused, and [ErrNotIndexed] before an indexer first runs. An indexer can run at
// the same time.
func (d *Database) Declare(ctx context.Context, declarations []identity.Declaration) (Declared, error) {
	return d.declare(ctx, declarations, time.Now())
}

func (d *Database) declare(
	ctx context.Context, declarations []identity.Declaration, now time.Time,
) (result Declared, err error) {
	for i := range declarations {
		if err := checkDeclaration(&declarations[i], now); err != nil {
			return Declared{}, fmt.Errorf("%w: number %d: %w", ErrDeclaration, i+1, err)
		}
	}
	err = d.write(ctx, func(s statements) error {
		// The lock orders this and other processes that write, and is no change for an indexer.
		locked, err := s.exec(ctx, `UPDATE progress SET revision = revision WHERE id = 1`)
		if err != nil {
			return err
		}
		if locked == 0 {
			return fmt.Errorf("%s: %w", d.Name, ErrNotIndexed)
		}
		for i := range declarations {
			added, err := storeDeclaration(ctx, s, &declarations[i], now)
			switch {
			case err != nil:
				return err
			case added:
				result.Added++
			default:
				result.Unchanged++
			}
		}
		return nil
	})
	if err != nil {
		return Declared{}, err
	}
	return result, nil
}

func checkDeclaration(declaration *identity.Declaration, now time.Time) error {
	if err := declaration.Verify(); err != nil {
		return err
	}
	switch at := time.Unix(declaration.DeclaredAt, 0); {
	case declaration.DeclaredAt < 1:
		return fmt.Errorf("%s: declared_at not set: it is a time in Unix seconds", declaration.Agent)
	case at.After(now.Add(maxClockDifference)):
		return fmt.Errorf("%s: declared_at %d is in the future, the time is %d: wait, or correct the clock",
			declaration.Agent, declaration.DeclaredAt, now.Unix())
	}
	return nil
}

// storeDeclaration returns false if the database keeps the existing row.
func storeDeclaration(
	ctx context.Context, s statements, declaration *identity.Declaration, now time.Time,
) (added bool, err error) {
	agent, signature := declaration.Agent.String(), declaration.Signature
	var found string
	err = s.row(ctx, `SELECT signature FROM declarations WHERE agent = $1 AND declared_at = $2`, agent,
		declaration.DeclaredAt).Scan(&found)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		var count int
		err := s.row(ctx, `SELECT COUNT(*) FROM declarations WHERE agent = $1`, agent).Scan(&count)
		if err != nil {
			return false, err
		}
		if count >= MaxDeclarations {
			return false, fmt.Errorf("%w: %s: the agent has %d declarations, which is the limit",
				ErrDeclaration, agent, count)
		}
	case err != nil:
		return false, err
	default:
		kept, err := solana.SignatureFromBase58(found)
		if err != nil || bytes.Compare(signature[:], kept[:]) <= 0 {
			return false, err
		}
	}
	_, err = s.exec(ctx, `INSERT INTO declarations
		(agent, declared_at, strategy, model, prompt_hash, signature, received_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (agent, declared_at) DO UPDATE SET strategy = excluded.strategy,
		model = excluded.model, prompt_hash = excluded.prompt_hash, signature = excluded.signature,
		received_at = excluded.received_at`, agent, declaration.DeclaredAt, declaration.Strategy, declaration.Model,
		declaration.PromptHash, signature.String(), now.Unix())
	return err == nil, err
}
