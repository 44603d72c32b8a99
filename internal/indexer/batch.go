package indexer

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/jsonview"
)

// batch is written in a single database transaction.
type batch struct {
	// from is the first slot to delete, with all later slots; nil for none.
	from *uint64
	// slots are added.
	slots []readSlot
	// verified lists the stored slots that became final since the previous poll.
	verified []uint64
	accounts []accountState
	// backlogRead is set if the slots were in the backlog.
	backlogRead bool
	// next is the first listed slot not in this batch. The checkpoint stays before it.
	next uint64
	// limit is the checkpoint's maximum.
	limit uint64
}

// accountState is a negotiation's account as the node returned it.
type accountState struct {
	address solana.PublicKey
	account
	final bool
}

// life is one of the successive negotiations at an address.
type life struct {
	address string
	number  int64
}

// apply writes the batch and the progress in one transaction, and sets p to the written progress.
func (b *batch) apply(ctx context.Context, database *Database, p *progress) error {
	next := *p
	err := database.write(ctx, func(s statements) error {
		if err := p.lock(ctx, s); err != nil {
			return err
		}
		touched := make(map[life]bool)
		if err := b.deleteFrom(ctx, s, touched); err != nil {
			return err
		}
		if err := b.insert(ctx, s, touched); err != nil {
			return err
		}
		for _, slot := range b.verified {
			if _, err := s.exec(ctx, `UPDATE slots SET final = $1 WHERE slot = $2`, true, int64(slot)); err != nil {
				return err
			}
		}
		for at := range touched {
			if err := writeOutcome(ctx, s, at); err != nil {
				return err
			}
		}
		if err := b.storeMints(ctx, s); err != nil {
			return err
		}
		for _, item := range b.accounts {
			if err := item.store(ctx, s); err != nil {
				return err
			}
		}
		if b.backlogRead && len(b.slots) > 0 {
			if _, err := s.exec(ctx, `DELETE FROM backlog WHERE slot <= $1`, int64(b.slots[len(b.slots)-1].slot)); err != nil {
				return err
			}
		}
		var err error
		if next.checkpoint, err = b.checkpoint(ctx, s, p.checkpoint); err != nil {
			return err
		}
		if next.backlog != nil && next.backlog.listed && next.checkpoint >= next.backlog.upTo {
			next.backlog = nil
		}
		return next.store(ctx, s)
	})
	if err != nil {
		return err
	}
	next.revision++
	*p = next
	return nil
}

// checkpoint returns the slot through which everything is indexed and final.
func (b *batch) checkpoint(ctx context.Context, s statements, before uint64) (uint64, error) {
	var unconfirmed uint64
	err := s.row(ctx, `SELECT COALESCE(MIN(slot), $1) FROM slots WHERE slot > $2 AND final = $3`, int64(noSlot),
		int64(before), false).Scan(&unconfirmed)
	if err != nil {
		return 0, err
	}
	end := min(b.limit, unconfirmed-1)
	if b.next > 0 {
		end = min(end, b.next-1)
	}
	return max(before, end), nil
}

func (b *batch) deleteFrom(ctx context.Context, s statements, touched map[life]bool) error {
	if b.from == nil {
		return nil
	}
	from := int64(*b.from)
	changed, err := all(ctx, s, func(at *life, scan scanner) error { return scan(&at.address, &at.number) },
		`SELECT DISTINCT negotiation, life FROM events WHERE slot >= $1 AND negotiation IS NOT NULL`, from)
	if err != nil {
		return err
	}
	for _, at := range changed {
		touched[at] = true
	}
	for _, table := range []string{"events", "transactions", "slots"} {
		if _, err := s.exec(ctx, `DELETE FROM `+table+` WHERE slot >= $1`, from); err != nil {
			return err
		}
	}
	// A state read at such a slot can belong to a fork, unless the slot was final.
	_, err = s.exec(ctx, `UPDATE accounts SET state = NULL, as_of_slot = NULL WHERE as_of_slot >= $1 AND NOT (final AND as_of_slot = checked_slot)`, from)
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, `UPDATE accounts SET final = $1 WHERE checked_slot >= $2`, false, from)
	return err
}

