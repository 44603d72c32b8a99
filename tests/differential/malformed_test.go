package differential

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// malformed returns an instruction with a single defect, and the defect's description.
func (s *scenario) malformed(call model.Instruction) (model.Instruction, string) {
	changed := model.Instruction{Program: call.Program, Accounts: slices.Clone(call.Accounts),
		Data: slices.Clone(call.Data)}
	index := s.IntN(len(call.Accounts))
	meta := &changed.Accounts[index]
	switch s.IntN(20) {
	case 0, 1:
		meta.IsSigner = false
		return changed, fmt.Sprintf("account %d does not sign", index)
	case 2, 3:
		meta.IsWritable = false
		return changed, fmt.Sprintf("account %d is read-only", index)
	case 4, 5:
		return s.withAccount(changed, index, s.anyAccount())
	case 6, 16, 17:
		return s.withAccount(changed, min(index, 1), pick(s.random, s.participants.malformed...))
	case 7:
		other := s.IntN(len(call.Accounts))
		meta.PublicKey = call.Accounts[other].PublicKey
		return changed, fmt.Sprintf("account %d repeats account %d", index, other)
	case 8, 9:
		other := s.IntN(len(call.Accounts))
		*meta, changed.Accounts[other] = changed.Accounts[other], *meta
		return changed, fmt.Sprintf("accounts %d and %d are swapped", index, other)
	case 10, 18:
		session := pick(s.random, s.participants.sessions...)
		return s.withAccount(changed, index, pick(s.random, session.negotiation, session.vault,
			session.currency.mint, session.currency.program, session.currency.tokens[session.parties[0]][0]))
	case 11:
		changed.Accounts = changed.Accounts[:index]
		return changed, fmt.Sprintf("only %d accounts", index)
	case 12, 13:
		description := s.malformData(&changed)
		return changed, description
	case 14:
		if s.percent(40) {
			changed.Program = impostor
			return changed, "sent to the impostor"
		}
		meta.PublicKey = model.ProgramID
		return changed, fmt.Sprintf("account %d is left out", index)
	case 15:
		// A signer that the instruction does not declare, such as the fee payer.
		meta.IsSigner = true
		return changed, fmt.Sprintf("account %d signs", index)
	}
	if s.percent(50) {
		// If an instruction transfers tokens, the last accounts are the mint and the token program.
		index = max(0, len(call.Accounts)-1-s.IntN(2))
		return s.withAccount(changed, index,
			pick(s.random, solana.TokenProgramID, solana.Token2022ProgramID,
				s.participants.unsupported[0].mint))
	}
	session := pick(s.random, s.participants.sessions...)
	extra := pick(s.random, s.participants.adversary, session.parties[0], session.parties[1])
	changed.Accounts = append(changed.Accounts, solana.AccountMeta{PublicKey: extra, IsSigner: s.percent(50)})
	return changed, "additional account " + s.participants.name(extra)
}

func (s *scenario) withAccount(call model.Instruction, index int,
	address model.Address) (model.Instruction, string) {
	call.Accounts[index].PublicKey = address
	return call, fmt.Sprintf("account %d is %s", index, s.participants.name(address))
}

// malformData changes an instruction's data and returns a description.
func (s *scenario) malformData(call *model.Instruction) string {
	switch s.IntN(5) {
	case 0:
		call.Data = call.Data[:s.IntN(8)]
		return "data shorter than a discriminator"
	case 1:
		call.Data[s.IntN(8)] ^= 1 << s.IntN(8)
		return "other discriminator"
	case 2:
		call.Data = call.Data[:len(call.Data)-1]
		return "data one byte short"
	case 3:
		call.Data = append(call.Data, 0)
		return "data one byte long"
	}
	at := s.IntN(len(call.Data))
	call.Data[at] = byte(s.IntN(256))
	return fmt.Sprintf("byte %d of the data is %d", at, call.Data[at])
}

// anyAccount returns a random account. The order of choices depends only on the sequence.
func (s *scenario) anyAccount() model.Address {
	addresses := slices.SortedFunc(maps.Keys(s.environment.Accounts), compareAddresses)
	return pick(s.random, addresses...)
}
