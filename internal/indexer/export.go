package indexer

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"reflect"
	"strconv"
	"time"

	"github.com/google/renameio/v2"
	"github.com/parquet-go/parquet-go"
)

// Format is an export format.
type Format string

// The formats. CSV begins with a line of names; a missing value is empty, numbers have all digits, and times
// are ISO 8601 in UTC. Parquet has amounts as UINT_64, sums of amounts as DECIMAL(38, 0), tokens as exact
// decimal text (each mint has other decimals), times as TIMESTAMP in UTC, and null for a missing value.
const (
	CSV     Format = "csv"
	Parquet Format = "parquet"
)

// rowWriter writes table rows.
type rowWriter interface {
	write(values []any) error
	// finish writes the end of the file.
	finish() error
}

// Export writes a snapshot of a table and returns the number of rows.
func (d *Database) Export(ctx context.Context, table Table, format Format, out io.Writer) (int64, error) {
	writer, err := newRowWriter(table, format, out)
	if err != nil {
		return 0, err
	}
	count := int64(0)
	err = d.read(ctx, func(s statements) error {
		return table.rows(ctx, s, func(values []any) error {
			count++
			return writer.write(values)
		})
	})
	if err != nil {
		return 0, err
	}
	return count, writer.finish()
}

// ExportFile writes a table to a file. It replaces an existing file only once the table is written
// completely.
func (d *Database) ExportFile(ctx context.Context, table Table, format Format, path string) (count int64, err error) {
	file, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(0o644))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Cleanup()) }()
	buffered := bufio.NewWriter(file)
	if count, err = d.Export(ctx, table, format, buffered); err != nil {
		return 0, err
	}
	if err = buffered.Flush(); err != nil {
		return 0, err
	}
	return count, file.CloseAtomicallyReplace()
}

func newRowWriter(table Table, format Format, out io.Writer) (rowWriter, error) {
	switch format {
	case CSV:
		return newCSVWriter(table, out)
	case Parquet:
		return newParquetWriter(table, out), nil
	}
	return nil, fmt.Errorf("format %q: use %q or %q", format, CSV, Parquet)
}

type csvWriter struct{ out *csv.Writer }

func newCSVWriter(table Table, out io.Writer) (*csvWriter, error) {
	columns := table.exported()
	names := make([]string, len(columns))
	for i, column := range columns {
		names[i] = column.name
	}
	writer := &csvWriter{csv.NewWriter(out)}
	return writer, writer.out.Write(names)
}

func (w *csvWriter) write(values []any) error {
	record := make([]string, len(values))
	for i, value := range values {
		switch typed := value.(type) {
		case string:
			record[i] = typed
		case int64:
			record[i] = strconv.FormatInt(typed, 10)
		case uint64:
			record[i] = strconv.FormatUint(typed, 10)
		case bool:
			record[i] = strconv.FormatBool(typed)
		case *big.Int:
			record[i] = typed.String()
		case time.Time:
			record[i] = typed.Format(time.RFC3339)
		}
	}
	return w.out.Write(record)
}

func (w *csvWriter) finish() error {
	w.out.Flush()
	return w.out.Error()
}

// parquetWriter writes rows of a struct type with the table's columns in order.
type parquetWriter struct {
	out *parquet.GenericWriter[any]
	row reflect.Type
}

// decimalBytes is the length of 38-digit numbers in Parquet.
const decimalBytes = 16

func newParquetWriter(table Table, out io.Writer) *parquetWriter {
	types := map[kind]reflect.Type{
		text: reflect.TypeFor[*string](), integer: reflect.TypeFor[*int64](), unsigned: reflect.TypeFor[*uint64](), amount: reflect.TypeFor[*uint64](),
		total: reflect.TypeFor[*[decimalBytes]byte](), flag: reflect.TypeFor[*bool](), object: reflect.TypeFor[*string](),
		decimalText: reflect.TypeFor[*string](), moment: reflect.TypeFor[*time.Time](),
	}
	options := map[kind]string{total: ",decimal(0:38)", object: ",json", moment: ",timestamp(millisecond)"}
	columns := table.exported()
	fields := make([]reflect.StructField, len(columns))
	for i, column := range columns {
		fields[i] = reflect.StructField{
			Name: "Column" + strconv.Itoa(i), Type: types[column.kind],
			Tag: reflect.StructTag(fmt.Sprintf(`parquet:"%s,optional%s"`, column.name, options[column.kind])),
		}
	}
	row := reflect.StructOf(fields)
	schema := parquet.NewSchema(table.Name, parquet.SchemaOf(reflect.New(row).Elem().Interface()))
	return &parquetWriter{parquet.NewGenericWriter[any](out, schema, parquet.Compression(&parquet.Zstd)), row}
}

func (w *parquetWriter) write(values []any) error {
	row := reflect.New(w.row).Elem()
	for i, value := range values {
		if sum, is := value.(*big.Int); is {
			encoded, err := encodeDecimal(sum)
			if err != nil {
				return err
			}
			value = encoded
		}
		if value == nil {
			continue
		}
		content := reflect.New(reflect.TypeOf(value))
		content.Elem().Set(reflect.ValueOf(value))
		row.Field(i).Set(content)
	}
	_, err := w.out.Write([]any{row.Interface()})
	return err
}

func (w *parquetWriter) finish() error { return w.out.Close() }

// encodeDecimal encodes a non-negative number, highest byte first.
func encodeDecimal(value *big.Int) ([decimalBytes]byte, error) {
	var encoded [decimalBytes]byte
	if value.Sign() < 0 || value.BitLen() >= 8*decimalBytes {
		return encoded, fmt.Errorf("%s does not fit into 38 digits", value)
	}
	value.FillBytes(encoded[:])
	return encoded, nil
}
