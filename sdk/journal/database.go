package journal

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Database is a journal in the table haggle_journal of a SQL database, which several processes can use at
// once. It keeps the finished entries, with their outcomes, until Forget removes them. Its methods may be
// called from several goroutines.
//
// A unique index over wallet and idempotency key keeps two processes from carrying out one action. The
// process that begins an entry holds a lease on it for 30 seconds, by the database's clock, and renews it
// until the entry is finished. Other processes wait for the outcome, and resolve the transaction if the lease
// has ended because the process has died.
type Database struct {
	config DatabaseConfig
	// owner is this process's name in the table.
	owner string
	// The statements are in the dialect of the database.
	begin, renew, list, abandon string

	closing context.CancelFunc
	// renewing has the goroutine that renews the leases.
	renewing sync.WaitGroup
	closed   sync.Once
}

// DatabaseConfig describes an open database with the table haggle_journal: packages journal/sqlite and
// journal/postgres open one.
type DatabaseConfig struct {
	DB *sql.DB
	// Name is the name in errors.
	Name string
	// Now is the SQL expression of the database's clock, in milliseconds since 1970. NextNumber is that of a
	// new number of an entry that is begun again.
	Now, NextNumber string
	// IsDuplicate reports whether an error is a violation of a unique index.
	IsDuplicate func(error) bool
	// Lease is the length of a lease. If zero, it is 30 seconds.
	Lease time.Duration
	// NoRenewal leaves out the renewal of the leases, for tests.
	NoRenewal bool
	// Closer, if set, is closed after DB.
	Closer io.Closer
}

const (
	leaseLength = 30 * time.Second
	// closeLimit is how long Close tries to release the leases.
	closeLimit = 5 * time.Second
)

// NewDatabase returns the journal in a database.
func NewDatabase(config DatabaseConfig) *Database {
	if config.Lease == 0 {
		config.Lease = leaseLength
	}
	dialect := strings.NewReplacer("{now}", config.Now, "{number}", config.NextNumber)
	ctx, stop := context.WithCancel(context.Background())
	d := &Database{
		config: config, owner: rand.Text(), closing: stop, begin: dialect.Replace(beginEntry),
		renew: dialect.Replace(renewLeases), list: dialect.Replace(listEntries), abandon: dialect.Replace(abandonEntries),
	}
	if !config.NoRenewal {
		d.renewing.Go(func() { d.renewLeases(ctx) })
	}
	return d
}

// The statements take $1 and so on in the order of their use: both PostgreSQL and SQLite know that form.
const (
	// beginEntry either adds an entry, or begins one again that has been finished.
	beginEntry = `
INSERT INTO haggle_journal
	(signature, wallet, action, negotiation, begun, entry, idempotency, intent, owner, leased_until)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, {now} + $10)
ON CONFLICT (signature) DO UPDATE SET
	number = {number}, wallet = excluded.wallet, action = excluded.action,
	negotiation = excluded.negotiation, begun = excluded.begun, entry = excluded.entry,
	idempotency = excluded.idempotency, intent = excluded.intent, owner = excluded.owner,
	leased_until = excluded.leased_until, outcome = NULL, finished = NULL, acknowledged = false
WHERE haggle_journal.outcome IS NOT NULL`

	// finishEntry writes an outcome unless there is one, and an acknowledgement. Only the owner can know that
	// a transaction was not sent.
	finishEntry = `
UPDATE haggle_journal SET
	outcome = coalesce(outcome, $2), finished = coalesce(finished, $3), acknowledged = acknowledged OR $4
WHERE signature = $1 AND (outcome IS NULL OR acknowledged < $4)
	AND (outcome IS NOT NULL OR NOT $5 OR owner = $6)`

	isUnfinished = `SELECT EXISTS (SELECT 1 FROM haggle_journal WHERE signature = $1 AND outcome IS NULL)`

	// findConfirmed prefers the entry with the key, which is sorted first.
	findConfirmed = `
SELECT content FROM (
	SELECT 0 AS place, number, CAST(entry AS text) AS content FROM haggle_journal
	WHERE wallet = $1 AND idempotency = $2 AND outcome = 'confirmed'
	UNION ALL
	SELECT 1, number, CAST(entry AS text) FROM haggle_journal
	WHERE wallet = $1 AND intent = $3 AND outcome = 'confirmed' AND NOT acknowledged
) AS found ORDER BY place, number LIMIT 1`

	listEntries = `
SELECT signature, CAST(entry AS text), coalesce(owner <> $2, false), leased_until <= {now}
FROM haggle_journal WHERE wallet = $1 AND outcome IS NULL ORDER BY number`

	// abandonEntries takes entries from the owners whose leases have ended.
	abandonEntries = `
UPDATE haggle_journal SET owner = NULL
WHERE wallet = $1 AND outcome IS NULL AND owner <> $2 AND leased_until <= {now}`

	renewLeases = `UPDATE haggle_journal SET leased_until = {now} + $2 WHERE owner = $1 AND outcome IS NULL`

	releaseLeases = `UPDATE haggle_journal SET owner = NULL WHERE owner = $1 AND outcome IS NULL`

	forgetEntries = `
DELETE FROM haggle_journal
WHERE outcome IS NOT NULL AND finished < $1 AND (outcome <> 'confirmed' OR acknowledged)`
)

