package policy

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// RecordKind distinguishes Records.
type RecordKind string

// The kinds of records.
const (
	// RecordApproved: an intent has been approved.
	RecordApproved RecordKind = "approved"
	// RecordCounted: the policy counted the spends and is about to sign.
	RecordCounted RecordKind = "counted"
	// RecordSigned: the counted message's signature is about to be returned.
	RecordSigned RecordKind = "signed"
	// RecordSettled: a counted message's outcome is final.
	RecordSettled RecordKind = "settled"
	// RecordSnapshot: the usage summed over all earlier records.
	RecordSnapshot RecordKind = "snapshot"
)

// Record is a usage log entry.
type Record struct {
	Kind RecordKind `json:"kind"`
	// Wallet is the wallet that the usage belongs to.
	Wallet solana.PublicKey `json:"wallet"`
	// Intent identifies the message's effect: see [Digest]. It is set in approved and counted records.
	Intent Digest `json:"intent,omitzero"`
	// Message is the message's SHA-256. Approved and snapshot records lack it.
	Message Digest `json:"message,omitzero"`
	// Time is the write time, in Unix seconds of the policy's clock. Day is the UTC day that it counts for,
	// in days since 1 January 1970. Day never decreases.
	Time int64 `json:"time"`
	Day  int64 `json:"day"`
	// Spends lists the amounts that a counted message adds to the intent's spending, and Fees the message's
	// fees. Approved records hold the approved fees.
	Spends []Spend `json:"spends,omitempty"`
	Fees   []Spend `json:"fees,omitempty"`
	// Engagements lists the negotiations that a counted message creates or joins, Commitments the committed
	// prices, and Deals the deals named as the buyer.
	Engagements []Engagement `json:"engagements,omitempty"`
	Commitments []Commitment `json:"commitments,omitempty"`
	Deals       []Deal       `json:"deals,omitempty"`
	// Reveals lists the commitments with prices revealed by a counted message.
	Reveals []Digest `json:"reveals,omitempty"`
	// Validity describes until when the chain can execute a counted message.
	Validity Validity `json:"validity,omitzero"`
	// Effects hashes all instructions, spends and prices allowed by an approved record.
	Effects Digest `json:"effects,omitzero"`
	// Signature holds the wallet's signature in signed records.
	Signature solana.Signature `json:"signature,omitzero"`
	// Outcome is the settled message's outcome: "confirmed", "failed", "expired" or "not sent".
	Outcome transaction.Outcome `json:"outcome,omitzero"`
	// Snapshot is set in snapshot records.
	Snapshot *Snapshot `json:"snapshot,omitempty"`
}

// Validity describes until when the chain can execute the message, and identifies the transaction.
type Validity struct {
	Blockhash solana.Hash `json:"blockhash,omitzero"`
	// Nonce is the durable nonce account, if any, and Blockhash then the nonce value.
	Nonce solana.PublicKey `json:"nonce,omitzero"`
	// LastBlockHeight and Slot come from haggle.Signing.
	LastBlockHeight uint64 `json:"last_block_height,omitzero"`
	Slot            uint64 `json:"slot,omitzero"`
	// Payer reports whether the wallet pays the fee, so the wallet's signature identifies the transaction.
	Payer bool `json:"payer,omitempty"`
}

// Store stores the usage of wallets. All policies for a wallet that share a database count together, even
// across processes. Packages store/sqlite and store/postgres open one.
type Store interface {
	// UsageLog returns a wallet's usage log, positioned at the beginning. Each policy uses a separate Log.
	UsageLog(wallet solana.PublicKey) Log
}

// ErrBehind reports records appended by other policies and not yet returned by a Log.
var ErrBehind = errors.New("haggle: policy: the usage log has further records")

// Log is a policy's position in a wallet's usage log. Append and Replace change nothing and return
// [ErrBehind] if other policies appended records that this Log did not return yet. So the policy counts only
// when it knows all usage.
type Log interface {
	// Next returns all records neither returned nor appended by this Log yet, in order. If records were
	// replaced meanwhile, the first record is the snapshot.
	Next(ctx context.Context) iter.Seq2[Record, error]
	// Append adds a record. When it returns nil, the record survives a crash of the machine. If Append fails
	// with an error other than ErrBehind, the record may exist; then Next returns it.
	Append(ctx context.Context, record Record) error
	// Replace replaces all records by a snapshot, atomically.
	Replace(ctx context.Context, record Record) error
}

// MemoryStore is a Store that loses the usage when the process ends. The zero value is empty.
type MemoryStore struct {
	lock sync.Mutex
	logs map[solana.PublicKey]*memoryLog
}

// memoryLog is a wallet's log.
type memoryLog struct {
	// first is the number of the first record.
	first   int
	records []Record
}

func (l *memoryLog) end() int { return l.first + len(l.records) }

// memoryPosition is a Log. next is the number of the record that it returns next.
type memoryPosition struct {
	store *MemoryStore
	log   *memoryLog
	next  int
}

// UsageLog implements [Store].
func (m *MemoryStore) UsageLog(wallet solana.PublicKey) Log {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.logs == nil {
		m.logs = map[solana.PublicKey]*memoryLog{}
	}
	if m.logs[wallet] == nil {
		m.logs[wallet] = &memoryLog{}
	}
	return &memoryPosition{store: m, log: m.logs[wallet]}
}

// Next implements [Log].
func (p *memoryPosition) Next(context.Context) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		p.store.lock.Lock()
		records := slices.Clone(p.log.records[max(0, p.next-p.log.first):])
		p.next = p.log.end()
		p.store.lock.Unlock()
		for _, record := range records {
			if !yield(record, nil) {
				return
			}
		}
	}
}

// Append implements [Log].
func (p *memoryPosition) Append(_ context.Context, record Record) error {
	return p.write(func() { p.log.records = append(p.log.records, record) })
}

// Replace implements [Log].
func (p *memoryPosition) Replace(_ context.Context, record Record) error {
	return p.write(func() { p.log.first, p.log.records = p.next, []Record{record} })
}

func (p *memoryPosition) write(change func()) error {
	p.store.lock.Lock()
	defer p.store.lock.Unlock()
	if p.next != p.log.end() {
		return ErrBehind
	}
	change()
	p.next++
	return nil
}
