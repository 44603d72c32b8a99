package journal

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// Database is a journal in the table haggle_journal of a SQL database, which several clients in several
// processes can use at once. It keeps the finished entries, with their outcomes, until Forget removes them.
// Its methods may be called from several goroutines.
//
// A unique index over wallet and idempotency key keeps two clients from carrying out one action. The client
// that begins an entry holds a lease on it for 10 seconds, by the database's clock. The Database renews the
// leases on authorised entries of its clients until the entries are finished. Other clients wait for the
// outcome, and resolve the transaction if the lease has ended because the client is closed or its process has
// died. An entry that was never authorised is then revoked, so its transaction is never sent.
type Database struct {
	config DatabaseConfig
	// The statements are in the dialect of the database.
	begin, revoke, renew, release, list, abandon string

	lock sync.Mutex
	// owners are the names of the open clients in the table.
	owners map[string]bool

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
	// Owners is the SQL query of the texts in the JSON array $1.
	Owners string
	// IsDuplicate reports whether an error is a violation of a unique index.
	IsDuplicate func(error) bool
	// Lease is the length of a lease. If zero, it is 10 seconds.
	Lease time.Duration
	// NoRenewal leaves out the renewal of the leases, for tests.
	NoRenewal bool
	// Closer, if set, is closed after DB.
	Closer io.Closer
}

const (
	// leaseLength bounds how long an agent waits for its own transactions after it was killed. A client that
	// loses a lease because it stalls does no harm: it can no longer authorise anything.
	leaseLength = 10 * time.Second
	// closeLimit is how long Close tries to release the leases.
	closeLimit = 5 * time.Second
)

// NewDatabase returns the journal in a database.
func NewDatabase(config DatabaseConfig) *Database {
	if config.Lease == 0 {
		config.Lease = leaseLength
	}
	dialect := strings.NewReplacer("{now}", config.Now, "{number}", config.NextNumber, "{owners}", config.Owners)
	ctx, stop := context.WithCancel(context.Background())
	d := &Database{
		config: config, owners: make(map[string]bool), closing: stop,
		begin: dialect.Replace(beginEntry), revoke: dialect.Replace(revokeEntry),
		renew: dialect.Replace(renewLeases), release: dialect.Replace(releaseLeases),
		list: dialect.Replace(listEntries), abandon: dialect.Replace(abandonEntries),
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
	leased_until = excluded.leased_until, authorized = false, outcome = NULL, finished = NULL,
	acknowledged = false
WHERE haggle_journal.outcome IS NOT NULL`

	// authorizeEntry is the second step, after which the transaction may be sent.
	authorizeEntry = `
UPDATE haggle_journal SET authorized = true WHERE signature = $1 AND owner = $2 AND outcome IS NULL`

	// revokeEntry takes effect only on an entry that no other client can authorise at the same time.
	revokeEntry = `
UPDATE haggle_journal SET outcome = $3, finished = $4
WHERE signature = $1 AND outcome IS NULL AND NOT authorized
	AND (owner IS NULL OR owner = $2 OR leased_until <= {now})`

	readOutcome = `SELECT coalesce(outcome, '') FROM haggle_journal WHERE signature = $1`

	// finishEntry writes an outcome unless there is one, and an acknowledgement. Only the owner can know that
	// a transaction was not sent.
	finishEntry = `
UPDATE haggle_journal SET
	outcome = coalesce(outcome, $2), finished = coalesce(finished, $3), acknowledged = acknowledged OR $4
WHERE signature = $1 AND (outcome IS NULL OR acknowledged < $4)
	AND (outcome IS NOT NULL OR NOT $5 OR owner = $6)`

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
SELECT signature, CAST(entry AS text), authorized, coalesce(owner <> $2, false),
	leased_until <= {now}
FROM haggle_journal WHERE wallet = $1 AND outcome IS NULL ORDER BY number`

	// abandonEntries takes entries from the owners whose leases have ended.
	abandonEntries = `
UPDATE haggle_journal SET owner = NULL
WHERE wallet = $1 AND outcome IS NULL AND owner <> $2 AND leased_until <= {now}`

	// renewLeases leaves out entries between the two steps. An entry that a Begin has written after its client
	// had given it up can then be revoked by any client.
	renewLeases = `
UPDATE haggle_journal SET leased_until = {now} + $2
WHERE owner IN ({owners}) AND authorized AND outcome IS NULL`

	releaseLeases = `UPDATE haggle_journal SET owner = NULL WHERE owner IN ({owners}) AND outcome IS NULL`

	forgetEntries = `
DELETE FROM haggle_journal
WHERE outcome IS NOT NULL AND finished < $1 AND (outcome <> 'confirmed' OR acknowledged)`
)

// OpenJournal implements [haggle.JournalStore].
func (d *Database) OpenJournal() haggle.Journal {
	d.lock.Lock()
	defer d.lock.Unlock()
	opened := &clientJournal{database: d, owner: rand.Text()}
	d.owners[opened.owner] = true
	return opened
}

// remove ends the leases of a client.
func (d *Database) remove(owner string) {
	d.lock.Lock()
	delete(d.owners, owner)
	d.lock.Unlock()
	encoded, _ := json.Marshal([]string{owner}) // a text can always be encoded
	d.releaseLimited(string(encoded))
}

// ownersJSON returns the open clients as a JSON array; empty if there is none.
func (d *Database) ownersJSON() string {
	d.lock.Lock()
	defer d.lock.Unlock()
	if len(d.owners) == 0 {
		return ""
	}
	encoded, _ := json.Marshal(slices.Collect(maps.Keys(d.owners))) // texts can always be encoded
	return string(encoded)
}

// releaseLimited releases the leases of owners, a JSON array. If that fails, the leases end by themselves.
func (d *Database) releaseLimited(owners string) {
	if owners == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	_, _ = d.exec(ctx, d.release, owners)
}

// renewLeases extends the leases of all clients until the database is closed. A failed renewal is repeated at
// the next interval: a lease outlives two of them.
func (d *Database) renewLeases(ctx context.Context) {
	ticker := time.NewTicker(d.config.Lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		owners := d.ownersJSON()
		if owners == "" {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, d.config.Lease/3)
		_, _ = d.exec(limited, d.renew, owners, d.config.Lease.Milliseconds())
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

// Close releases the leases of all clients and closes the database. A second call does nothing.
func (d *Database) Close() (err error) {
	d.closed.Do(func() {
		d.closing()
		d.renewing.Wait()
		d.releaseLimited(d.ownersJSON())
		err = d.config.DB.Close()
		if d.config.Closer != nil {
			err = errors.Join(err, d.config.Closer.Close())
		}
	})
	return err
}
