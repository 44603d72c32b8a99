package svm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gagliardetto/solana-go"
)

// The requests of program/svm/src/request.rs.
const (
	requestLoad = iota
	requestBegin
	requestSet
	requestGet
	requestClock
	requestRent
	requestRun
	requestProbe
)

// frameLimit is the maximum size of a request or response in bytes.
const frameLimit = 16 << 20

const (
	flagSigner   = 1
	flagWritable = 2
)

func flags(meta solana.AccountMeta) (flags byte) {
	if meta.IsSigner {
		flags |= flagSigner
	}
	if meta.IsWritable {
		flags |= flagWritable
	}
	return flags
}

// begin begins a request. roundTrip sets its length.
func (m *Machine) begin(request byte) {
	m.frame = append(m.frame[:0], 0, 0, 0, 0, request)
}

func (m *Machine) putCount(count int) error {
	if count > math.MaxUint16 {
		return fmt.Errorf("%d accounts: too many for a request", count)
	}
	m.frame = binary.LittleEndian.AppendUint16(m.frame, uint16(count))
	return nil
}

func (m *Machine) putAccount(account KeyedAccount) {
	m.frame = append(m.frame, account.Address[:]...)
	m.frame = binary.LittleEndian.AppendUint64(m.frame, account.Lamports)
	m.frame = append(m.frame, account.Owner[:]...)
	if account.Executable {
		m.frame = append(m.frame, 1)
	} else {
		m.frame = append(m.frame, 0)
	}
	m.frame = binary.LittleEndian.AppendUint32(m.frame, uint32(len(account.Data)))
	m.frame = append(m.frame, account.Data...)
}

// reader reads a response from left to right. After the end of the response, every value is zero, and end
// returns an error.
type reader struct {
	rest   []byte
	failed bool
}

var errMalformedResponse = errors.New("malformed response: machine and package have different versions")

// end returns an error unless exactly the whole response was read.
func (r *reader) end() error {
	if r.failed || len(r.rest) > 0 {
		return errMalformedResponse
	}
	return nil
}

func (r *reader) take(count int) []byte {
	if r.failed || count > len(r.rest) {
		r.failed = true
		return nil
	}
	taken := r.rest[:count:count]
	r.rest = r.rest[count:]
	return taken
}

func (r *reader) byte() byte {
	if taken := r.take(1); taken != nil {
		return taken[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if taken := r.take(2); taken != nil {
		return binary.LittleEndian.Uint16(taken)
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

func (r *reader) bytes() []byte {
	return r.take(int(r.uint32()))
}

func (r *reader) accounts() []KeyedAccount {
	var accounts []KeyedAccount
	for range r.uint16() {
		if r.failed {
			return nil
		}
		account := KeyedAccount{Address: r.address()}
		account.Lamports = r.uint64()
		account.Owner = r.address()
		account.Executable = r.byte() != 0
		account.Data = r.bytes()
		accounts = append(accounts, account)
	}
	return accounts
}

func (r *reader) outcome() *Outcome {
	outcome := new(Outcome)
	switch r.byte() {
	case 0:
	case 1:
		outcome.Failed, outcome.Code = true, r.uint32()
	case 2:
		outcome.Failed, outcome.OtherError = true, string(r.bytes())
	default:
		r.failed = true
	}
	outcome.Units = r.uint64()
	for range r.uint16() {
		if r.failed {
			return nil
		}
		outcome.Log = append(outcome.Log, string(r.bytes()))
	}
	outcome.Changed = r.accounts()
	return outcome
}
