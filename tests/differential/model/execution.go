package model

import (
	"slices"

	"github.com/gagliardetto/solana-go"
)

// Execute returns an instruction's result, and leaves the environment unchanged.
func Execute(environment *Environment, instruction Instruction) *Result {
	e := &execution{draft: draft{environment: environment, changed: map[Address]Account{}}}
	if err := e.run(instruction); err != nil {
		return &Result{Code: err.(Code)}
	}
	return &Result{Changed: e.differences(), Events: e.events, Outcomes: e.outcomes}
}

// execution is an instruction's state during execution.
type execution struct {
	draft
	row      *row
	keys     []Address
	events   []Event
	outcomes []string
}

func (e *execution) run(instruction Instruction) error {
	if instruction.Program != ProgramID {
		return DeclaredProgramIDMismatch
	}
	if len(instruction.Data) < 8 {
		return InstructionMissing
	}
	if e.row = rowOf(instruction.Data); e.row == nil {
		return InstructionFallbackNotFound
	}
	arguments := instruction.Data[8:]
	if len(arguments) != e.row.argumentSize {
		return InstructionDidNotDeserialize
	}
	for _, at := range e.row.bools {
		if arguments[at] > 1 {
			return InstructionDidNotDeserialize
		}
	}
	if err := e.checkAccounts(instruction.Accounts); err != nil {
		return err
	}
	return e.row.decode(instruction).execute(e)
}

// checkAccounts checks the number of accounts, then all flags, then all owners, then all contents.
func (e *execution) checkAccounts(metas []solana.AccountMeta) error {
	if len(metas) < len(e.row.accounts) {
		return AccountNotEnoughKeys
	}
	for i, account := range e.row.accounts {
		e.keys = append(e.keys, metas[i].PublicKey)
		if e.omitted(i) {
			continue
		}
		signs, writable := flagsOf(metas, e.keys[i])
		if err := firstError(
			failIf(account.signer && !signs, AccountNotSigner),
			failIf(account.writable && !writable, ConstraintMut),
		); err != nil {
			return err
		}
	}
	for _, check := range []func(content, Account) error{checkOwner, checkContent} {
		for i, account := range e.row.accounts {
			if e.omitted(i) {
				continue
			}
			if err := check(account.content, e.account(e.keys[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// flagsOf returns an account's flags. The runtime merges the flags of repeated accounts, and never makes the
// executing program writable.
func flagsOf(metas []solana.AccountMeta, address Address) (signs, writable bool) {
	for _, meta := range metas {
		if meta.PublicKey == address {
			signs = signs || meta.IsSigner
			writable = writable || meta.IsWritable && address != ProgramID
		}
	}
	return signs, writable
}

// omitted reports whether an optional account is left out: the program ID takes the account's place.
func (e *execution) omitted(index int) bool {
	return e.row.accounts[index].optional && e.keys[index] == ProgramID
}

func checkOwner(required content, account Account) error {
	valid := true
	switch required {
	case existingNegotiation, existingConfig:
		valid = account.Owner == ProgramID
	case vacantAccount:
		valid = account.Owner == systemProgram
	case mintAccount:
		valid = account.Owner == tokenProgram || account.Owner == token2022Program
	case loaderAccount:
		valid = account.Owner == upgradeableLoader
	}
	return failIf(!valid, AccountOwnedByWrongProgram)
}

func checkContent(required content, account Account) error {
	var expected []byte
	var size int
	switch required {
	case existingNegotiation:
		expected, size = negotiationDiscriminator, NegotiationSize
	case existingConfig:
		expected, size = configDiscriminator, ConfigSize
	default:
		return nil
	}
	if len(account.Data) < len(expected) {
		return DiscriminatorNotFound
	}
	if string(account.Data[:len(expected)]) != string(expected) {
		return DiscriminatorMismatch
	}
	if len(account.Data) != size {
		return AccountDidNotDeserialize
	}
	if required == existingNegotiation {
		n, _ := ReadNegotiation(account.Data)
		return failIf(n.Version != accountVersion, AccountDidNotDeserialize)
	}
	return nil
}

func (e *execution) indexOf(name string) int {
	return slices.IndexFunc(e.row.accounts, func(a accountRow) bool { return a.name == name })
}

func (e *execution) key(name string) Address { return e.keys[e.indexOf(name)] }

// given reports whether an account is included.
func (e *execution) given(name string) bool {
	index := e.indexOf(name)
	return index >= 0 && !e.omitted(index)
}

// require fails if any of the optional accounts is left out.
func (e *execution) require(names ...string) error {
	for _, name := range names {
		if !e.given(name) {
			return AccountNotEnoughKeys
		}
	}
	return nil
}

// isOnlySigner reports whether a key is in the only place required to sign by the instruction's declaration.
// Other signers of the transaction do not count.
func (e *execution) isOnlySigner(address Address) bool {
	var signers []Address
	for i, account := range e.row.accounts {
		if account.signer {
			signers = append(signers, e.keys[i])
		}
	}
	return len(signers) == 1 && signers[0] == address
}

// negotiation reads a negotiation that checkAccounts has checked.
func (e *execution) negotiation(address Address) *Negotiation {
	n, _ := ReadNegotiation(e.account(address).Data)
	return n
}

func (e *execution) store(address Address, n *Negotiation) {
	account := e.account(address)
	account.Data = n.Bytes()
	e.put(address, account)
}

func (e *execution) now() int64 { return e.environment.Now }

// log logs an event from alternating names and values.
func (e *execution) log(name string, pairs ...any) {
	e.events = append(e.events, newEvent(name, pairs...))
}

// note adds an outcome to the statistics.
func (e *execution) note(outcome string) { e.outcomes = append(e.outcomes, outcome) }

func (e *execution) checkTurnClock(n *Negotiation) error {
	return firstError(
		failIf(e.now() >= n.GlobalDeadline, Expired),
		failIf(e.now() >= n.TurnDeadline, ResponseWindowExpired),
	)
}

// startTurn sets the next turn's deadline.
func (e *execution) startTurn(n *Negotiation) error {
	end, ok := checkedAdd(e.now(), n.ResponseWindow)
	if !ok {
		return Overflow
	}
	n.TurnDeadline = min(end, n.GlobalDeadline)
	return nil
}
