package indexer

import (
	"math/big"
	"slices"
	"time"
)

// derivedColumn is a column for people, calculated from another column.
type derivedColumn struct {
	exportedColumn
	// source is the index of the source column.
	source int
}

// times maps columns with times, in Unix seconds, to the derived columns.
var times = map[string]string{
	"timestamp": "time", "created_at": "created_time", "ended_at": "ended_time", "closed_at": "closed_time",
	"declared_at": "declared_time", "received_at": "received_time",
}

// hasMint reports whether the rows contain amounts in a mint's base units.
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

// exported returns all columns in row order: the table's columns, the mint's decimals, and the derived
// columns.
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

// withDerived appends the derived values to the table's values. If the mint's decimals are unknown, tokens
// are omitted.
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

// derive converts an amount to tokens, or Unix seconds to a time. It returns nil if the value is unknown.
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
