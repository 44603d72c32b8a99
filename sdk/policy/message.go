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
	// packetSize is the maximum transaction size including signatures, in bytes.
	packetSize = 1232
	// versionMark is set in a versioned message's first byte; the remaining bits are the version number.
	versionMark = 0x80
)

// parseMessage decodes legacy and version 0 messages. It returns an error if the chain would refuse to
// execute the message, or if the encoding is not canonical: lengths must use the shortest encoding, with
// nothing behind the end.
func parseMessage(data []byte) (*solana.Message, error) {
	if len(data) > 0 && data[0] > versionMark {
		return nil, fmt.Errorf("message version %d is not supported", data[0]&^versionMark)
	}
	m := new(solana.Message)
	if err := m.UnmarshalWithDecoder(bin.NewBinDecoder(data)); err != nil {
		return nil, err
	}
	if encoded, err := m.MarshalBinary(); err != nil || !bytes.Equal(encoded, data) {
		return nil, errors.Join(errors.New("message bytes are not the canonical encoding of its content"), err)
	}
	if size := 1 + int(m.Header.NumRequiredSignatures)*ed25519.SignatureSize + len(data); size > packetSize {
		return nil, fmt.Errorf("transaction too long: %d bytes, at most %d are allowed", size, packetSize)
	}
	return m, checkMessage(m)
}

// checkMessage rejects messages that the chain refuses before executing anything.
func checkMessage(m *solana.Message) error {
	signers, keys := int(m.Header.NumRequiredSignatures), len(m.AccountKeys)
	if signers == 0 || signers > keys || int(m.Header.NumReadonlySignedAccounts) >= signers ||
		int(m.Header.NumReadonlyUnsignedAccounts) > keys-signers {
		return fmt.Errorf("header does not match %d accounts", keys)
	}
	total := keys + m.NumLookups()
	for i, instruction := range m.Instructions {
		if instruction.ProgramIDIndex == 0 || int(instruction.ProgramIDIndex) >= keys {
			return fmt.Errorf("instruction %d: program index %d is not one of the message's own accounts", i, instruction.ProgramIDIndex)
		}
		for _, account := range instruction.Accounts {
			if int(account) >= total {
				return fmt.Errorf("instruction %d: account index %d is out of range (%d accounts)", i, account, total)
			}
		}
	}
	return nil
}

// accountsOf returns all message accounts, with their flags: static accounts, then the writable ones of all
// tables, then the others. It returns an error for an account that is named twice.
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
			return nil, fmt.Errorf("duplicate account %s", meta.PublicKey)
		}
		seen[meta.PublicKey] = true
	}
	return metas, nil
}
