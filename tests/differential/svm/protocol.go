package svm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/gagliardetto/solana-go"
)

// Requests defined in program/svm/src/request.rs.
const (
	requestLoad = iota
	requestBegin
	requestSet
	requestGet
	requestClock
	requestRent
	requestRun
	requestProbe
	requestELF
)

// frameLimit is the maximum request or response size in bytes.
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

// begin begins a request. roundTrip sets the length.
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

// accountHead is an account's part before the data.
type accountHead struct {
	Address    solana.PublicKey
	Lamports   uint64
	Owner      solana.PublicKey
	Executable bool
	Size       uint32
}

func (m *Machine) putAccount(account KeyedAccount) (err error) {
	head := accountHead{account.Address, account.Lamports, account.Owner, account.Executable, uint32(len(account.Data))}
	m.frame, err = binary.Append(m.frame, binary.LittleEndian, head)
	m.frame = append(m.frame, account.Data...)
	return err
}

// reader reads a response from left to right. Once the response is exhausted, every value is zero, and end
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

// next reads a number or a struct.
func next[T any](r *reader) (value T) {
	if taken := r.take(binary.Size(value)); taken != nil {
		_, _ = binary.Decode(taken, binary.LittleEndian, &value) // the size fits
	}
	return value
}

func (r *reader) bytes() []byte { return r.take(int(next[uint32](r))) }

func (r *reader) accounts() []KeyedAccount {
	var accounts []KeyedAccount
	for range next[uint16](r) {
		if r.failed {
			return nil
		}
		head := next[accountHead](r)
		accounts = append(accounts, KeyedAccount{
			head.Address, Account{head.Lamports, head.Owner, head.Executable, r.take(int(head.Size))},
		})
	}
	return accounts
}

func (r *reader) outcome() *Outcome {
	outcome := new(Outcome)
	switch next[byte](r) {
	case 0:
	case 1:
		outcome.Failed, outcome.Code = true, next[uint32](r)
	case 2:
		outcome.Failed, outcome.OtherError = true, string(r.bytes())
	default:
		r.failed = true
	}
	outcome.Units = next[uint64](r)
	for range next[uint16](r) {
		if r.failed {
			return nil
		}
		outcome.Log = append(outcome.Log, string(r.bytes()))
	}
	outcome.ReturnData = r.bytes()
	outcome.Changed = r.accounts()
	return outcome
}
