package policy

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/gagliardetto/solana-go"
)

// RecordKind says what a Record is about.
type RecordKind string

// The kinds of records.
const (
	// RecordCounted: a message is about to be signed, and what it spends is counted.
	RecordCounted RecordKind = "counted"
	// RecordSigned: the signature of a message that has been counted is about to leave.
	RecordSigned RecordKind = "signed"
	// RecordReleased: what a message spends is given back, because it has not been executed and never will be, or has failed.
	RecordReleased RecordKind = "released"
)

// Record is one line of the history from which usage is added up.
type Record struct {
	Kind RecordKind `json:"kind"`
	// Wallet is whose usage it is.
	Wallet solana.PublicKey `json:"wallet"`
	// Message is the SHA-256 of the message.
	Message Digest `json:"message"`
	// Time is when it was written, in Unix seconds of the policy's clock, and Day the UTC day that it counts for, in days since
	// 1 January 1970. Day never goes back.
	Time int64 `json:"time"`
	Day  int64 `json:"day"`
	// Blockhash, Payer, Durable, Spends and Engagements are what is to be known of a message that is counted: Payer whether the
	// wallet pays its fee, and Durable whether it is one that does not expire.
	Blockhash   solana.Hash  `json:"blockhash,omitzero"`
	Payer       bool         `json:"payer,omitempty"`
	Durable     bool         `json:"durable,omitempty"`
	Spends      []Spend      `json:"spends,omitempty"`
	Engagements []Engagement `json:"engagements,omitempty"`
	// Signature is the wallet's, of a message that is signed.
	Signature solana.Signature `json:"signature,omitzero"`
	// Fate is why it is given back: failed, expired or not signed.
	Fate Fate `json:"fate,omitempty"`
}

// Store keeps the records of one wallet's policy. Only one policy may use it at a time.
type Store interface {
	// Records are all that have been appended, in their order. It is asked once, before anything is appended.
	Records(ctx context.Context) iter.Seq2[Record, error]
	// Append adds a record. When it returns nil, the record survives a crash of the machine.
	Append(ctx context.Context, record Record) error
}

// MemoryStore is a Store that forgets everything with the process, and limits with it. The zero value is empty.
type MemoryStore struct {
	lock    sync.Mutex
	records []Record
}

// Records are all that have been appended.
func (m *MemoryStore) Records(context.Context) iter.Seq2[Record, error] {
	m.lock.Lock()
	records := slices.Clone(m.records)
	m.lock.Unlock()
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
