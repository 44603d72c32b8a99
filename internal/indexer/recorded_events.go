package indexer

import (
	"context"
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ErrUnknownNegotiation means that the database has no event of the negotiation.
var ErrUnknownNegotiation = errors.New("the database has no event of this negotiation")

// Events returns the events of the latest negotiation at an address, in their order. Complete is false if
// events are missing. It returns [ErrUnknownNegotiation] if there are none.
func (d *Database) Events(
	ctx context.Context, negotiation string,
) (events []protocol.Event, complete bool, err error) {
	complete = true
	err = d.read(ctx, func(s statements) error {
		return s.each(ctx, func(scan func(...any) error) error {
			var data []byte
			if err := scan(&data); err != nil {
				return err
			}
			if data == nil {
				complete = false
				return nil
			}
			event, err := protocol.DecodeEvent(data)
			if err != nil {
				return err
			}
			events = append(events, event)
			return nil
		}, `SELECT data FROM events WHERE negotiation = $1
			AND life = (SELECT MAX(life) FROM events WHERE negotiation = $1)
			ORDER BY slot, position, event_index`, negotiation)
	})
	if err == nil && len(events) == 0 {
		err = fmt.Errorf("%s: %w", d.Name, ErrUnknownNegotiation)
	}
	return events, complete, err
}
