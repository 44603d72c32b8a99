package indexer

import (
	"context"
	"fmt"
	"strings"

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
	return &Database{Dialect: Postgres, Name: name, db: stdlib.OpenDBFromPool(pool), pool: pool}, nil
}
