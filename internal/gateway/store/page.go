package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Page sizes.
const (
	DefaultPage = 50
	MaxPage     = 200
)

// ErrCursor means that the cursor is invalid.
var ErrCursor = errors.New("invalid cursor: use the one of the page before it")

// ErrPageSize means that the page size is not from 1 to [MaxPage]. The text names the parameter in REST and
// MCP.
var ErrPageSize = errors.New("limit")

// Page selects a part of a list.
type Page struct {
	// Size limits the number of rows, 1 to [MaxPage]. If zero, [DefaultPage] is used.
	Size int
	// After is the previous page's cursor; empty for the first page.
	After string
}

// List is a list page, newest first.
type List[T any] struct {
	Items []T `json:"items"`
	// Next is the cursor for the next page; empty on the last page.
	Next string `json:"next_cursor,omitempty"`
}

// Cursor is a row's position in a list.
type Cursor struct {
	CreatedAt time.Time
	ID        string
}

func numberedCursor(created time.Time, id int64) Cursor {
	return Cursor{created, strconv.FormatInt(id, 10)}
}

// The cursor patterns: microseconds since 1970, and the row id. API descriptions contain them, because every
// matching cursor is accepted.
const (
	NumberedCursorPattern = `^[0-9]{1,16}_[1-9][0-9]{0,17}$`
	UUIDCursorPattern     = `^[0-9]{1,16}_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`
)

var (
	numberedCursors = regexp.MustCompile(NumberedCursorPattern)
	uuidCursors     = regexp.MustCompile(UUIDCursorPattern)
)

func (c Cursor) encode() string { return fmt.Sprintf("%d_%s", c.CreatedAt.UnixMicro(), c.ID) }

// decodeCursor returns the time and id in a cursor.
func decodeCursor(text string, numbered bool) (created int64, id any, err error) {
	pattern := uuidCursors
	if numbered {
		pattern = numberedCursors
	}
	if !pattern.MatchString(text) {
		return 0, nil, ErrCursor
	}
	micros, name, _ := strings.Cut(text, "_")
	if created, err = strconv.ParseInt(micros, 10, 64); err != nil || !numbered {
		return created, name, err
	}
	number, err := strconv.ParseInt(name, 10, 64)
	return created, number, err
}

// condition is part of a WHERE clause: SQL, then the value. A nil value is not written.
type condition struct {
	sql   string
	value any
}

type where []condition

// list returns a page of table rows, newest first by creation time. The table's ids are numbers or UUIDs.
func list[R, T any](ctx context.Context, s *Store, page Page, of func(R) T, position func(T) Cursor,
	table string, conditions where,
) (found List[T], err error) {
	size := cmp.Or(page.Size, DefaultPage)
	if size < 1 || size > MaxPage {
		return found, fmt.Errorf("%w: %d is not from 1 to %d", ErrPageSize, size, MaxPage)
	}
	statement := "SELECT " + columnsOf[R](table) + " FROM " + table
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
		var first T
		created, id, err := decodeCursor(page.After, position(first).ID == "0")
		if err != nil {
			return found, err
		}
		arguments = append(arguments, created, id)
		parts = append(parts, fmt.Sprintf("(created_at, id) < ($%d, $%d)", len(arguments)-1, len(arguments)))
	}
	if len(parts) > 0 {
		statement += " WHERE " + strings.Join(parts, " AND ")
	}
	// A row beyond the page shows whether a next page exists.
	statement += fmt.Sprintf(" ORDER BY created_at DESC, id DESC LIMIT %d", size+1)
	rows, err := several(of)(collect[R](ctx, s.read, statement, arguments...))
	if err != nil {
		return found, err
	}
	if len(rows) > size {
		rows = rows[:size]
		found.Next = position(rows[size-1]).encode()
	}
	found.Items = rows
	return found, nil
}
