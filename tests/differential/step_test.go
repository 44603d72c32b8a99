package differential

import (
	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/model"
	"github.com/haggle-protocol/haggle/sdk"
)

// step is something that happens in a sequence: an instruction, or something that nobody needs the program for. It can be
// played in any world, so that sequences stay playable when steps are left out.
type step struct {
	// call is the instruction; nil for anything else.
	call *model.Instruction
	// what says in words what happens, for an instruction only what is odd about it.
	what string
	// trick changes accounts behind the program's back.
	trick func(*edit)
	// until is when the time is, unless it is later already.
	until *int64
}

// edit changes accounts of a world and remembers which.
type edit struct {
	world   *model.World
	changed []solana.PublicKey
}

func (e *edit) account(address solana.PublicKey) model.Account { return e.world.Accounts[address] }

func (e *edit) put(address solana.PublicKey, account model.Account) {
	e.world.Accounts[address] = account
	e.changed = append(e.changed, address)
}

// transfer moves tokens, and with wrapped SOL the lamports that they are.
func (e *edit) transfer(from, to solana.PublicKey, amount uint64) {
	for _, side := range []struct {
		address solana.PublicKey
		amount  uint64
	}{{from, -amount}, {to, amount}} {
		account := e.account(side.address)
		if account.Data[nativeAt] == 1 {
			account.Lamports += side.amount
		}
		e.put(side.address, changedNumber(account, 64, amountOf(account)+side.amount))
	}
}

func (e *edit) moveLamports(from, to solana.PublicKey, lamports uint64) {
	source, destination := e.account(from), e.account(to)
	if source.Lamports < lamports || from == to {
		return
	}
	source.Lamports -= lamports
	destination.Lamports += lamports
	e.put(from, source)
	e.put(to, destination)
}

// instructionOf is an instruction as the SDK builds it.
func instructionOf(instruction haggle.AnyInstruction) *model.Instruction {
	built, err := instruction.Instruction()
	must(err)
	data, err := built.Data()
	must(err)
	call := &model.Instruction{Program: built.ProgramID(), Data: data}
	for _, meta := range built.Accounts() {
		call.Accounts = append(call.Accounts, *meta)
	}
	return call
}
