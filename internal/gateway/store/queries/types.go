// Package queries executes the statements of its .sql files. sqlc checks them against the schema and generates
// the functions: run `go generate ./internal/gateway/store/queries`.
//
// The statements are those of PostgreSQL that SQLite executes, too. A clause that locks rows is the last line
// of its statement, which package store leaves out for SQLite.
package queries

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"time"
)

//go:generate go run ./generate

// Time is a time in microseconds since 1970. NULL is the zero time.
type Time time.Time

// Scan implements [sql.Scanner].
func (t *Time) Scan(value any) error {
	var number sql.NullInt64
	if err := number.Scan(value); err != nil {
		return err
	}
	*t = Time{}
	if number.Valid {
		*t = Time(time.UnixMicro(number.Int64).UTC())
	}
	return nil
}

// Value implements [driver.Valuer].
func (t Time) Value() (driver.Value, error) {
	if time.Time(t).IsZero() {
		return nil, nil
	}
	return time.Time(t).UnixMicro(), nil
}

// Text is a text or a UUID. NULL is empty.
type Text string

// Scan implements [sql.Scanner].
func (t *Text) Scan(value any) error {
	var text sql.NullString
	err := text.Scan(value)
	*t = Text(text.String)
	return err
}

// Value implements [driver.Valuer].
func (t Text) Value() (driver.Value, error) {
	if t == "" {
		return nil, nil
	}
	return string(t), nil
}

// Number is an id or a count. NULL is zero.
type Number int64

// Scan implements [sql.Scanner].
func (n *Number) Scan(value any) error {
	var number sql.NullInt64
	err := number.Scan(value)
	*n = Number(number.Int64)
	return err
}

// Value implements [driver.Valuer].
func (n Number) Value() (driver.Value, error) {
	if n == 0 {
		return nil, nil
	}
	return int64(n), nil
}

// JSON is a JSON document. NULL is nil.
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
