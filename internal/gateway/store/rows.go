package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// named returns [ErrNotFound] or [ErrExists] with the name of the object, or the classified error.
func named(name string, err error) error {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%s: %w", name, ErrNotFound)
	case isDuplicate(err):
		return fmt.Errorf("%s: %w", name, ErrExists)
	}
	return classify(err)
}

// classified is classify for a number of changed rows.
func classified(rows int64, err error) (int64, error) { return rows, classify(err) }

// single returns a function that converts a row to an object, and names it in the error.
func single[R, T any](name string, of func(R) T) func(R, error) (T, error) {
	return func(row R, err error) (T, error) {
		if err != nil {
			var none T
			return none, named(name, err)
		}
		return of(row), nil
	}
}

// several returns a function that converts rows to objects. The list is never nil, so that an empty list is
// [] in JSON.
func several[R, T any](of func(R) T) func([]R, error) ([]T, error) {
	return func(rows []R, err error) ([]T, error) {
		if err != nil {
			return nil, classify(err)
		}
		found := make([]T, 0, len(rows))
		for _, row := range rows {
			found = append(found, of(row))
		}
		return found, nil
	}
}

// columnsOf returns a row's column names. Statements list them, because a later haggle can add columns while
// this process runs.
func columnsOf[R any](table string) string {
	var names []string
	for field := range reflect.TypeFor[R]().Fields() {
		names = append(names, table+"."+field.Tag.Get("db"))
	}
	return strings.Join(names, ", ")
}

// collect returns the rows of a statement composed here, because the text depends on arguments. The columns
// are in the order of R's fields.
func collect[R any](ctx context.Context, on statements, statement string, arguments ...any) (found []R, err error) {
	err = on.each(ctx, func(scan scan) error {
		var row R
		if err := scan(fieldsOf(&row)...); err != nil {
			return err
		}
		found = append(found, row)
		return nil
	}, statement, arguments...)
	return found, classify(err)
}

// fieldsOf returns pointers to a row's fields. The fields of an embedded struct replace it.
func fieldsOf(row any) (pointers []any) {
	value := reflect.ValueOf(row).Elem()
	for _, field := range reflect.VisibleFields(value.Type()) {
		if !field.Anonymous {
			pointers = append(pointers, value.FieldByIndex(field.Index).Addr().Interface())
		}
	}
	return pointers
}
