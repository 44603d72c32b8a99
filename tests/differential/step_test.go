package differential

import "github.com/haggle-protocol/haggle/tests/differential/model"

// step is a step in a sequence: an instruction, a change of token accounts outside the program, or a change
// of the clock. It can be played in any environment, so that shrinking can leave out other steps.
type step struct {
	// instruction is nil if the step is of another kind.
	instruction *model.Instruction
	// description describes the step; for an instruction it describes only the defect, and is often empty.
	description string
	// mutate changes accounts outside the program.
	mutate func(*edit)
	// actor is the wallet that can make the mutation. It is zero for the mint's issuer and for restorations.
	actor model.Address
	// until is the new time, unless the clock is later already.
	until *int64
}

func waitUntil(time int64) step { return step{until: &time} }

// addSeconds returns a later time, capped at the last that fits in an i64.
func addSeconds(time, seconds int64) int64 {
	if time > 1<<63-1-seconds {
		return 1<<63 - 1
	}
	return time + seconds
}

// edit changes accounts in an environment and records their addresses.
type edit struct {
	environment *model.Environment
	changed     []model.Address
}

func (e *edit) account(address model.Address) model.Account { return e.environment.Accounts[address] }

func (e *edit) put(address model.Address, account model.Account) {
	e.environment.Accounts[address] = account
	e.changed = append(e.changed, address)
}

// transfer moves tokens and, if they are wrapped SOL, the same amount of lamports.
func (e *edit) transfer(from, to model.Address, amount uint64) {
	for _, side := range []struct {
		address model.Address
		amount  uint64
	}{{from, -amount}, {to, amount}} {
		account := e.account(side.address)
		if account.Data[nativeOffset] == 1 {
			account.Lamports += side.amount
		}
		e.put(side.address, withNumber(account, amountOffset, amountOf(account)+side.amount))
	}
}

// moveLamports moves lamports if the source holds enough.
func (e *edit) moveLamports(from, to model.Address, lamports uint64) {
	source, destination := e.account(from), e.account(to)
	if source.Lamports < lamports || from == to {
		return
	}
	source.Lamports -= lamports
	destination.Lamports += lamports
	e.put(from, source)
	e.put(to, destination)
}
