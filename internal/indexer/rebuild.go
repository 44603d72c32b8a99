package indexer

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// rebuilder computes events missing from a transaction's logs. It uses the instructions and transfers of the
// transaction and the earlier events in the database.
type rebuilder struct {
	statements
	accounts []accountState
	now      int64
	// positions holds the negotiations that the transaction acts on; nil for an unknown state.
	positions map[solana.PublicKey]*position
	// config is the program configuration's last state; nil if unknown.
	config     *protocol.ConfigUpdated
	readConfig bool
}

// rebuild replaces a transaction's events with the complete events, as far as they can be computed. An
// instruction with unknown events keeps the row LogsTruncated. accounts holds states that the indexer just
// read.
//
// Logs are truncated at their end, so the logged events come first. If they do not, rebuild changes nothing.
func (t *readTransaction) rebuild(ctx context.Context, s statements, now int64, accounts []accountState) error {
	var logged []readEvent
	for _, event := range t.events {
		if event.data != nil && !event.rebuilt {
			logged = append(logged, event)
		}
	}
	r := &rebuilder{statements: s, accounts: accounts, now: now, positions: make(map[solana.PublicKey]*position)}
	var all []readEvent
	for i := range t.calls {
		item := &t.calls[i]
		events, known, err := r.eventsOf(ctx, item, logged)
		if err != nil {
			return err
		}
		// The program cannot have logged an event that the instruction's row does not declare.
		declared := item.instruction.Effects().Events
		for _, event := range events {
			known = known && slices.Contains(declared, event.EventName())
		}
		if !known {
			if len(logged) > 0 {
				return nil // It is unknown how many of the logged events belong to this instruction.
			}
			row, err := item.placeholder()
			if err != nil {
				return err
			}
			r.forget(item)
			all = append(all, row)
			continue
		}
		for _, event := range events {
			row, err := storedEvent(event)
			if err != nil {
				return err
			}
			row.instruction, row.rebuilt = &item.outer, len(logged) == 0
			if !row.rebuilt {
				if !bytes.Equal(row.data, logged[0].data) {
					return nil
				}
				logged = logged[1:]
			}
			row.metadata = metadataOf(event, t.calls)
			all = append(all, row)
		}
	}
	if len(logged) == 0 {
		t.events = all
	}
	return nil
}

// eventsOf returns an instruction's events; false if they are unknown.
func (r *rebuilder) eventsOf(ctx context.Context, item *call, logged []readEvent) ([]protocol.Event, bool, error) {
	address := item.instruction.Effects().Negotiation
	if address.IsZero() {
		return r.configEvents(ctx, item)
	}
	if create, is := item.instruction.(*protocol.CreateNegotiation); is {
		event, known, err := r.creation(ctx, create, logged)
		if err != nil || !known {
			return nil, false, err
		}
		r.positions[address] = created(event)
		return []protocol.Event{event}, true, nil
	}
	before, err := r.position(ctx, address)
	if err != nil || before == nil {
		return nil, false, err
	}
	if !before.knowsMetadata {
		r.readMetadata(before)
	}
	events, known := eventsAfter(before, item, r.now)
	return events, known, nil
}

// forget marks the state as unknown after an instruction with unknown events.
func (r *rebuilder) forget(item *call) {
	if address := item.instruction.Effects().Negotiation; address.IsZero() {
		r.config, r.readConfig = nil, true
	} else {
		r.positions[address] = nil
	}
}

// position returns a negotiation's state before the transaction; nil if it is unknown.
func (r *rebuilder) position(ctx context.Context, address solana.PublicKey) (*position, error) {
	if known, is := r.positions[address]; is {
		return known, nil
	}
	events, err := pastEvents(ctx, r.statements, address.String(), nil)
	if err != nil {
		return nil, err
	}
	r.positions[address] = positionAfter(events)
	return r.positions[address], nil
}

// positionAfter returns the state after all events in a negotiation; nil if an event is unknown.
func positionAfter(events []pastEvent) (state *position) {
	for _, item := range events {
		creation, begins := item.event.(*protocol.NegotiationCreated)
		switch {
		case begins:
			state = created(creation)
		case item.event == nil || state == nil:
			return nil
		default:
			state.apply(item.event, item.metadata)
		}
	}
	return state
}

// account returns the negotiation state just read by the indexer, selected by creation time; nil if none was
// read.
func (r *rebuilder) account(address solana.PublicKey, createdAt int64) *protocol.Negotiation {
	for _, item := range r.accounts {
		if item.address == address && item.state != nil && item.state.CreatedAt == createdAt {
			return item.state
		}
	}
	return nil
}

// readMetadata takes the metadata from the account, where no acceptance has it. It does not change once an
// offer is accepted.
func (r *rebuilder) readMetadata(p *position) {
	if state := r.account(p.address, p.CreatedAt); p.IsAgreed() && state != nil && !state.IsOpen() {
		p.setMetadata(&state.Metadata)
	}
}