// renewLeases extends the leases until the journal is closed. A failed renewal is repeated at the next
// interval: a lease outlives two of them.
func (d *Database) renewLeases(ctx context.Context) {
	ticker := time.NewTicker(d.config.Lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		limited, cancel := context.WithTimeout(ctx, d.config.Lease/3)
		_, _ = d.exec(limited, d.renew, d.owner, d.config.Lease.Milliseconds())
		cancel()
	}
}

// exec returns the number of changed rows.
func (d *Database) exec(ctx context.Context, statement string, arguments ...any) (changed int64, err error) {
	result, err := d.config.DB.ExecContext(ctx, statement, arguments...)
	if err == nil {
		changed, err = result.RowsAffected()
	}
	return changed, d.failed(ctx, err)
}

// failed returns an error of the database, or the context's if that has ended.
func (d *Database) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("journal: %s: %w", d.config.Name, err)
}

// Begin implements [haggle.Journal]. It returns [haggle.ErrInJournal] for an entry with the wallet and the
// key of an unfinished or confirmed one.
func (d *Database) Begin(ctx context.Context, entry haggle.JournalEntry) error {
	if err := entry.Validate(); err != nil {
		return err
	}
	encoded, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	begun, err := d.exec(ctx, d.begin, entry.Signature.String(), entry.Wallet.String(), entry.Action,
		unlessZero(entry.Negotiation), timestamp(entry.Begun), string(encoded), unlessZero(entry.Key),
		unlessZero(entry.Intent), d.owner, d.config.Lease.Milliseconds())
	if d.config.IsDuplicate(err) || err == nil && begun == 0 {
		return fmt.Errorf("%w: %s", haggle.ErrInJournal, entry.Signature)
	}
	return err
}

// Finish implements [haggle.Journal].
func (d *Database) Finish(
	ctx context.Context, signature solana.Signature, outcome transaction.Outcome, acknowledged bool,
) error {
	if !outcome.IsFinal() {
		return fmt.Errorf("journal: %s cannot be finished as %s", signature, outcome)
	}
	notSent := outcome == transaction.NotSent
	changed, err := d.exec(ctx, finishEntry,
		signature.String(), outcome.String(), timestamp(time.Now()), acknowledged, notSent, d.owner)
	if err != nil || changed > 0 || !notSent {
		return err
	}
	var unfinished bool
	err = d.config.DB.QueryRowContext(ctx, isUnfinished, signature.String()).Scan(&unfinished)
	if err == nil && unfinished {
		return fmt.Errorf("journal: %s cannot be finished as %s: the lease has ended", signature, outcome)
	}
	return d.failed(ctx, err)
}

