package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
	sdkdb "github.com/haggle-protocol/haggle/sdk/store/database"
	sdkpostgres "github.com/haggle-protocol/haggle/sdk/store/postgres"
)

// postgres implements [database].
type postgres struct {
	pool *pgxpool.Pool
	// beginning is the statement that begins a transaction that writes.
	beginning string
}

// The longest time that a transaction waits for a lock, and that it is open without a statement. After the second, as
// when the machine of another gateway is lost, the server ends the transaction, so that its locks block nobody.
const (
	lockTimeout = 10 * time.Second
	idleTimeout = time.Minute
)

// beginning returns a statement that begins a transaction. Limits are counted under locks, so that the statement
// behind a lock must see the rows that its former holder has committed, whatever the database's default isolation is.
func beginning(lock time.Duration) string {
	return fmt.Sprintf("begin isolation level read committed; set local lock_timeout = %d; "+
		"set local idle_in_transaction_session_timeout = %d", lock.Milliseconds(), idleTimeout.Milliseconds())
}

func connectPostgres(ctx context.Context, config Config, migrates bool) (*Store, error) {
	parsed, err := pgxpool.ParseConfig(config.Address)
	if err != nil {
		return nil, ErrAddress // the error of pgx can quote the address
	}
	server := parsed.ConnConfig
	name := fmt.Sprintf("postgres database %s on %s:%d", server.Database, server.Host, server.Port)
	if strings.HasPrefix(server.Host, "/") {
		name = fmt.Sprintf("postgres database %s on the socket in %s", server.Database, server.Host)
	}
	parsed.MaxConns = int32(cmp.Or(config.Connections, 16))
	server.Tracer = config.tracer
	pool, err := pgxpool.NewWithConfig(ctx, parsed)
	if err != nil {
		return nil, err
	}
	p := &postgres{pool, beginning(cmp.Or(config.lockTimeout, lockTimeout))}
	opened := sdkdb.Database{Schema: tables, Name: name, Postgres: true}
	if config.Wait > 0 {
		err = opened.Failed(ctx, p.await(ctx, config))
	}
	if err == nil && migrates {
		opened.DB = stdlib.OpenDBFromPool(pool)
		err = errors.Join(sdkpostgres.Prepare(ctx, &opened), opened.DB.Close())
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return &Store{Dialect: Postgres, Name: name, database: p}, nil
}

func (p *postgres) reader() statements { return onPostgres(p.pool) }
func (p *postgres) writer() statements { return onPostgres(p.pool) }

func (p *postgres) close() error {
	p.pool.Close()
	return nil
}

// postgresStatements implements [statements] on a pool or in a transaction.
type postgresStatements struct {
	*queries.Queries
	on queries.DBTX
}

func onPostgres(on queries.DBTX) postgresStatements { return postgresStatements{queries.New(on), on} }

func (s postgresStatements) each(ctx context.Context, row func(scan) error, statement string, arguments ...any) error {
	rows, err := s.on.Query(ctx, statement, arguments...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// postgresSession implements [session].
type postgresSession struct {
	postgresStatements
	connection *pgxpool.Conn
	tx         pgx.Tx
	committed  bool
}

func (p *postgres) begin(ctx context.Context) (session, error) {
	return p.beginTx(ctx, pgx.TxOptions{BeginQuery: p.beginning})
}

func (p *postgres) snapshot(ctx context.Context) (session, error) {
	return p.beginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
}

func (p *postgres) beginTx(ctx context.Context, options pgx.TxOptions) (session, error) {
	connection, err := p.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := connection.BeginTx(ctx, options)
	if err != nil {
		connection.Release()
		return nil, err
	}
	return &postgresSession{postgresStatements: onPostgres(tx), connection: connection, tx: tx}, nil
}

const (
	commit = "COMMIT"
	// The timeouts for a commit with writes and for a rollback. Neither is canceled with the request. After a
	// timeout, the connection is closed, and the server rolls back an open transaction.
	commitLimit   = 30 * time.Second
	rollbackLimit = 5 * time.Second
)

// commit sends the writes and COMMIT in a single message, so that locks are held for one round trip less than
// with [pgx.Tx.Commit]. The server executes nothing behind a statement that fails. Canceling the request does
// not cancel the message, because the outcome would be unknown; if the context is already canceled, commit
// returns the context's error.
func (s *postgresSession) commit(ctx context.Context, writes ...write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitLimit)
	defer cancel()
	batch := &pgx.Batch{}
	queued := queries.New(queue{s.tx, batch})
	for _, w := range writes {
		if err := w(ctx, queued); err != nil {
			return err
		}
	}
	batch.Queue(commit).Exec(func(tag pgconn.CommandTag) error {
		// The server answers with ROLLBACK if an earlier statement failed.
		if tag.String() != commit {
			return pgx.ErrTxCommitRollback
		}
		s.committed = true
		return nil
	})
	err := s.tx.SendBatch(ctx, batch).Close()
	switch {
	case s.committed:
		return nil // a connection that is lost after the answer to COMMIT changes nothing
	case err != nil && s.tx.Conn().IsClosed():
		// Also after a FATAL answer: a server that waits for a standby has committed already.
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return err
}

func (s *postgresSession) handle() Tx { return Tx{Postgres: s.tx} }

func (s *postgresSession) end(ctx context.Context) {
	// The pool closes a connection with an open transaction, so that the server rolls it back.
	defer s.connection.Release()
	if s.committed {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
	defer cancel()
	_ = s.tx.Rollback(ctx)
}

// queue is a transaction that batches statements returning no rows. sqlc's :batchexec functions send a single
// kind of statement, but a round writes several kinds.
type queue struct {
	queries.DBTX
	batch *pgx.Batch
}

// Exec implements [queries.DBTX].
func (q queue) Exec(_ context.Context, statement string, arguments ...any) (pgconn.CommandTag, error) {
	q.batch.Queue(statement, arguments...)
	return pgconn.CommandTag{}, nil
}
