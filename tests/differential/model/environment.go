package model

import (
	"bytes"
	"maps"

	"github.com/gagliardetto/solana-go"
)

// Account is an account's state. Data is never written to: every change allocates a new slice.
type Account struct {
	Lamports   uint64
	Owner      Address
	Executable bool
	Data       []byte
}

// Equal reports whether two accounts are in the same state.
func (a Account) Equal(other Account) bool {
	return a.Lamports == other.Lamports && a.Owner == other.Owner && a.Executable == other.Executable &&
		bytes.Equal(a.Data, other.Data)
}

// Rent defines an account's minimum balance, in lamports.
type Rent struct {
	Empty   uint64
	PerByte uint64
}

// Exempt returns the minimum balance for size bytes of data.
func (r Rent) Exempt(size int) uint64 { return r.Empty + r.PerByte*uint64(size) }

// Environment is the chain state at a point in time.
type Environment struct {
	// Now is the chain clock's time, in Unix seconds.
	Now  int64
	Rent Rent
	// Accounts maps addresses to accounts. A missing account is empty and belongs to the system program.
	Accounts map[Address]Account
}

// Clone returns a copy that can be changed independently.
func (e *Environment) Clone() *Environment {
	return &Environment{Now: e.Now, Rent: e.Rent, Accounts: maps.Clone(e.Accounts)}
}

// Apply writes a result's changes.
func (e *Environment) Apply(result *Result) {
	maps.Copy(e.Accounts, result.Changed)
}

// Instruction is an instruction as a transaction carries it: any accounts, any flags, any data.
type Instruction struct {
	Program  Address
	Accounts []solana.AccountMeta
	Data     []byte
}

type Result struct {
	// Code is Success or an error. An instruction that fails changes nothing and logs no events.
	Code Code
	// Changed contains the accounts whose state has changed.
	Changed map[Address]Account
	// Events lists the events in log order.
	Events []Event
	// Outcomes describe the effects in words, for statistics.
	Outcomes []string
}

type draft struct {
	environment *Environment
	changed     map[Address]Account
}

func (d *draft) account(address Address) Account {
	if account, ok := d.changed[address]; ok {
		return account
	}
	return d.environment.Accounts[address]
}

func (d *draft) put(address Address, account Account) {
	d.changed[address] = account
}

// moveLamports moves lamports. The caller has checked the balance.
func (d *draft) moveLamports(from, to Address, lamports uint64) {
	source := d.account(from)
	source.Lamports -= lamports
	d.put(from, source)
	destination := d.account(to)
	destination.Lamports += lamports
	d.put(to, destination)
}

// create creates an account at a PDA. Lamports that it already holds count towards the rent.
func (d *draft) create(payer, address, owner Address, data []byte) error {
	rent := d.environment.Rent.Exempt(len(data))
	missing := rent - min(rent, d.account(address).Lamports)
	if d.account(payer).Lamports < missing {
		return InsufficientFunds
	}
	d.moveLamports(payer, address, missing)
	account := d.account(address)
	account.Owner, account.Data = owner, data
	d.put(address, account)
	return nil
}

// remove closes an account and moves all lamports to another.
func (d *draft) remove(address, to Address) {
	d.moveLamports(address, to, d.account(address).Lamports)
	d.put(address, Account{})
}

// differences returns all accounts that differ from the environment's.
func (d *draft) differences() map[Address]Account {
	for address, account := range d.changed {
		if account.Equal(d.environment.Accounts[address]) {
			delete(d.changed, address)
		}
	}
	return d.changed
}
