package indexer

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// kind is an exported column's type.
type kind int

const (
	text kind = iota
	// integer has 63 bits and a sign.
	integer
	// unsigned has 64 bits without sign.
	unsigned
	// amount has 64 bits without sign, and is in base units of the row's mint.
	amount
	// total is a sum of amounts.
	total
	flag
	object
	// decimalText is an exact decimal number as text.
	decimalText
	// moment is a time.
	moment
)

type exportedColumn struct {
	name string
	kind kind
}

// Table is a table for export.
type Table struct {
	// Name is the view or table name in the database.
	Name    string
	columns []exportedColumn
	order   string
}

// Tables lists the tables for export.
var Tables = []Table{
	{Name: "offers", order: "slot, position, event_index", columns: []exportedColumn{
		{"slot", integer}, {"position", integer}, {"event_index", integer}, {"signature", text}, {"timestamp", integer},
		{"negotiation", text}, {"life", integer}, {"mint", text}, {"buyer", text}, {"seller", text},
		{"round", integer}, {"side", text}, {"offerer", text}, {"amount", amount}, {"effective_escrow", amount}, {"accepted", flag},
		{"metadata", text},
	}},
	{Name: "evidence", order: "slot, position, event_index", columns: []exportedColumn{
		{"slot", integer}, {"position", integer}, {"event_index", integer}, {"signature", text}, {"timestamp", integer},
		{"negotiation", text}, {"life", integer}, {"mint", text}, {"buyer", text}, {"seller", text},
		{"milestone", integer}, {"side", text}, {"evidence", text},
	}},
	{Name: "outcomes", order: "COALESCE(created_slot, 0), negotiation, life", columns: []exportedColumn{
		{"negotiation", text}, {"life", integer}, {"session_id", unsigned}, {"buyer", text}, {"seller", text}, {"mint", text},
		{"service_hash", text}, {"status", text}, {"rounds", integer}, {"max_rounds", integer}, {"escrow_amount", amount},
		{"settled_amount", amount}, {"net_amount", amount}, {"fee", amount}, {"decay", amount}, {"refund", amount},
		{"accepted_by", text}, {"bond_required", amount}, {"bond_state", text}, {"bond_to_buyer", amount}, {"bond_to_seller", amount},
		{"milestone_count", integer}, {"review_hours", integer}, {"swept", amount},
		{"created_at", integer}, {"ended_at", integer}, {"duration_seconds", integer}, {"closed_at", integer},
		{"created_slot", integer}, {"ended_slot", integer}, {"closed_slot", integer}, {"complete", flag},
		{"buyer_price", amount}, {"seller_price", amount}, {"nash_price", amount},
	}},
	{Name: "events", order: "slot, position, event_index", columns: []exportedColumn{
		{"slot", integer}, {"position", integer}, {"event_index", integer}, {"instruction_index", integer}, {"signature", text},
		{"name", text}, {"negotiation", text}, {"life", integer}, {"timestamp", integer}, {"fields", object},
		{"rebuilt", flag},
	}},
	{Name: "declarations", order: "agent, declared_at", columns: []exportedColumn{
		{"agent", text}, {"declared_at", integer}, {"strategy", text}, {"model", text}, {"prompt_hash", text},
		{"signature", text}, {"received_at", integer},
	}},
	{Name: "declared", order: "negotiation, life, side", columns: []exportedColumn{
		{"negotiation", text}, {"life", integer}, {"side", text}, {"agent", text}, {"strategy", text},
		{"model", text}, {"prompt_hash", text}, {"declared_at", integer}, {"received_at", integer}, {"late", flag},
	}},
	{Name: "totals", order: "t.mint", columns: []exportedColumn{
		{"mint", text}, {"negotiations", integer}, {"open", integer}, {"in_milestones", integer}, {"settled", integer},
		{"rejected", integer}, {"expired", integer}, {"closed", integer}, {"incomplete", integer}, {"offers", integer},
		{"escrowed", total}, {"settled_amount", total}, {"net_amount", total}, {"fees", total}, {"decay", total}, {"refunds", total},
	}},
}

// TableNamed returns the table with that name; false if it does not exist.
func TableNamed(name string) (Table, bool) {
	for _, table := range Tables {
		if table.Name == name {
			return table, true
		}
	}
	return Table{}, false
}

// rows calls act with the values of the exported columns for every row, in table order. A value is nil,
// string, int64, uint64, *big.Int, bool or time.Time. A JSON object is a string with fields sorted by name.
func (t Table) rows(ctx context.Context, s statements, act func(values []any) error) error {
	selected := make([]string, len(t.columns))
	for i, column := range t.columns {
		selected[i] = "t." + column.name
		if column.kind == unsigned || column.kind == amount || column.kind == total || column.kind == object {
			selected[i] = "CAST(t." + column.name + " AS TEXT)"
		}
	}
	from := t.Name + " t"
	if t.hasMint() {
		selected = append(selected, "m.decimals")
		from += " LEFT JOIN mints m ON m.mint = t.mint"
	}
	return s.each(ctx, func(scan scanner) error {
		targets := make([]any, len(t.columns))
		for i, column := range t.columns {
			switch column.kind {
			case integer:
				targets[i] = new(sql.NullInt64)
			case flag:
				targets[i] = new(sql.NullBool)
			default:
				targets[i] = new(sql.NullString)
			}
		}
		var decimals *int64
		if t.hasMint() {
			targets = append(targets, &decimals)
		}
		if err := scan(targets...); err != nil {
			return err
		}
		values := make([]any, len(t.columns))
		for i, column := range t.columns {
			value, err := column.value(targets[i])
			if err != nil {
				return fmt.Errorf("%s.%s: %w", t.Name, column.name, err)
			}
			values[i] = value
		}
		return act(t.withDerived(values, decimals))
	}, `SELECT `+strings.Join(selected, ", ")+` FROM `+from+` ORDER BY `+t.order)
}

func (c exportedColumn) value(scanned any) (any, error) {
	switch read := scanned.(type) {
	case *sql.NullInt64:
		if read.Valid {
			return read.Int64, nil
		}
	case *sql.NullBool:
		if read.Valid {
			return read.Bool, nil
		}
	case *sql.NullString:
		if read.Valid {
			return c.fromText(read.String)
		}
	}
	return nil, nil
}

func (c exportedColumn) fromText(written string) (any, error) {
	switch c.kind {
	case unsigned, amount:
		return strconv.ParseUint(written, 10, 64)
	case total:
		sum, is := new(big.Int).SetString(written, 10)
		if !is {
			return nil, fmt.Errorf("%q is not a number", written)
		}
		return sum, nil
	case object:
		return sorted(written)
	}
	return written, nil
}

// sorted returns a JSON object with fields sorted by name. PostgreSQL uses a different order.
func sorted(written string) (string, error) {
	decoder := json.NewDecoder(strings.NewReader(written))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return "", err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(fields)
	return strings.TrimSpace(text.String()), err
}
