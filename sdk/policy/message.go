package policy

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"

	bin "github.com/gagliardetto/binary"
	"github.com/gagliardetto/solana-go"
)

const (
	// packetSize is the greatest size of a transaction with its signatures, in bytes.
	packetSize = 1232
	// mostAccounts is the greatest number of accounts of a message: an index is one byte.
	mostAccounts = 256
	// versionMark is set in the first byte of a message that has a version; the rest of the byte is the
	// version.
	versionMark = 0x80
)

// parseMessage decodes a legacy message or one of version 0. It returns an error for a message that the chain
// would refuse to execute, and for bytes that do not follow from the decoded message: the shortest encoding
// of each length, and nothing behind the end.
func parseMessage(data []byte) (*solana.Message, error) {
	if len(data) > 0 && data[0] > versionMark {
		return nil, fmt.Errorf("messages of version %d are not known", data[0]&^versionMark)
	}
	m := new(solana.Message)
	if err := m.UnmarshalWithDecoder(bin.NewBinDecoder(data)); err != nil {
		return nil, err
	}
	if encoded, err := m.MarshalBinary(); err != nil || !bytes.Equal(encoded, data) {
		return nil, errors.Join(errors.New("the message has other bytes than its content"), err)
	}
	if size := 1 + int(m.Header.NumRequiredSignatures)*ed25519.SignatureSize + len(data); size > packetSize {
		return nil, fmt.Errorf("the transaction would be %d bytes long, %d at most are executed", size, packetSize)
	}
	return m, checkMessage(m)
}

// checkMessage returns an error for a message that the chain refuses before it executes anything.
func checkMessage(m *solana.Message) error {
	signers, keys := int(m.Header.NumRequiredSignatures), len(m.AccountKeys)
	if signers == 0 || signers > keys || int(m.Header.NumReadonlySignedAccounts) >= signers ||
		int(m.Header.NumReadonlyUnsignedAccounts) > keys-signers {
		return fmt.Errorf("the header does not fit %d accounts", keys)
	}
	for _, lookup := range m.AddressTableLookups {
		if len(lookup.WritableIndexes)+len(lookup.ReadonlyIndexes) == 0 {
			return fmt.Errorf("nothing is taken from table %s", lookup.AccountKey)
		}
	}
	total := keys + m.NumLookups()
	if total > mostAccounts {
		return fmt.Errorf("%d accounts, at most %d can be named", total, mostAccounts)
	}
	for i, instruction := range m.Instructions {
		if instruction.ProgramIDIndex == 0 || int(instruction.ProgramIDIndex) >= keys {
			return fmt.Errorf("instruction %d calls account %d, which is not a program that the message names", i, instruction.ProgramIDIndex)
		}
		for _, account := range instruction.Accounts {
			if int(account) >= total {
				return fmt.Errorf("instruction %d takes account %d of %d", i, account, total)
			}
		}
	}
	return nil
}

// accountsOf returns all accounts that a message names, with their flags: its own, then the writable ones of
// all tables, then the others. It returns an error for an account that is named twice.
func accountsOf(ctx context.Context, m *solana.Message, reader Tables) ([]*solana.AccountMeta, error) {
	if m.NumLookups() > 0 && reader == nil {
		return nil, fmt.Errorf("table %s: Config.Tables not set", m.AddressTableLookups[0].AccountKey)
	}
	tables := map[solana.PublicKey]solana.PublicKeySlice{}
	for _, lookup := range m.AddressTableLookups {
		addresses, err := reader.Table(ctx, lookup.AccountKey)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", lookup.AccountKey, err)
		}
		tables[lookup.AccountKey] = addresses
	}
	if err := m.SetAddressTables(tables); err != nil {
		return nil, err
	}
	metas, err := m.AccountMetaList()
	if err != nil {
		return nil, err
	}
	seen := make(map[solana.PublicKey]bool, len(metas))
	for _, meta := range metas {
		if seen[meta.PublicKey] {
			return nil, fmt.Errorf("account %s is named twice", meta.PublicKey)
		}
		seen[meta.PublicKey] = true
	}
	return metas, nil
}