// Confirmed implements [haggle.Journal].
func (d *Database) Confirmed(
	ctx context.Context, wallet solana.PublicKey, key, intent solana.Hash,
) (*haggle.JournalEntry, error) {
	var encoded string
	err := d.config.DB.QueryRowContext(ctx, findConfirmed,
		wallet.String(), unlessZero(key), unlessZero(intent)).Scan(&encoded)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, d.failed(ctx, err)
	}
	entry, err := d.decode(encoded)
	return &entry, err
}

func (d *Database) decode(encoded string) (entry haggle.JournalEntry, err error) {
	decoder := json.NewDecoder(strings.NewReader(encoded))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(&entry); err == nil {
		err = entry.Validate()
	}
	if err != nil {
		err = fmt.Errorf("%w: %s: %w", ErrDamaged, d.config.Name, err)
	}
	return entry, err
}

// Unfinished implements [haggle.Journal].
func (d *Database) Unfinished(ctx context.Context, wallet solana.PublicKey) iter.Seq2[haggle.JournalEntry, error] {
	return sequence(func() ([]haggle.JournalEntry, error) {
		entries, ended, err := d.unfinished(ctx, wallet)
		if err != nil || !ended {
			return entries, err
		}
		// The entry has no owner before it is returned as one without a lease, so that the earlier owner
		// cannot finish it as not sent any more. The row's lock orders this after a Finish that has begun.
		if _, err := d.exec(ctx, d.abandon, wallet.String(), d.owner); err != nil {
			return nil, err
		}
		entries, _, err = d.unfinished(ctx, wallet)
		return entries, err
	})
}

// sequence returns the entries of a list. The list is read as a whole before the first entry is yielded,
// because the loop may write to the journal.
func sequence(list func() ([]haggle.JournalEntry, error)) iter.Seq2[haggle.JournalEntry, error] {
	return func(yield func(haggle.JournalEntry, error) bool) {
		entries, err := list()
		if err != nil {
			yield(haggle.JournalEntry{}, err)
			return
		}
		for _, entry := range entries {
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// unfinished returns a wallet's unfinished entries. ended reports whether the lease of another process has
// ended.
func (d *Database) unfinished(
	ctx context.Context, wallet solana.PublicKey,
) (entries []haggle.JournalEntry, ended bool, err error) {
	rows, err := d.config.DB.QueryContext(ctx, d.list, wallet.String(), d.owner)
	if err != nil {
		return nil, false, d.failed(ctx, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var signature, encoded string
		var leased, due bool
		if err := rows.Scan(&signature, &encoded, &leased, &due); err != nil {
			return nil, false, d.failed(ctx, err)
		}
		entry, err := d.decode(encoded)
		if err == nil && (entry.Signature.String() != signature || entry.Wallet != wallet) {
			err = fmt.Errorf("%w: %s: entry of %s is another one's", ErrDamaged, d.config.Name, signature)
		}
		if err != nil {
			return nil, false, err
		}
		entry.Leased, ended = leased, ended || leased && due
		entries = append(entries, entry)
	}
	return entries, ended, d.failed(ctx, rows.Err())
}

// unlessZero returns NULL for a zero hash or address: NULL equals nothing.
func unlessZero[T interface {
	IsZero() bool
	String() string
}](value T) any {
	if value.IsZero() {
		return nil
	}
	return value.String()
}

// timestamp formats a time such that the texts sort like the times.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }

// Forget removes the entries that were finished before a time, and returns their number. Confirmed entries
// stay until they are acknowledged. The journal no longer knows the idempotency keys of the removed entries.
func (d *Database) Forget(ctx context.Context, before time.Time) (int64, error) {
	return d.exec(ctx, forgetEntries, timestamp(before))
}

// Close releases the leases and closes the database. A second call does nothing.
func (d *Database) Close() (err error) {
	d.closed.Do(func() {
		d.closing()
		d.renewing.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		_, _ = d.exec(ctx, releaseLeases, d.owner) // without an answer the leases end by themselves
		err = d.config.DB.Close()
		if d.config.Closer != nil {
			err = errors.Join(err, d.config.Closer.Close())
		}
	})
	return err
}
