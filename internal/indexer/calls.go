package indexer

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/internal/indexer/instructions"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// call is an instruction of the program in a transaction, also if another program sent it.
type call struct {
	instruction protocol.AnyInstruction
	// outer is the index of the enclosing top-level instruction.
	outer int
	// transfers lists the payments from the negotiation's vault in order. They are valid if hasTransfers is
	// set: some nodes do not record inner instructions.
	transfers    []transfer
	hasTransfers bool
}

// transfer is a payment from a token account.
type transfer struct {
	from, to solana.PublicKey
	amount   uint64
}

// callsOf returns the program's instructions in order. It returns false if the transaction or any instruction
// uses a later version.
func callsOf(transaction *solana.Transaction, meta *rpc.TransactionMeta) ([]call, bool) {
	if transaction == nil {
		return nil, false
	}
	executed, complete := instructions.Executed(transaction, meta)
	var calls []call
	for _, item := range executed {
		switch {
		case item.Program == protocol.ProgramID:
			instruction, err := protocol.DecodeInstruction(item.Accounts, item.Data)
			if err != nil {
				complete = false
				continue
			}
			calls = append(calls, call{
				instruction: instruction, outer: item.Outer, hasTransfers: meta.InnerInstructions != nil,
			})
		case len(calls) > 0 && calls[len(calls)-1].outer == item.Outer &&
			(item.Program == solana.TokenProgramID || item.Program == solana.Token2022ProgramID):
			// Only the program signs for the vault, so the payments belong to the previous call.
			calls[len(calls)-1].addTransfers(transfersIn(item.Accounts, item.Data))
		}
	}
	return calls, complete && transfersAreComplete(calls, instructions.Keys(transaction, meta), meta)
}

// The instructions of the token programs that the program sends.
const (
	tokenTransfer = 3
	tokenBatch    = 255
)

// transfersIn returns the transfers in a token program instruction. A batch contains a header for each
// instruction: the number of accounts, and the data length.
func transfersIn(accounts []*solana.AccountMeta, data []byte) (transfers []transfer) {
	switch {
	case len(data) == 9 && data[0] == tokenTransfer && len(accounts) >= 3:
		return []transfer{{accounts[0].PublicKey, accounts[1].PublicKey, binary.LittleEndian.Uint64(data[1:])}}
	case len(data) > 0 && data[0] == tokenBatch:
		for data = data[1:]; len(data) >= 2; {
			count, length := int(data[0]), int(data[1])
			if data = data[2:]; len(data) < length || len(accounts) < count {
				return transfers
			}
			transfers = append(transfers, transfersIn(accounts[:count], data[:length])...)
			accounts, data = accounts[count:], data[length:]
		}
	}
	return transfers
}

func (c *call) addTransfers(transfers []transfer) {
	vault := c.vault()
	for _, item := range transfers {
		if item.from == vault {
			c.transfers = append(c.transfers, item)
		}
	}
}

// vault returns the account that the program pays tokens from; zero if the instruction cannot pay any.
func (c *call) vault() solana.PublicKey {
	for _, payment := range c.instruction.Effects().Payments {
		if payment.From == protocol.RoleProgram && !payment.Mint.IsZero() {
			return payment.Source
		}
	}
	return solana.PublicKey{}
}

// transfersAreComplete reports whether no vault lost more than the transfers from it. Anyone can pay into a
// vault, so a vault can have lost less.
func transfersAreComplete(calls []call, keys []solana.PublicKey, meta *rpc.TransactionMeta) bool {
	before, isBefore := balances(meta.PreTokenBalances)
	after, isAfter := balances(meta.PostTokenBalances)
	if !isBefore || !isAfter {
		return false
	}
	paid := make(map[solana.PublicKey]uint64)
	for _, item := range calls {
		vault := item.vault()
		if vault.IsZero() || !item.hasTransfers {
			continue
		}
		sum := paid[vault]
		for _, payment := range item.transfers {
			sum += payment.amount
		}
		paid[vault] = sum
	}
	for i, key := range keys {
		if sum, isVault := paid[key]; isVault && before[i] > after[i] && before[i]-after[i] > sum {
			return false
		}
	}
	return true
}

func balances(listed []rpc.TokenBalance) (map[int]uint64, bool) {
	amounts := make(map[int]uint64, len(listed))
	for _, item := range listed {
		var amount uint64
		if item.UiTokenAmount == nil {
			return nil, false
		}
		if _, err := fmt.Sscan(item.UiTokenAmount.Amount, &amount); err != nil {
			return nil, false
		}
		amounts[int(item.AccountIndex)] = amount
	}
	return amounts, true
}

// placeholder returns the row that replaces an instruction's unknown events.
func (c *call) placeholder() (readEvent, error) {
	row := readEvent{name: logsTruncated, instruction: &c.outer}
	if address := c.instruction.Effects().Negotiation; !address.IsZero() {
		row.negotiation = &address
	}
	created, begins := c.instruction.(*protocol.CreateNegotiation)
	row.begins = begins
	described := map[string]string{"instruction": c.instruction.InstructionName()}
	if begins {
		described["buyer"], described["seller"] = created.Buyer.String(), created.Seller.String()
		described["token_mint"], described["session_id"] = created.TokenMint.String(), fmt.Sprint(created.SessionID)
		described["escrow_amount"] = fmt.Sprint(created.Params.EscrowAmount)
	}
	object, err := json.Marshal(described)
	row.fields = string(object)
	return row, err
}
