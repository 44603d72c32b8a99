package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
)

// refresh applies the records that other policies have appended.
func (p *Policy) refresh(ctx context.Context) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.refreshLocked(ctx)
}

func (p *Policy) refreshLocked(ctx context.Context) error {
	before := maps.Clone(p.usage.Messages)
	consistent := true
	for record, err := range p.log.Next(ctx) {
		if err != nil {
			return fmt.Errorf("haggle: policy: usage: %w", err)
		}
		if record.Kind == RecordSnapshot {
			p.appended = 0
		}
		p.appended++
		if p.usage.apply(record) != nil {
			consistent = false
			break
		}
	}
	if !consistent {
		// The record refers to usage that is pruned here and not there.
		if err := p.readAll(ctx); err != nil {
			return err
		}
	}
	p.adopt(before)
	return nil
}

// adopt keeps the attempts of this process at messages. Messages counted by another process may have been
// signed.
func (p *Policy) adopt(before map[Digest]*OpenMessage) {
	for digest, known := range p.usage.Messages {
		switch own := before[digest]; {
		case own == nil:
			known.mayBeSigned = true
		case own != known:
			known.attempts = own.attempts
			known.mayBeSigned = own.mayBeSigned || !known.Signature.IsZero()
		}
	}
}

// readAll computes the usage from all records.
func (p *Policy) readAll(ctx context.Context) error {
	p.log, p.usage, p.appended = p.config.Store.UsageLog(p.wallet), newSnapshot(), 0
	for record, err := range p.log.Next(ctx) {
		if err == nil {
			p.appended++
			err = p.usage.apply(record)
		}
		if err != nil {
			return fmt.Errorf("haggle: policy: usage: %w", err)
		}
	}
	return nil
}

// appendLocked makes a record durable and then applies it. decide returns the record for the present usage,
// or nil for none. It is called again if other policies have appended records meanwhile.
func (p *Policy) appendLocked(ctx context.Context, decide func() (*Record, error)) error {
	for {
		record, err := decide()
		if err != nil || record == nil {
			return err
		}
		record.Wallet = p.wallet
		record.Time = p.config.Now().Unix()
		record.Day = max(record.Day, p.usage.Day)
		err = p.log.Append(ctx, *record)
		if err == nil {
			p.appended++
			return p.usage.apply(*record)
		}
		if !errors.Is(err, ErrBehind) {
			return fmt.Errorf("haggle: policy: usage: %w", err)
		}
		if err := p.refreshLocked(ctx); err != nil {
			return err
		}
	}
}
