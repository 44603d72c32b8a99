package engine

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gagliardetto/solana-go"
)

// MaxAccountBytes is the largest size of account data, in bytes.
const MaxAccountBytes = 10 << 20

// Account is an account's state. An account without lamports does not exist.
type Account struct {
	Lamports   uint64
	Owner      solana.PublicKey
	Executable bool
	RentEpoch  uint64
	Data       []byte
}

// Exists reports whether the account holds lamports.
func (a Account) Exists() bool { return a.Lamports > 0 }

// Entry is an account and the address.
type Entry struct {
	Address solana.PublicKey
	Account Account
}

// SetAccount replaces an account, or removes it if it holds no lamports. If the account is a sysvar, programs
// read the new data. It returns a [RequestError] if an executable account holds no valid program, or sysvar
// data does not decode.
func (e *Engine) SetAccount(address solana.PublicKey, account Account) error {
	if len(account.Data) > MaxAccountBytes {
		return &RequestError{fmt.Sprintf("account %s: %d bytes exceed %d", address, len(account.Data), MaxAccountBytes)}
	}
	request := make([]byte, 0, 81+len(account.Data))
	request = append(request, address[:]...)
	request = binary.LittleEndian.AppendUint64(request, account.Lamports)
	request = append(request, account.Owner[:]...)
	executable := byte(0)
	if account.Executable {
		executable = 1
	}
	request = append(request, executable)
	request = binary.LittleEndian.AppendUint64(request, account.RentEpoch)
	_, err := e.do(operationSetAccount, append(request, account.Data...))
	return err
}

// Account returns an account. A missing account is the zero value.
func (e *Engine) Account(address solana.PublicKey) (Account, error) {
	response, err := e.do(operationAccount, address[:])
	if err != nil {
		return Account{}, err
	}
	r := reader{rest: response}
	entry := r.entry()
	return entry.Account, r.finish()
}

// Accounts returns all accounts in no particular order.
func (e *Engine) Accounts() ([]Entry, error) {
	response, err := e.do(operationAccounts, nil)
	if err != nil {
		return nil, err
	}
	r := reader{rest: response}
	entries := r.entries()
	return entries, r.finish()
}

const rentExempt = math.MaxUint64

// MinimumBalance returns the lamports that exempt an account from rent. The data size is in bytes.
func MinimumBalance(size int) uint64 { return (128 + uint64(size)) * 6960 }
