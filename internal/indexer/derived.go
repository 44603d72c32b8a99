package indexer

import (
	"math/big"
	"slices"
	"time"
)

// derivedColumn is a column for people, which is calculated from another one.
type derivedColumn struct {
	exportedColumn
	// source is the index of the column that has the value.
	source int
}

// times are the columns with times, in Unix seconds, and the derived columns.
var times = map[string]string{
	"timestamp": "time", "created_at": "created_time", "ended_at": "ended_time", "closed_at": "closed_time",
	"declared_at": "declared_time", "received_at": "received_time",
}

// hasMint reports whether the rows have amounts of a mint.
func (t Table) hasMint() bool {
	return slices.ContainsFunc(t.columns, func(column exportedColumn) bool { return column.name == "mint" })
}

// derived returns the derived columns: for each amount the tokens, for each time the time as text.
func (t Table) derived() (columns []derivedColumn) {
	for i, column := range t.columns {
		switch {
		case t.hasMint() && (column.kind == amount || column.kind == total):
			columns = append(columns, derivedColumn{exportedColumn{column.name + "_tokens", decimalText}, i})
		case times[column.name] != "":
			columns = append(columns, derivedColumn{exportedColumn{times[column.name], moment}, i})
		}
	}
	return columns
}

// exported returns all columns in the order of the values of rows: those of the table, the mint's decimals,
// and the derived ones.
func (t Table) exported() []exportedColumn {
	columns := slices.Clone(t.columns)
	if t.hasMint() {
		columns = append(columns, exportedColumn{"decimals", integer})
	}
	for _, column := range t.derived() {
		columns = append(columns, column.exportedColumn)
	}
	return columns
}

// withDerived appends the derived values to those of the table. Without the mint's decimals there are no
// tokens.
func (t Table) withDerived(values []any, decimals *int64) []any {
	if t.hasMint() {
		values = append(values, optional(decimals))
	}
	for _, column := range t.derived() {
		values = append(values, derive(values[column.source], decimals))
	}
	return values
}

func optional(number *int64) any {
	if number == nil {
		return nil
	}
	return *number
}

// derive returns tokens of an amount, the time of Unix seconds, or nil.
func derive(value any, decimals *int64) any {
	switch typed := value.(type) {
	case int64:
		return time.Unix(typed, 0).UTC()
	case uint64:
		return inTokens(new(big.Int).SetUint64(typed), decimals)
	case *big.Int:
		return inTokens(typed, decimals)
	}
	return nil
}

// inTokens writes base units as tokens, exactly and with all decimals.
func inTokens(units *big.Int, decimals *int64) any {
	if decimals == nil {
		return nil
	}
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(*decimals), nil)
	return new(big.Rat).SetFrac(units, scale).FloatString(int(*decimals))
}
