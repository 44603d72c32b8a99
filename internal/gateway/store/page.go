package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The sizes of a page.
const (
	DefaultPage = 50
	MaxPage     = 200
)

// ErrCursor means that a cursor is not one of the store.
var ErrCursor = errors.New("invalid cursor: use the one of the page before it")

// Page selects a part of a list.
type Page struct {
	// Size is the largest number of rows, 1 to [MaxPage]. If zero, [DefaultPage] is used; more is reduced to
	// MaxPage.
	Size int
	// After is the cursor of the page before it, and empty for the first page.
	After string
}

// List is a page of a list.
type List[T any] struct {
	Items []T
	// Next is the cursor of the next page. It is empty if there is none.
	Next string
}

// Cursor is the position of a row in a list.
type Cursor struct {
	CreatedAt time.Time
	ID        string
}

func numberedCursor(created time.Time, id int64) Cursor {
	return Cursor{created, strconv.FormatInt(id, 10)}
}

func (c Cursor) encode() (string, error) {
	text, err := json.Marshal([2]any{c.CreatedAt.UnixMicro(), c.ID})
	return base64.RawURLEncoding.EncodeToString(text), err
}

func decodeCursor(text string) (c Cursor, err error) {
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return c, ErrCursor
	}
	var created int64
	parts := []any{&created, &c.ID}
	if err := json.Unmarshal(decoded, &parts); err != nil || len(parts) != 2 {
		return c, ErrCursor
	}
	c.CreatedAt = time.UnixMicro(created).UTC()
	return c, nil
}

// condition is a part of a WHERE clause: SQL and the value after it. A nil value is not written.
type condition struct {
	sql   string
	value any
}

type where []condition

// list returns a page of rows in the order of their creation, newest first. The ids of a table are numbers or
// UUIDs.
func list[T any](ctx context.Context, s *Store, page Page, scan func(func(...any) error) (T, error),
	position func(T) Cursor,
	statement string, conditions where,
) (found List[T], err error) {
	size := page.Size
	switch {
	case size < 0:
		return found, fmt.Errorf("page size %d: must not be negative", size)
	case size == 0:
		size = DefaultPage
	case size > MaxPage:
		size = MaxPage
	}
	var parts []string
	var arguments []any
	for _, c := range conditions {
		part := c.sql
		if c.value != nil {
			arguments = append(arguments, c.value)
			part += "$" + strconv.Itoa(len(arguments))
		}
		parts = append(parts, part)
	}
	if page.After != "" {
		cursor, err := decodeCursor(page.After)
		if err != nil {
			return found, err
		}
		var id any = cursor.ID
		if number, err := strconv.ParseInt(cursor.ID, 10, 64); err == nil {
			id = number
		} else if checkID("row", cursor.ID) != nil {
			return found, ErrCursor
		}
		arguments = append(arguments, cursor.CreatedAt.UnixMicro(), id)
		parts = append(parts, fmt.Sprintf("(created_at, id) < ($%d, $%d)", len(arguments)-1, len(arguments)))
	}
	if len(parts) > 0 {
		statement += " WHERE " + strings.Join(parts, " AND ")
	}
	// One row more than the page shows whether there is a next one.
	statement += fmt.Sprintf(" ORDER BY created_at DESC, id DESC LIMIT %d", size+1)
	rows, err := many(ctx, s.reader, scan, statement, arguments...)
	if err != nil {
		return found, err
	}
	if len(rows) > size {
		rows = rows[:size]
		if found.Next, err = position(rows[size-1]).encode(); err != nil {
			return found, err
		}
	}
	found.Items = rows
	return found, nil
}
