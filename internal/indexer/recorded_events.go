package indexer

import (
	"context"
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ErrUnknownNegotiation means that the database contains no event of the negotiation.
var ErrUnknownNegotiation = errors.New("the database has no event of this negotiation")

// Events returns the events of the latest negotiation at an address, in order. Complete is false if events
// are missing. It returns [ErrUnknownNegotiation] if there are none.
func (d *Database) Events(
	ctx context.Context, negotiation string,
) (events []protocol.Event, complete bool, err error) {
	stored, err := pastEvents(ctx, d.statements(), negotiation, nil)
	if err != nil {
		return nil, false, err
	}
	for _, item := range stored {
		if item.event != nil {
			events = append(events, item.event)
		}
	}
	if len(events) == 0 {
		return nil, false, fmt.Errorf("%s: %w", d.Name, ErrUnknownNegotiation)
	}
	return events, len(events) == len(stored), nil
}

// pastEvent is an event in the database. event is nil if the transaction could not be decoded.
type pastEvent struct {
	slot   uint64
	event  protocol.Event
	fields string
	// metadata belongs to a submitted or accepted offer; nil if unknown.
	metadata *[64]byte
}

// pastEvents returns a negotiation's events at an address, in order. If number is nil, the latest negotiation
// is used.
func pastEvents(ctx context.Context, s statements, address string, number *int64) ([]pastEvent, error) {
	return all(ctx, s, func(item *pastEvent, scan scanner) error {
		var data, metadata []byte
		err := scan(&item.slot, &item.fields, &data, &metadata)
		if len(metadata) == len(item.metadata) {
			item.metadata = (*[64]byte)(metadata)
		}
		if err == nil && data != nil {
			item.event, err = protocol.DecodeEvent(data)
		}
		return err
	}, `SELECT slot, fields, data, metadata FROM events WHERE negotiation = $1
		AND life = COALESCE($2, (SELECT MAX(life) FROM events WHERE negotiation = $1))
		ORDER BY slot, position, event_index`, address, number)
}

// RecordedNegotiation holds a negotiation's events and the parties' declarations.
type RecordedNegotiation struct {
	Events []protocol.Event
	// Complete is false if events are missing.
	Complete bool
	// Buyer and Seller are the declarations that hold for the negotiation; nil if none.
	Buyer, Seller *DeclaredParty
}

// DeclaredParty is a row of the view declared.
type DeclaredParty struct {
	Strategy, Model, PromptHash string
	// Late reports whether the database received the declaration after the negotiation's creation.
	Late bool
}

// Negotiations calls act for every negotiation in a snapshot, in no particular order. Only a single
// negotiation is in memory at any time.
func (d *Database) Negotiations(ctx context.Context, act func(*RecordedNegotiation) error) error {
	var current *RecordedNegotiation
	var address string
	var number int64
	finish := func() error {
		if current == nil {
			return nil
		}
		return act(current)
	}
	err := d.read(ctx, func(s statements) error {
		// The declarations come with the first event only.
		err := s.each(ctx, func(scan scanner) error {
			var at life
			var complete bool
			var data []byte
			var buyer, seller scannedParty
			err := scan(&at.address, &at.number, &complete, &data,
				&buyer.strategy, &buyer.model, &buyer.prompt, &buyer.late,
				&seller.strategy, &seller.model, &seller.prompt, &seller.late)
			if err != nil {
				return err
			}
			if current == nil || at.address != address || at.number != number {
				if err := finish(); err != nil {
					return err
				}
				current, address, number = &RecordedNegotiation{Complete: complete}, at.address, at.number
			}
			if buyer.strategy != nil {
				current.Buyer = buyer.party()
			}
			if seller.strategy != nil {
				current.Seller = seller.party()
			}
			if data == nil {
				return nil
			}
			event, err := protocol.DecodeEvent(data)
			current.Events = append(current.Events, event)
			return err
		}, `SELECT e.negotiation, e.life, n.complete, e.data,
				b.strategy, b.model, b.prompt_hash, b.late, s.strategy, s.model, s.prompt_hash, s.late
			FROM events e
			JOIN negotiations n ON n.negotiation = e.negotiation AND n.life = e.life
			LEFT JOIN declared b ON e.name = 'NegotiationCreated' AND b.side = 'Buyer'
				AND b.negotiation = e.negotiation AND b.life = e.life
			LEFT JOIN declared s ON e.name = 'NegotiationCreated' AND s.side = 'Seller'
				AND s.negotiation = e.negotiation AND s.life = e.life
			ORDER BY e.negotiation, e.life, e.slot, e.position, e.event_index`)
		if err != nil {
			return err
		}
		return finish()
	})
	if err != nil {
		return fmt.Errorf("%s: %w", d.Name, err)
	}
	return nil
}

// scannedParty is a row of the view declared; nil if none exists.
type scannedParty struct {
	strategy, model, prompt *string
	late                    *bool
}

func (p scannedParty) party() *DeclaredParty {
	return &DeclaredParty{Strategy: *p.strategy, Model: *p.model, PromptHash: *p.prompt, Late: *p.late}
}
