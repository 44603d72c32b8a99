// Package schema contains the migrations of the gateway's database.
package schema

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"text/template"
)

// files are never changed once a haggle release used them: a change is a further file. Each file is a
// migration; the name begins with the version.
//
//go:embed *.sql
var files embed.FS

// Migration is a change of the schema.
type Migration struct {
	Version int64
	SQL     string
}

// AppendOnly lists the tables with rows that never change.
var AppendOnly = []string{"audit_entries", "negotiation_rounds", "negotiation_messages"}

// immutable lists the columns of negotiation_strategies that never change. Migration 1 uses the list, so it
// must not change: a later migration replaces the trigger.
const immutable = `id, publisher_id, strategy_name, version, definition, created_at,
	negotiation_style, min_price_per_fetch_micro, preferred_price_per_fetch_micro, max_price_per_fetch_micro,
	min_token_ttl_seconds, preferred_token_ttl_seconds, max_token_ttl_seconds, min_burst_rps,
	preferred_burst_rps, max_burst_rps, allowed_purposes, preferred_purposes, deal_breakers, max_rounds,
	auto_accept_threshold, timeout_seconds, llm_provider, llm_model, llm_temperature, system_prompt`

// parts holds the values for a migration template.
type parts struct {
	Postgres        bool
	ID, UUID, JSON  string
	AppendOnly      []string
	StrategyColumns string
}

// Migrations returns the migrations for PostgreSQL or for SQLite, in order.
func Migrations(postgres bool) (all []Migration, err error) {
	values := parts{
		ID: "INTEGER PRIMARY KEY AUTOINCREMENT", UUID: "TEXT", JSON: "TEXT", AppendOnly: AppendOnly,
		StrategyColumns: immutable,
	}
	if postgres {
		values.Postgres = true
		values.ID, values.UUID, values.JSON = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "UUID", "JSONB"
	}
	templates, err := template.New("").Option("missingkey=error").ParseFS(files, "*.sql")
	if err != nil {
		return nil, err
	}
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		number, _, _ := strings.Cut(entry.Name(), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("migration %s: its name must begin with a number", entry.Name())
		}
		var text strings.Builder
		if err := templates.ExecuteTemplate(&text, entry.Name(), values); err != nil {
			return nil, err
		}
		all = append(all, Migration{version, text.String()})
	}
	return all, nil
}
