package policy

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/gagliardetto/solana-go"
)

const (
	// compactAfter is the number of appended records after which a snapshot replaces them.
	compactAfter = 1_000
	// pruneEvery is how often usage is pruned, in seconds of the policy's clock.
	pruneEvery = 60 * 60
)

// snapshot returns a record that restores the usage.
func (u *usage) snapshot(wallet solana.PublicKey, now int64) Record {
	state := &Snapshot{
		Negotiations: sortedTotals(u.negotiations), Counterparties: sortedTotals(u.counterparties),
	}
	for mint, amount := range u.today {
		state.Today = append(state.Today, Total{Mint: mint, Amount: amount})
	}
	slices.SortFunc(state.Today, compareTotals)
	for _, engagements := range u.engagements {
		state.Engagements = append(state.Engagements, engagements...)
	}
	for _, commitment := range u.commitments {
		state.Commitments = append(state.Commitments, *commitment)
	}
	for digest, known := range u.intents {
		state.Intents = append(state.Intents, OpenIntent{Intent: digest, Day: known.day, Spends: known.spends})
	}
	for _, known := range u.messages {
		state.Messages = append(state.Messages, known.Record)
	}
	for _, approval := range u.approvals {
		state.Approvals = append(state.Approvals, approval)
	}
	slices.SortFunc(state.Messages, func(a, b Record) int { return bytes.Compare(a.Message[:], b.Message[:]) })
	return Record{Kind: RecordSnapshot, Wallet: wallet, Time: now, Day: u.day, Snapshot: state}
}

// restore replaces usage by a snapshot.
func (u *usage) restore(record Record) {
	*u = *newUsage()
	u.day = record.Day
	if record.Snapshot == nil {
		return
	}
	state := record.Snapshot
	for _, total := range state.Today {
		u.today[total.Mint] = total.Amount
	}
	for _, total := range state.Negotiations {
		u.negotiations[with{total.Mint, total.Account}] = total.Amount
	}
	for _, total := range state.Counterparties {
		u.counterparties[with{total.Mint, total.Account}] = total.Amount
	}
	for _, engagement := range state.Engagements {
		u.engagements[engagement.Negotiation] = append(u.engagements[engagement.Negotiation], engagement)
	}
	for _, commitment := range state.Commitments {
		u.commitments[commitment.Hash] = &commitment
	}
	for _, open := range state.Intents {
		u.intents[open.Intent] = &intent{day: open.Day, spends: open.Spends}
	}
	for _, message := range state.Messages {
		if known := u.intents[message.Intent]; known != nil {
			known.open++
		}
		u.messages[message.Message] = &openMessage{Record: message}
	}
	for _, approval := range state.Approvals {
		u.approvals[approval.Intent] = approval
	}
}

// tidy prunes usage and replaces the store's records by a snapshot, if either is due. If the store cannot
// replace its records, it keeps them.
func (p *Policy) tidy(ctx context.Context) error {
	now := p.config.Now()
	if now.Unix()-p.pruned >= pruneEvery || now.Unix() < p.pruned {
		p.pruned = now.Unix()
		if err := p.usage.prune(now); err != nil {
			return err
		}
	}
	if p.appended < compactAfter {
		return nil
	}
	p.appended = 0
	err := p.config.Store.Replace(ctx, p.usage.snapshot(p.wallet, now.Unix()))
	if err != nil && !errors.Is(err, ErrBehind) {
		p.config.Logger.WarnContext(ctx, "usage not compacted", "wallet", p.wallet, "reason", err)
	}
	return nil
}
