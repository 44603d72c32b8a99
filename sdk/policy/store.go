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

// Store keeps the records of one wallet's policy. Only one policy may use it at a time. Several processes
// share usage by a [SharedStore].
type Store interface {
	// Records returns all records in the order in which they were appended. A policy calls it once, before
	// Append.
	Records(ctx context.Context) iter.Seq2[Record, error]
	// Append adds a record. When it returns nil, the record survives a crash of the machine.
	Append(ctx context.Context, record Record) error
	// Replace replaces all records by one, atomically. If it fails, the records are unchanged.
	Replace(ctx context.Context, record Record) error
}

// ErrBehind reports that other processes have appended records to a SharedStore that it has not returned yet.
var ErrBehind = errors.New("haggle: policy: the store has further records")

// SharedStore is a Store of a log that several processes append to, each with a SharedStore and a policy of
// its own. Append and Replace change nothing and return [ErrBehind] if the log has records that this store
// has neither returned nor appended. So a policy counts a message only if it knows all usage that counts.
// Package policy/postgres has one.
type SharedStore interface {
	Store
	// Further returns the records that this store has neither returned nor appended, in their order. If the
	// log was replaced meanwhile, the first one is the snapshot.
	Further(ctx context.Context) iter.Seq2[Record, error]
}

// MemoryStore is a Store that loses its records, and so the usage of limits, when the process ends. The zero
// value is empty.
type MemoryStore struct {
	lock    sync.Mutex
	records []Record
}

// Records returns all records.
func (m *MemoryStore) Records(context.Context) iter.Seq2[Record, error] {
	m.lock.Lock()
	defer m.lock.Unlock()
	return sequence(slices.Clone(m.records))
}

func sequence(records []Record) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, record := range records {
			if !yield(record, nil) {
				return
			}
		}
	}
}

// Append adds a record.
func (m *MemoryStore) Append(_ context.Context, record Record) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.records = append(m.records, record)
	return nil
}

// Replace replaces all records by one.
func (m *MemoryStore) Replace(_ context.Context, record Record) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.records = []Record{record}
	return nil
}
