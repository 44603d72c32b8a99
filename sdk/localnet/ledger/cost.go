package ledger

import (
	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// Sizes counted by the runtime per transaction account and lookup table, in bytes.
const (
	accountBaseSize = 64
	tableBaseSize   = 8248
)

// The costs of Agave's cost model, in compute units.
const (
	signatureCost  = 720
	writeLockCost  = 300
	bytesPerUnit   = 4
	loadedPageSize = 32 * 1024
	loadedPageCost = 8
)

// loadedBytes returns the size in bytes of all accounts loaded by a transaction. Program data counts once,
// even if the transaction does not name it.
func (l *Ledger) loadedBytes(message *solana.Message, keys []solana.PublicKey) uint32 {
	size := tableBaseSize * len(message.AddressTableLookups)
	counted := map[solana.PublicKey]bool{solana.SysVarInstructionsPubkey: true}
	add := func(key solana.PublicKey) {
		if account := l.accounts[key]; account != nil && !counted[key] {
			size += accountBaseSize + len(account.Data)
		}
		counted[key] = true
	}
	for _, key := range keys {
		add(key)
	}
	for _, key := range keys {
		if account := l.accounts[key]; account != nil {
			if data, is := engine.ProgramData(*account); is {
				add(data)
			}
		}
	}
	return uint32(size)
}

// Cost returns an executed transaction's share of the block limit, in compute units.
func (t *Transaction) Cost() uint64 {
	message := &t.Decoded.Message
	header := message.Header
	writable := len(t.Keys) - len(t.LoadedReadonly) - int(header.NumReadonlySignedAccounts) -
		int(header.NumReadonlyUnsignedAccounts)
	data := 0
	for _, instruction := range message.Instructions {
		data += len(instruction.Data)
	}
	pages := (int(t.LoadedBytes) + loadedPageSize - 1) / loadedPageSize
	return t.Result.ComputeUnits + uint64(
		signatureCost*len(t.Decoded.Signatures)+writeLockCost*writable+data/bytesPerUnit+loadedPageCost*pages)
}