func (b *batch) insert(ctx context.Context, s statements, touched map[life]bool) error {
	lives := make(map[string]int64)
	for _, read := range b.slots {
		_, err := s.exec(ctx, `INSERT INTO slots (slot, blockhash, parent_slot, block_time, final) VALUES ($1, $2, $3, $4, $5)`,
			int64(read.slot), read.block.hash, int64(read.block.parent), read.block.time, read.final)
		if err != nil {
			return err
		}
		now, hasClock := read.clock()
		for position := range read.transactions {
			transaction := &read.transactions[position]
			if transaction.calls != nil && hasClock {
				if err := transaction.rebuild(ctx, s, now, b.accounts); err != nil {
					return err
				}
			}
			_, err := s.exec(ctx, `INSERT INTO transactions (signature, slot, position, flaw, logs) VALUES ($1, $2, $3, $4, $5)`,
				transaction.signature, int64(read.slot), position, textOrNull(transaction.logStatus), textOrNull(transaction.logs))
			if err != nil {
				return err
			}
			for i, event := range transaction.events {
				var address, number any
				if event.negotiation != nil {
					at := life{address: event.negotiation.String()}
					if at.number, err = nextLife(ctx, s, lives, at.address, event.begins); err != nil {
						return err
					}
					touched[at] = true
					address, number = at.address, at.number
				}
				_, err := s.exec(ctx, `INSERT INTO events (slot, position, event_index, instruction_index, signature, name, negotiation, life,
					timestamp, fields, data, rebuilt, metadata) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
					int64(read.slot), position, i, event.instruction, transaction.signature, event.name, address, number,
					event.timestamp, event.fields, event.data, event.rebuilt, event.metadata)
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// nextLife returns the number of an event's negotiation among the negotiations at the same address.
func nextLife(ctx context.Context, s statements, lives map[string]int64, address string, begins bool) (int64, error) {
	number, is := lives[address]
	if !is {
		err := s.row(ctx, `SELECT COALESCE(MAX(life), 0) FROM events WHERE negotiation = $1`, address).Scan(&number)
		if err != nil {
			return 0, err
		}
	}
	if begins {
		number++
	}
	lives[address] = number
	return number, nil
}

// writeOutcome replaces a negotiation's row by a row computed from the events. If there are no events it
// deletes the row.
func writeOutcome(ctx context.Context, s statements, at life) error {
	events, err := pastEvents(ctx, s, at.address, &at.number)
	if err != nil {
		return err
	}
	if _, err := s.exec(ctx, `DELETE FROM negotiations WHERE negotiation = $1 AND life = $2`, at.address, at.number); err != nil {
		return err
	}
	if len(events) == 0 {
		_, err := s.exec(ctx, `DELETE FROM accounts WHERE negotiation = $1 AND life = $2`, at.address, at.number)
		return err
	}
	result, err := outcomeOf(events)
	if err != nil {
		return err
	}
	columns, err := result.columns()
	if err != nil {
		return err
	}
	names, marks, values := []string{"negotiation", "life"}, []string{"$1", "$2"}, []any{at.address, at.number}
	for _, column := range columns {
		names, values = append(names, column.name), append(values, column.value)
		marks = append(marks, "$"+strconv.Itoa(len(values)))
	}
	_, err = s.exec(ctx, `INSERT INTO negotiations (`+strings.Join(names, ", ")+`) VALUES (`+strings.Join(marks, ", ")+`)`, values...)
	return err
}

// store writes an account to the newest negotiation with these terms at the address that was not closed
// before the account was read.
func (l *accountState) store(ctx context.Context, s statements) error {
	address := l.address.String()
	type candidate struct {
		number  int64
		closed  *uint64
		created *int64
		escrow  *string
	}
	candidates, err := all(ctx, s, func(found *candidate, scan scanner) error {
		return scan(&found.number, &found.closed, &found.created, &found.escrow)
	}, `SELECT life, closed_slot, created_at, CAST(escrow_amount AS TEXT) FROM negotiations WHERE negotiation = $1 ORDER BY life DESC`, address)
	if err != nil {
		return err
	}
	current := slices.IndexFunc(candidates, func(found candidate) bool {
		return l.state != nil && (found.closed == nil || *found.closed > l.slot) &&
			(found.created == nil || *found.created == l.state.CreatedAt) &&
			(found.escrow == nil || *found.escrow == decimal(&l.state.EscrowAmount))
	})
	for i, found := range candidates {
		if i == current {
			err = l.storePresent(ctx, s, address, found.number)
		} else {
			err = l.storeGone(ctx, s, address, found.number, found.closed)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *accountState) storePresent(ctx context.Context, s statements, address string, number int64) error {
	object, err := json.Marshal(jsonview.Of(l.state))
	if err != nil {
		return err
	}
	_, err = s.exec(ctx, `INSERT INTO accounts (negotiation, life, state, as_of_slot, checked_slot, present, final) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (negotiation, life) DO UPDATE SET state = excluded.state, as_of_slot = excluded.as_of_slot,
		checked_slot = excluded.checked_slot, present = excluded.present, final = excluded.final`,
		address, number, string(object), int64(l.slot), int64(l.slot), true, l.final)
	return err
}

// storeGone keeps the last known state, unless it was read after the negotiation was closed: then it belongs
// to a later negotiation.
func (l *accountState) storeGone(
	ctx context.Context, s statements, address string, number int64, closed *uint64,
) error {
	_, err := s.exec(ctx, `INSERT INTO accounts (negotiation, life, checked_slot, present, final) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (negotiation, life) DO UPDATE SET checked_slot = excluded.checked_slot, present = excluded.present, final = excluded.final
		WHERE NOT (accounts.final AND NOT accounts.present)`,
		address, number, int64(l.slot), false, l.final)
	if err != nil || closed == nil {
		return err
	}
	_, err = s.exec(ctx, `UPDATE accounts SET state = NULL, as_of_slot = NULL WHERE negotiation = $1 AND life = $2 AND as_of_slot >= $3`,
		address, number, closed)
	return err
}

// negotiationsOf returns the addresses of the negotiations in slots, each once.
func negotiationsOf(slots []readSlot) []solana.PublicKey {
	found := make(map[solana.PublicKey]bool)
	for _, read := range slots {
		for _, transaction := range read.transactions {
			for _, event := range transaction.events {
				if event.negotiation != nil {
					found[*event.negotiation] = true
				}
			}
		}
	}
	return slices.Collect(maps.Keys(found))
}

// addressesIn returns the addresses that a query returns, each once.
func addressesIn(ctx context.Context, s statements, query string, arguments ...any) ([]solana.PublicKey, error) {
	var addresses []solana.PublicKey
	err := s.each(ctx, func(scan scanner) error {
		var text string
		if err := scan(&text); err != nil {
			return err
		}
		address, err := solana.PublicKeyFromBase58(text)
		if err == nil && !slices.Contains(addresses, address) {
			addresses = append(addresses, address)
		}
		return err
	}, query, arguments...)
	return addresses, err
}

func textOrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// noSlot is a slot that no chain reaches.
const noSlot = uint64(math.MaxInt64)
