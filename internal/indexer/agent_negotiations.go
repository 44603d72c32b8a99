package indexer

import (
	"context"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// AgentNegotiation is an agent's negotiation.
type AgentNegotiation struct {
	// Address is the negotiation's address. It can be reused by a later negotiation.
	Address string
	// IsBuyer reports whether the agent is the buyer; otherwise the agent is the seller.
	IsBuyer bool
	// Status is taken from the view outcomes.
	Status string
	// Events holds the known events in order. Complete is false if events are missing.
	Events   []EventWithMetadata
	Complete bool
}

// EventWithMetadata is an event. Metadata belongs to a submitted or accepted offer; nil for other events, and
// if unknown.
type EventWithMetadata struct {
	Event    protocol.Event
	Metadata *[64]byte
}

// AgentNegotiations returns the negotiations with an agent as buyer or seller, oldest first. It omits
// negotiations with an unknown creation, because their parties are unknown.
func (d *Database) AgentNegotiations(ctx context.Context, agent string) (found []AgentNegotiation, err error) {
	err = d.read(ctx, func(s statements) error {
		var last life
		return s.each(ctx, func(scan scanner) error {
			var at life
			next := AgentNegotiation{}
			var data, metadata []byte
			err := scan(&at.address, &at.number, &next.IsBuyer, &next.Status, &next.Complete, &data, &metadata)
			if err != nil {
				return err
			}
			if len(found) == 0 || at != last {
				next.Address, last = at.address, at
				found = append(found, next)
			}
			if data == nil {
				return nil
			}
			item := EventWithMetadata{}
			if len(metadata) == len(item.Metadata) {
				item.Metadata = (*[64]byte)(metadata)
			}
			item.Event, err = protocol.DecodeEvent(data)
			current := &found[len(found)-1]
			current.Events = append(current.Events, item)
			return err
		}, `SELECT o.negotiation, o.life, COALESCE(o.buyer = $1, $2), o.status, o.complete, e.data, e.metadata
			FROM outcomes o JOIN events e ON e.negotiation = o.negotiation AND e.life = o.life
			WHERE o.buyer = $1 OR o.seller = $1
			ORDER BY COALESCE(o.created_slot, 0), o.negotiation, o.life, e.slot, e.position, e.event_index`, agent, false)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.Name, err)
	}
	return found, nil
}
