package indexer

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

func connectPostgres(address string) (*Database, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("%w: it should be like postgres://USER@HOST:PORT/NAME", ErrAddress)
	}
	server := config.ConnConfig
	name := fmt.Sprintf("postgres database %s on %s:%d", server.Database, server.Host, server.Port)
	if strings.HasPrefix(server.Host, "/") {
		name = fmt.Sprintf("postgres database %s on the socket in %s", server.Database, server.Host)
	}
	// The context limits connections that the pool opens in advance, and there are none.
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Database{Dialect: Postgres, Name: name, engine: postgres{pool}}, nil
}

// postgres is a PostgreSQL database.
type postgres struct{ pool *pgxpool.Pool }

func (p postgres) statements() statements { return postgresStatements{p.pool} }

func (p postgres) standard() (*sql.DB, func() error) {
	db := stdlib.OpenDBFromPool(p.pool)
	return db, db.Close
}

func (p postgres) close() error {
	p.pool.Close()
	return nil
}

func (p postgres) write(ctx context.Context, act func(statements) error) error {
	return p.within(ctx, pgx.TxOptions{}, act)
}

func (p postgres) read(ctx context.Context, act func(statements) error) error {
	return p.within(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, act)
}

func (p postgres) within(ctx context.Context, options pgx.TxOptions, act func(statements) error) error {
	return pgx.BeginTxFunc(ctx, p.pool, options, func(transaction pgx.Tx) error {
		return act(postgresStatements{transaction})
	})
}

// postgresStatements run on a connection of the pool or in a transaction.
type postgresStatements struct {
	on interface {
		Exec(ctx context.Context, statement string, arguments ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, statement string, arguments ...any) (pgx.Rows, error)
		QueryRow(ctx context.Context, statement string, arguments ...any) pgx.Row
	}
}

func (p postgresStatements) exec(ctx context.Context, statement string, arguments ...any) (int64, error) {
	done, err := p.on.Exec(ctx, statement, arguments...)
	return done.RowsAffected(), err
}

// row's error is [pgx.ErrNoRows] if there is none, which is [sql.ErrNoRows] for errors.Is.
func (p postgresStatements) row(ctx context.Context, statement string, arguments ...any) row {
	return p.on.QueryRow(ctx, statement, arguments...)
}

func (p postgresStatements) each(ctx context.Context, act func(scan func(...any) error) error, statement string,
	arguments ...any,
) error {
	rows, err := p.on.Query(ctx, statement, arguments...)
	if err != nil {
		return err
	}
	defer rows.Close()
	return eachRow(rows, act)
}
