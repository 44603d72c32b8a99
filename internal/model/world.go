package model

import (
	"bytes"
	"maps"

	"github.com/gagliardetto/solana-go"
)

// Address is an account's address.
type Address = solana.PublicKey

// Account is an account as the chain keeps it. Data is never written to: a change is a new slice.
type Account struct {
	Lamports   uint64
	Owner      Address
	Executable bool
	Data       []byte
}

// Is reports whether two accounts are the same.
func (a Account) Is(other Account) bool {
	return a.Lamports == other.Lamports && a.Owner == other.Owner && a.Executable == other.Executable &&
		bytes.Equal(a.Data, other.Data)
}

// Rent is what an account must hold to live forever, in lamports.
type Rent struct {
	Empty   uint64
	PerByte uint64
}

// Exempt is the rent of an account of so many bytes.
func (r Rent) Exempt(size int) uint64 { return r.Empty + r.PerByte*uint64(size) }

// World is everything there is at a point in time.
type World struct {
	// Now is the chain's clock.
	Now  int64
	Rent Rent
	// Accounts are all accounts; one that is not there is empty and belongs to the system program.
	Accounts map[Address]Account
}

// Clone is a copy that can be changed.
func (w *World) Clone() *World {
	return &World{Now: w.Now, Rent: w.Rent, Accounts: maps.Clone(w.Accounts)}
}

// Instruction is what is executed: any accounts, any flags, any data.
type Instruction struct {
	Program  Address
	Accounts []solana.AccountMeta
	Data     []byte
}

// Result is what an instruction answers, and what it leaves behind.
type Result struct {
	// Code is Success or the error; with an error nothing has changed and nothing is logged.
	Code Code
	// Changed are the accounts that are not as they were.
	Changed map[Address]Account
	// Events are the events, in the order of the log.
	Events []Event
	// Outcomes say in words what has happened, for statistics.
	Outcomes []string
}

// Apply makes a result's changes.
func (w *World) Apply(result *Result) {
	maps.Copy(w.Accounts, result.Changed)
}

// draft is a world with changes that may yet be given up.
type draft struct {
	world   *World
	changed map[Address]Account
}

func (d *draft) account(address Address) Account {
	if account, ok := d.changed[address]; ok {
		return account
	}
	return d.world.Accounts[address]
}

func (d *draft) put(address Address, account Account) {
	d.changed[address] = account
}

// moveLamports moves lamports that are known to be there.
func (d *draft) moveLamports(from, to Address, lamports uint64) {
	source := d.account(from)
	source.Lamports -= lamports
	d.put(from, source)
	destination := d.account(to)
	destination.Lamports += lamports
	d.put(to, destination)
}

// create makes an account at a derived address, whatever lamports have been sent ahead to it.
func (d *draft) create(payer, address, owner Address, data []byte) error {
	missing := d.world.Rent.Exempt(len(data)) - min(d.world.Rent.Exempt(len(data)), d.account(address).Lamports)
	if d.account(payer).Lamports < missing {
		return TooLittle
	}
	d.moveLamports(payer, address, missing)
	account := d.account(address)
	account.Owner, account.Data = owner, data
	d.put(address, account)
	return nil
}

// remove closes an account and gives its lamports to another.
func (d *draft) remove(address, to Address) {
	d.moveLamports(address, to, d.account(address).Lamports)
	d.put(address, Account{})
}

// differences are the changes that changed something.
func (d *draft) differences() map[Address]Account {
	for address, account := range d.changed {
		if account.Is(d.world.Accounts[address]) {
			delete(d.changed, address)
		}
	}
	return d.changed
}
