package gatewayload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// A run's databases.
const (
	// loaded is the gateway's database, compared is pgbench's, and captured is the database whose log is
	// read.
	loaded, compared, captured = "loaded", "compared", "captured"
)

// A run's first ids. They differ from all other numbers in statements, so that the script can replace them.
const (
	firstPublisher = 1_000_001
	firstClient    = 2_000_001
)

// seeds contains a run's parties.
type seeds struct {
	publishers, clients int
	// keys lists the clients' API keys, in id order.
	keys []string
}

// hostname returns the name of the publisher at a position, from 0.
func hostname(position int) string { return fmt.Sprintf("site-%d.example", firstPublisher+position) }

// strategy is the publisher's strategy for this package's sequence.
const strategy = `{"min_price_per_fetch_micro": 1000, "preferred_price_per_fetch_micro": 2000,
	"max_price_per_fetch_micro": 5000, "published_floor_micro": 500}`

// seed migrates an empty database and adds publishers with a strategy each, and clients with a key each.
// Publisher ids and client ids are consecutive, and each strategy's id equals the publisher's.
func seed(ctx context.Context, address string, publishers, clients int) (s *seeds, err error) {
	database, err := store.Open(ctx, store.Config{Address: address})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	s = &seeds{publishers: publishers, clients: clients}
	return s, connected(ctx, address, func(connection *pgx.Conn) error {
		_, err := connection.Exec(ctx, fmt.Sprintf(`SELECT
			setval(pg_get_serial_sequence('publishers', 'id'), %[1]d, false),
			setval(pg_get_serial_sequence('negotiation_strategies', 'id'), %[1]d, false),
			setval(pg_get_serial_sequence('clients', 'id'), %[2]d, false)`, firstPublisher, firstClient))
		if err != nil {
			return err
		}
		if err := addPublishers(ctx, database, connection, publishers); err != nil {
			return fmt.Errorf("add publishers: %w", err)
		}
		if err := s.addClients(ctx, connection); err != nil {
			return fmt.Errorf("add clients: %w", err)
		}
		// All other tables are empty, and an empty table's statistics mislead the planner.
		_, err = connection.Exec(ctx, "VACUUM ANALYZE publishers, negotiation_strategies, clients, api_keys")
		return err
	})
}

// connected calls act with a connection to a database, and closes the connection.
func connected(ctx context.Context, address string, act func(*pgx.Conn) error) error {
	connection, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	return errors.Join(act(connection), connection.Close(ctx))
}

// addPublishers adds one publisher and strategy as the gateway does, and copies the rows.
func addPublishers(ctx context.Context, database *store.Store, connection *pgx.Conn, count int) error {
	cases, err := service.New(service.Config{Store: database})
	if err != nil {
		return err
	}
	operator := identity.Caller{Kind: identity.Administrator, Scopes: identity.ScopesOf(identity.Administrator)}
	first, err := cases.CreatePublisher(ctx, operator,
		store.Publisher{Hostname: hostname(0), Name: "Site", Currency: "USD", FloorMicro: 500, Active: true}, "")
	if err != nil {
		return err
	}
	owner := identity.Caller{
		Kind: identity.Publisher, ID: first.ID, Scopes: identity.ScopesOf(identity.Publisher),
	}
	if _, err := cases.CreateStrategy(ctx, owner, []byte(strategy), ""); err != nil {
		return err
	}
	_, err = connection.Exec(ctx, `INSERT INTO publishers
		(hostname, name, currency, published_floor_micro, is_active, created_at, updated_at)
		SELECT 'site-' || number || '.example', name, currency, published_floor_micro, is_active, created_at,
			updated_at
		FROM publishers, generate_series($1::bigint, $2) AS number ORDER BY number`,
		firstPublisher+1, firstPublisher+count-1)
	if err != nil {
		return err
	}
	var columns string
	if err := connection.QueryRow(ctx, `SELECT string_agg(column_name, ', ') FROM information_schema.columns
		WHERE table_name = 'negotiation_strategies'
		AND column_name NOT IN ('id', 'publisher_id')`).Scan(&columns); err != nil {
		return err
	}
	_, err = connection.Exec(ctx, `INSERT INTO negotiation_strategies (publisher_id, `+columns+`)
		SELECT number, `+columns+` FROM negotiation_strategies, generate_series($1::bigint, $2) AS number
		ORDER BY number`, firstPublisher+1, firstPublisher+count-1)
	return err
}

// addClients adds the clients and their keys with COPY.
func (s *seeds) addClients(ctx context.Context, connection *pgx.Conn) error {
	now := time.Now().UnixMicro()
	_, err := connection.CopyFrom(ctx, pgx.Identifier{"clients"},
		[]string{"kind", "subject", "name", "created_at"},
		pgx.CopyFromSlice(s.clients, func(at int) ([]any, error) {
			return []any{
				string(store.ClientAPIKey), fmt.Sprintf("load-%d", at), fmt.Sprintf("Company %d", at), now,
			}, nil
		}))
	if err != nil {
		return err
	}
	scopes, err := json.Marshal(identity.ScopesOf(identity.Client))
	if err != nil {
		return err
	}
	_, err = connection.CopyFrom(ctx, pgx.Identifier{"api_keys"},
		[]string{"id", "hash", "name", "scopes", "client_id", "created_at"},
		pgx.CopyFromSlice(s.clients, func(at int) ([]any, error) {
			key := identity.NewAPIKey()
			s.keys = append(s.keys, key.Reveal())
			id, err := uuid.NewV7()
			return []any{[16]byte(id), key.Hash(), "load", string(scopes), int64(firstClient + at), now}, err
		}))
	return err
}
