package store

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// waitInterval is the longest pause between two attempts to reach PostgreSQL.
const waitInterval = 2 * time.Second

// cannotConnectNow is the SQLSTATE of a starting or stopping PostgreSQL server.
const cannotConnectNow = "57P03"

// await blocks until PostgreSQL accepts connections. The last attempt begins within Config.Wait and takes up
// to Config.Wait. If the server refuses the user, password or database, await returns at once.
func (p *postgres) await(ctx context.Context, config Config) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		attempt, cancel := context.WithTimeout(ctx, config.Wait) // a server can accept a connection and send nothing
		defer cancel()
		err := p.pool.Ping(attempt)
		var unreachable *pgconn.ConnectError
		var answer *pgconn.PgError
		if err != nil && (!errors.As(err, &unreachable) || errors.As(err, &answer) && answer.Code != cannotConnectNow) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxElapsedTime(config.Wait), backoff.WithNotify(func(err error, _ time.Duration) {
		if config.Waiting != nil {
			config.Waiting(err)
		}
	}), backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 100 * time.Millisecond, MaxInterval: waitInterval, Multiplier: 2, RandomizationFactor: 0.5,
	}))
	return err
}
