package engine

import (
	"encoding/binary"
	"errors"

	"github.com/gagliardetto/solana-go"
)

// The operations of program/wasm/src/engine.rs.
const (
	operationSetAccount uint64 = iota + 1
	operationAccount
	operationExecute
	operationSimulate
	operationAccounts
)

var errResponse = errors.New("engine: malformed response")

// reader decodes a response, whose layout is in program/wasm/src/wire.rs. Past the last byte it returns zero
// values, and finish returns an error.
type reader struct {
	rest  []byte
	short bool
}

// take returns a slice of the response. The slice's capacity equals the length.
func (r *reader) take(length int) []byte {
	if r.short || length > len(r.rest) {
		r.short = true
		return nil
	}
	taken := r.rest[:length:length]
	r.rest = r.rest[length:]
	return taken
}

func (r *reader) byte() byte {
	if taken := r.take(1); taken != nil {
		return taken[0]
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if taken := r.take(4); taken != nil {
		return binary.LittleEndian.Uint32(taken)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if taken := r.take(8); taken != nil {
		return binary.LittleEndian.Uint64(taken)
	}
	return 0
}

func (r *reader) address() (address solana.PublicKey) {
	copy(address[:], r.take(len(address)))
	return address
}

func (r *reader) bytes() []byte { return r.take(int(r.uint32())) }

// count returns a list's length, given the minimum item size in bytes.
func (r *reader) count(least int) int {
	count := int(r.uint32())
	if count > len(r.rest)/least {
		r.short = true
		return 0
	}
	return count
}

func (r *reader) entry() (entry Entry) {
	entry.Address = r.address()
	entry.Account.Lamports = r.uint64()
	entry.Account.Owner = r.address()
	entry.Account.Executable = r.byte() != 0
	entry.Account.RentEpoch = r.uint64()
	entry.Account.Data = r.bytes()
	return entry
}

func (r *reader) entries() []Entry {
	entries := make([]Entry, 0, r.count(85))
	for range cap(entries) {
		entries = append(entries, r.entry())
	}
	return entries
}

func (r *reader) finish() error {
	if r.short || len(r.rest) > 0 {
		return errResponse
	}
	return nil
}
