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

// RecordKind is the kind of a Record.
type RecordKind string

// The kinds of records.
const (
	// RecordApproved: an intent has been approved.
	RecordApproved RecordKind = "approved"
	// RecordCounted: a message is about to be signed, and its spends are counted.
	RecordCounted RecordKind = "counted"
	// RecordSigned: the signature of a counted message is about to be returned.
	RecordSigned RecordKind = "signed"
	// RecordSettled: the outcome of a counted message is final.
	RecordSettled RecordKind = "settled"
	// RecordSnapshot: the usage that all earlier records add up to.
	RecordSnapshot RecordKind = "snapshot"
)

// Record is one entry of the log from which usage is computed.
type Record struct {
	Kind RecordKind `json:"kind"`
	// Wallet is the wallet whose usage it is.
	Wallet solana.PublicKey `json:"wallet"`
	// Intent identifies the effect of a message: see [Digest]. It is set in approved and counted records.
	Intent Digest `json:"intent,omitzero"`
	// Message is the SHA-256 of a message; zero in approved and snapshot records.
	Message Digest `json:"message,omitzero"`
	// Time is when the record was written, in Unix seconds of the policy's clock. Day is the UTC day that it
	// counts for, in days since 1 January 1970. Day never decreases.
	Time int64 `json:"time"`
	Day  int64 `json:"day"`
	// Spends are the amounts that a counted message adds to the spending of its intent, and Fees the fees of
	// the message itself; in approved records Fees are the approved fees.
	Spends []Spend `json:"spends,omitempty"`
	Fees   []Spend `json:"fees,omitempty"`
	// Engagements are the negotiations that a counted message creates or joins, Commitments the prices that
	// it commits to, and Deals the deals that it names as the buyer.
	Engagements []Engagement `json:"engagements,omitempty"`
	Commitments []Commitment `json:"commitments,omitempty"`
	Deals       []Deal       `json:"deals,omitempty"`
	// Reveals are the commitments whose price a counted message reveals.
	Reveals []Digest `json:"reveals,omitempty"`
	// Validity describes until when the chain can execute a counted message.
	Validity Validity `json:"validity,omitzero"`
	// Effects is the hash of all instructions, spends and prices that an approved record allows.
	Effects Digest `json:"effects,omitzero"`
	// Signature is the wallet's signature, in signed records.
	Signature solana.Signature `json:"signature,omitzero"`
	// Outcome is the outcome of a settled message: "confirmed", "failed", "expired" or "not sent".
	Outcome transaction.Outcome `json:"outcome,omitzero"`
	// Snapshot is set in snapshot records.
	Snapshot *Snapshot `json:"snapshot,omitempty"`
}

// Validity describes until when the chain can execute a message, and identifies its transaction.
type Validity struct {
	Blockhash solana.Hash `json:"blockhash,omitzero"`
	// Nonce is the account of a durable nonce, and Blockhash then its value; zero without one.
	Nonce solana.PublicKey `json:"nonce,omitzero"`
	// LastBlockHeight and Slot are the values of haggle.Signing.
	LastBlockHeight uint64 `json:"last_block_height,omitzero"`
	Slot            uint64 `json:"slot,omitzero"`
	// Payer reports whether the wallet pays the fee, so that its signature is the transaction's.
	Payer bool `json:"payer,omitempty"`
}

// Store stores the usage of wallets. All policies of a wallet that use one database count together, in one
// process or in several. Packages store/sqlite and store/postgres open one.
type Store interface {
	// UsageLog returns the usage log of a wallet, at its beginning. Each policy has a Log of its own.
	UsageLog(wallet solana.PublicKey) Log
}

// ErrBehind reports that other policies have appended records that a Log has not returned yet.
var ErrBehind = errors.New("haggle: policy: the usage log has further records")

// Log is a policy's position in the usage log of a wallet. Append and Replace change nothing and return
// [ErrBehind] if the log contains records that this Log has neither returned nor appended. So a policy counts a
// message only if it knows all usage.
type Log interface {
	// Next returns the records that this Log has neither returned nor appended, in their order. If the log
	// was replaced meanwhile, the first record is the snapshot.
	Next(ctx context.Context) iter.Seq2[Record, error]
	// Append adds a record. When it returns nil, the record survives a crash of the machine. After any error
	// but ErrBehind the record may exist; then Next returns it.
	Append(ctx context.Context, record Record) error
	// Replace replaces all records by a snapshot, atomically.
	Replace(ctx context.Context, record Record) error
}

// MemoryStore is a Store that loses the usage when the process ends. The zero value is empty.
type MemoryStore struct {
	lock sync.Mutex
	logs map[solana.PublicKey]*memoryLog
}

// memoryLog is the log of a wallet.
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
