package ledger

import (
	"encoding/binary"

	"github.com/gagliardetto/solana-go"
)

const (
	tableHeader = 56
	// tableDeactivation is the offset of a table's deactivation slot; the largest number stands for never.
	tableDeactivation = 4
)

// lookup resolves the message's address lookup tables.
func (l *Ledger) lookup(message *solana.Message) (writable, readonly []solana.PublicKey, err error) {
	for _, reference := range message.AddressTableLookups {
		account := l.accounts[reference.AccountKey]
		if account == nil {
			return nil, nil, refused("AddressLookupTableNotFound")
		}
		if account.Owner != solana.AddressLookupTableProgramID {
			return nil, nil, refused("InvalidAddressLookupTableOwner")
		}
		if len(account.Data) < tableHeader || binary.LittleEndian.Uint32(account.Data) != 1 {
			return nil, nil, refused("InvalidAddressLookupTableData")
		}
		deactivated := binary.LittleEndian.Uint64(account.Data[tableDeactivation:])
		if deactivated+slotHashesLimit < l.head().Slot && deactivated+slotHashesLimit > deactivated {
			return nil, nil, refused("AddressLookupTableNotFound")
		}
		for _, part := range []struct {
			indexes []byte
			keys    *[]solana.PublicKey
		}{{reference.WritableIndexes, &writable}, {reference.ReadonlyIndexes, &readonly}} {
			for _, index := range part.indexes {
				from := tableHeader + len(solana.PublicKey{})*int(index)
				if from+len(solana.PublicKey{}) > len(account.Data) {
					return nil, nil, refused("InvalidAddressLookupTableIndex")
				}
				*part.keys = append(*part.keys, solana.PublicKeyFromBytes(account.Data[from:from+len(solana.PublicKey{})]))
			}
		}
	}
	return writable, readonly, nil
}
