// Package queries contains a function for each statement in the .sql files, for PostgreSQL with pgx. Package
// sqlite contains the same functions for SQLite with database/sql, and both implement [Querier]. sqlc checks
// the statements against the schemas and generates the functions: run
// `go generate ./internal/gateway/store/queries`. It replaces * by the column names.
//
// The statements use the PostgreSQL dialect. For SQLite, the generator removes the last line if it locks
// rows, and replaces casts to UUID.
package queries

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"time"
)

//go:generate go run ./generate

// NullTime is a time in microseconds since 1970. The zero time is stored as NULL.
type NullTime time.Time

// Scan implements [sql.Scanner].
func (t *NullTime) Scan(value any) error {
	var number sql.NullInt64
	if err := number.Scan(value); err != nil {
		return err
	}
	*t = NullTime{}
	if number.Valid {
		*t = NullTime(time.UnixMicro(number.Int64).UTC())
	}
	return nil
}

// Value implements [driver.Valuer].
func (t NullTime) Value() (driver.Value, error) {
	if time.Time(t).IsZero() {
		return nil, nil
	}
	return time.Time(t).UnixMicro(), nil
}

// NullText is a text or a UUID. The empty text is stored as NULL.
type NullText string

// Scan implements [sql.Scanner].
func (t *NullText) Scan(value any) error {
	var text sql.NullString
	err := text.Scan(value)
	*t = NullText(text.String)
	return err
}

// Value implements [driver.Valuer].
func (t NullText) Value() (driver.Value, error) {
	if t == "" {
		return nil, nil
	}
	return string(t), nil
}

// NullNumber is an id or a count. Zero is stored as NULL.
type NullNumber int64

// Scan implements [sql.Scanner].
func (n *NullNumber) Scan(value any) error {
	var number sql.NullInt64
	err := number.Scan(value)
	*n = NullNumber(number.Int64)
	return err
}

// Value implements [driver.Valuer].
func (n NullNumber) Value() (driver.Value, error) {
	if n == 0 {
		return nil, nil
	}
	return int64(n), nil
}

// JSON is a JSON document. An empty one is stored as NULL.
type JSON json.RawMessage

// Scan implements [sql.Scanner].
func (j *JSON) Scan(value any) error {
	var text sql.NullString
	err := text.Scan(value)
	*j = nil
	if text.Valid {
		*j = JSON(text.String)
	}
	return err
}

// Value implements [driver.Valuer].
func (j JSON) Value() (driver.Value, error) {
	if len(j) == 0 {
		return nil, nil
	}
	return string(j), nil
}

// UnmarshalJSON implements [json.Unmarshaler]: it keeps the document.
func (j *JSON) UnmarshalJSON(document []byte) error {
	return (*json.RawMessage)(j).UnmarshalJSON(document)
}

// Texts are a JSON array of texts.
type Texts []string

// Scan implements [sql.Scanner].
func (t *Texts) Scan(value any) error {
	var document JSON
	if err := document.Scan(value); err != nil {
		return err
	}
	return json.Unmarshal(document, (*[]string)(t))
}

// Value implements [driver.Valuer].
func (t Texts) Value() (driver.Value, error) {
	document, err := json.Marshal(append([]string{}, t...))
	return string(document), err
}