// creation returns a creation event. The fee is taken from the configuration at the time.
func (r *rebuilder) creation(ctx context.Context, i *protocol.CreateNegotiation, logged []readEvent) (*protocol.NegotiationCreated, bool, error) {
	if len(logged) > 0 && logged[0].begins && *logged[0].negotiation == i.Negotiation {
		event := new(protocol.NegotiationCreated)
		return event, true, event.Decode(logged[0].data)
	}
	event := &protocol.NegotiationCreated{
		NegotiationID: i.Negotiation, Buyer: i.Buyer, Seller: i.Seller, EscrowAmount: i.Params.EscrowAmount,
		TokenMint: i.TokenMint, MaxRounds: i.Params.MaxRounds, DecayRateBps: i.Params.DecayRateBps,
		GlobalDeadline: i.Params.GlobalDeadline, Timestamp: r.now, SessionID: i.SessionID, ServiceHash: i.Params.ServiceHash,
		ResponseWindow: i.Params.ResponseWindow, MinOfferBps: i.Params.MinOfferBps, ZopaEnabled: i.Params.ZopaEnabled,
		BondRequired: i.Params.BondRequired, Arbiter: i.Params.Arbiter, MilestoneBps: i.Params.MilestoneBps,
		MilestoneDeadline: i.Params.MilestoneDeadline, ReviewHours: i.Params.ReviewHours, Metadata: i.Params.Metadata,
	}
	config, err := r.configuration(ctx)
	state := r.account(i.Negotiation, r.now)
	switch {
	case err != nil:
		return nil, false, err
	case state != nil:
		event.ProtocolFeeBps = state.ProtocolFeeBps
	case config != nil:
		event.ProtocolFeeBps = config.DefaultProtocolFeeBps
	default:
		return nil, false, nil
	}
	return event, event.ProtocolFeeBps <= i.Params.MaxFeeBps, nil
}

// configuration returns the program configuration's last state; nil if unknown.
func (r *rebuilder) configuration(ctx context.Context) (*protocol.ConfigUpdated, error) {
	if r.readConfig {
		return r.config, nil
	}
	var data []byte
	err := r.row(ctx, `SELECT data FROM events WHERE name IN ('ConfigInitialized', 'ConfigUpdated') OR name = 'LogsTruncated' AND negotiation IS NULL
		ORDER BY slot DESC, position DESC, event_index DESC LIMIT 1`).Scan(&data)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	r.readConfig = true
	if data == nil {
		return nil, nil
	}
	event, err := protocol.DecodeEvent(data)
	switch event := event.(type) {
	case *protocol.ConfigInitialized:
		updated := protocol.ConfigUpdated(*event)
		r.config = &updated
	case *protocol.ConfigUpdated:
		r.config = event
	}
	return r.config, err
}

// configEvents returns the event for a configuration instruction.
func (r *rebuilder) configEvents(ctx context.Context, item *call) ([]protocol.Event, bool, error) {
	if i, is := item.instruction.(*protocol.InitializeConfig); is {
		event := protocol.ConfigInitialized{
			Authority: i.Authority, Treasury: i.Treasury, DefaultDecayRateBps: i.DefaultDecayRateBps,
			DefaultResponseWindow: i.DefaultResponseWindow, DefaultProtocolFeeBps: i.DefaultProtocolFeeBps,
			DefaultMaxRounds: i.DefaultMaxRounds,
		}
		config := protocol.ConfigUpdated(event)
		r.config, r.readConfig = &config, true
		return []protocol.Event{&event}, true, nil
	}
	before, err := r.configuration(ctx)
	if err != nil || before == nil {
		return nil, false, err
	}
	after := *before
	switch i := item.instruction.(type) {
	case *protocol.UpdateConfig:
		after.Treasury, after.DefaultDecayRateBps, after.DefaultResponseWindow = i.Treasury, i.DefaultDecayRateBps, i.DefaultResponseWindow
		after.DefaultProtocolFeeBps, after.DefaultMaxRounds = i.DefaultProtocolFeeBps, i.DefaultMaxRounds
	case *protocol.SetPaused:
		after.IsPaused = i.Paused
	case *protocol.ProposeAuthority:
	case *protocol.AcceptAuthority:
		after.Authority = i.Authority
	default:
		return nil, false, nil
	}
	r.config = &after
	return []protocol.Event{&after}, true, nil
}

// metadataOf returns an offer's metadata, or the metadata named by an acceptance: the events do not contain
// them. It returns nil for any other event, and if the instruction is unknown.
func metadataOf(event protocol.Event, calls []call) []byte {
	switch event := event.(type) {
	case *protocol.OfferSubmitted:
		for _, item := range calls {
			i, is := item.instruction.(*protocol.SubmitOffer)
			if is && i.Negotiation == event.NegotiationID && i.Offerer == event.Offerer && i.ExpectedRound+1 == event.Round {
				return i.Metadata[:]
			}
		}
	case *protocol.OfferAccepted:
		for _, item := range calls {
			if i, is := item.instruction.(*protocol.AcceptOffer); is && i.Negotiation == event.NegotiationID {
				return i.ExpectedMetadata[:]
			}
		}
	}
	return nil
}

// clock returns the chain's time in a slot, which every event of the slot has too.
func (r *readSlot) clock() (int64, bool) {
	for _, transaction := range r.transactions {
		for _, event := range transaction.events {
			if event.timestamp != nil {
				return *event.timestamp, true
			}
		}
	}
	if r.block.time == nil {
		return 0, false
	}
	return *r.block.time, true
}
