package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// session is a transaction on one connection. After its end, every statement returns [sql.ErrTxDone].
type session interface {
	queries.DBTX
	// last executes the last statement and commits. After an error the session needs a rollback; if the error
	// is that of the connection, the outcome of the commit is unknown.
	last(ctx context.Context, statement string, arguments ...any) error
	commit(ctx context.Context) error
	// rollback ends the transaction if it is open.
	rollback(ctx context.Context) error
}

// sqlSession is a transaction of database/sql.
type sqlSession struct {
	sqlAdapter
	tx *sql.Tx
}

func (s sqlSession) last(ctx context.Context, statement string, arguments ...any) error {
	if _, err := s.Exec(ctx, statement, arguments...); err != nil {
		return err
	}
	return s.tx.Commit()
}

func (s sqlSession) commit(context.Context) error { return s.tx.Commit() }

// rollback ends the transaction. After the end of its context it has ended already.
func (s sqlSession) rollback(context.Context) error {
	if err := s.tx.Rollback(); !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}

// pipelined is a transaction of PostgreSQL. It sends BEGIN in one message with the first statement, and last
// sends COMMIT with the last one: each saves a round trip, and locks are held for a shorter time. The server
// executes nothing of a message behind a statement that fails.
type pipelined struct {
	connection *pgx.Conn
	// begun reports that BEGIN was sent, and ended that COMMIT was sent with a statement.
	begun, ended bool
}

// errUnfinished means that the caller has left a transaction open or rows unread.
var errUnfinished = errors.New("gateway store: transaction not finished")

// onConnection calls act with a connection of PostgreSQL, and closes it if act leaves a transaction open or
// rows unread.
func onConnection(ctx context.Context, db *sql.DB, act func(*pgx.Conn) error) (err error) {
	connection, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	return connection.Raw(func(opened any) error {
		known, is := opened.(*stdlib.Conn)
		if !is {
			return fmt.Errorf("gateway store: connection of type %T", opened)
		}
		used := known.Conn()
		err := act(used)
		server := used.PgConn()
		if !used.IsClosed() && (server.IsBusy() || server.TxStatus() != idle) {
			err = errors.Join(err, errUnfinished, used.Close(ctx))
		}
		return err
	})
}

const (
	begin  = "BEGIN"
	commit = "COMMIT"
)

// open reports whether the session accepts statements. pgx prepares the first statement before it sends
// BEGIN, so an error there leaves no transaction.
func (p *pipelined) open() bool {
	return !p.ended && !(p.begun && p.connection.PgConn().TxStatus() == idle)
}

// send sends a statement in one message: behind BEGIN if it is the first one, and before COMMIT if it is the
// last one.
func (p *pipelined) send(
	ctx context.Context, last bool, statement string, arguments ...any,
) (pgx.BatchResults, error) {
	if !p.open() {
		return nil, sql.ErrTxDone
	}
	batch := &pgx.Batch{}
	first := !p.begun
	if first {
		batch.Queue(begin)
	}
	batch.Queue(Postgres.text(statement), arguments...)
	if last {
		batch.Queue(commit)
	}
	p.begun, p.ended = true, last
	results := p.connection.SendBatch(ctx, batch)
	if first {
		if _, err := results.Exec(); err != nil {
			_ = results.Close()
			return nil, err
		}
	}
	return results, nil
}

// Query implements session.
func (p *pipelined) Query(ctx context.Context, statement string, arguments ...any) (pgx.Rows, error) {
	results, err := p.send(ctx, false, statement, arguments...)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close()
		return nil, err
	}
	return &batchRows{Rows: rows, results: results}, nil
}

// QueryRow implements session.
func (p *pipelined) QueryRow(ctx context.Context, statement string, arguments ...any) pgx.Row {
	found, err := p.Query(ctx, statement, arguments...)
	return singleRow{found, err}
}

// Exec implements session.
func (p *pipelined) Exec(ctx context.Context, statement string, arguments ...any) (pgconn.CommandTag, error) {
	results, err := p.send(ctx, false, statement, arguments...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	return tag, cmp.Or(err, results.Close())
}

// committing returns the context of a commit. It is not cancelled with the request, which would not know the
// outcome. A request that is cancelled already gets its error.
func committing(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitLimit)
	return ctx, cancel, nil
}

func (p *pipelined) last(ctx context.Context, statement string, arguments ...any) error {
	ctx, cancel, err := committing(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	results, err := p.send(ctx, true, statement, arguments...)
	if err != nil {
		return err
	}
	if _, err = results.Exec(); err == nil {
		err = committed(results.Exec())
	}
	_ = results.Close() // after the answer to COMMIT, a lost connection changes nothing
	return err
}

func (p *pipelined) commit(ctx context.Context) error {
	if !p.open() {
		return sql.ErrTxDone
	}
	if !p.begun {
		return nil
	}
	ctx, cancel, err := committing(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	return committed(p.connection.Exec(ctx, commit))
}

// committed returns the error of a COMMIT. The server answers it with ROLLBACK after a statement has failed.
func committed(tag pgconn.CommandTag, err error) error {
	if err == nil && tag.String() != commit {
		err = pgx.ErrTxCommitRollback
	}
	return err
}

const (
	// idle is the status of a connection without a transaction.
	idle = 'I'
	// The times for a commit with its last statement and for a rollback, which are not cancelled with the
	// request. After them, the connection is closed, and the server rolls back an open transaction.
	commitLimit   = 30 * time.Second
	rollbackLimit = 5 * time.Second
)

func (p *pipelined) rollback(ctx context.Context) error {
	if p.connection.IsClosed() || p.connection.PgConn().TxStatus() == idle {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackLimit)
	defer cancel()
	_, err := p.connection.Exec(ctx, "ROLLBACK")
	return err
}

// batchRows are the rows of a statement that was sent alone or behind BEGIN.
type batchRows struct {
	pgx.Rows
	results pgx.BatchResults
	closed  error
}

// Close reads the rest of the answer. Err has its error.
func (r *batchRows) Close() {
	r.Rows.Close()
	r.closed = cmp.Or(r.closed, r.results.Close())
}

// Err implements [pgx.Rows].
func (r *batchRows) Err() error { return cmp.Or(r.Rows.Err(), r.closed) }
