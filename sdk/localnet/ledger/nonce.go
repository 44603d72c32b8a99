package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/gagliardetto/solana-go"
)

// Layout of nonce accounts: version, state, authority, value and fee.
const (
	nonceSize         = 80
	nonceInitialized  = 1
	nonceValue        = 40
	advanceNonce      = 4
	discriminatorSize = 4
)

// durableNonce returns the nonce account advanced by a transaction, and whether this transaction uses the nonce
// as blockhash.
func (l *Ledger) durableNonce(message *solana.Message) (solana.PublicKey, bool) {
	if len(message.Instructions) == 0 {
		return solana.PublicKey{}, false
	}
	first := message.Instructions[0]
	if message.AccountKeys[first.ProgramIDIndex] != solana.SystemProgramID || len(first.Accounts) == 0 ||
		len(first.Data) < discriminatorSize || binary.LittleEndian.Uint32(first.Data) != advanceNonce ||
		int(first.Accounts[0]) >= len(message.AccountKeys) {
		return solana.PublicKey{}, false
	}
	address := message.AccountKeys[first.Accounts[0]]
	account := l.accounts[address]
	if account == nil || account.Owner != solana.SystemProgramID || len(account.Data) != nonceSize ||
		binary.LittleEndian.Uint32(account.Data[discriminatorSize:]) != nonceInitialized {
		return address, false
	}
	return address, bytes.Equal(account.Data[nonceValue:nonceValue+32], message.RecentBlockhash[:])
}

// advance stores the next nonce value. The runtime does this even if the transaction fails, but the engine
// does not.
func (l *Ledger) advance(address solana.PublicKey) error {
	stored, err := l.engine.Account(address)
	if err != nil || !stored.Exists() {
		return err
	}
	hash := l.parent().Hash
	next := sha256.Sum256(append([]byte("DURABLE_NONCE"), hash[:]...))
	copy(stored.Data[nonceValue:], next[:])
	if err := l.engine.SetAccount(address, stored); err != nil {
		return err
	}
	l.mirror(address, stored)
	return nil
}
