package policy_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Bytes that do not fully parse are denied, as are messages that the chain would refuse.
func TestMessagesThatAreNone(t *testing.T) {
	s := newStage(t)
	honest := s.message(s.create(friend, 1, 1))
	change := func(at int, value byte) []byte {
		message := bytes.Clone(honest)
		message[at] = value
		return message
	}
	keys := int(honest[3])
	instructions := 4 + 32*keys + 32
	for name, message := range map[string][]byte{
		"nothing":                      nil,
		"a byte more":                  append(bytes.Clone(honest), 0),
		"another version":              append(append([]byte{0x81}, honest...), 0),
		"no signer":                    change(0, 0),
		"more signers than accounts":   change(0, byte(keys+1)),
		"a payer that cannot pay":      change(1, 1),
		"more readonly than there are": change(2, byte(keys)),
		"an account twice":             append(append(bytes.Clone(honest[:36]), honest[4:36]...), honest[68:]...),
		"a length in two bytes":        append(append(bytes.Clone(honest[:3]), byte(keys)|0x80, 0), honest[4:]...),
		"a length without end":         append(append(bytes.Clone(honest[:3]), 0xff, 0xff, 0xff), honest[4:]...),
		"too many instructions":        change(instructions, 2),
		"a program that pays":          change(instructions+1, 0),
		"a program that is not there":  change(instructions+1, byte(keys)),
		"an account that is not there": change(instructions+3, byte(keys)),
		"garbage":                      bytes.Repeat([]byte{0xff}, 200),
		"somebody else's":              s.messageFor(friend, s.build(&protocol.SubmitOffer{Offerer: friend, Negotiation: thief, Amount: 1})),
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			s.deniedMessage(policy.RuleMessage, message)
		})
	}
	s.t = t
	for size := range honest {
		s.deniedMessage(policy.RuleMessage, honest[:size])
	}
	var many []solana.Instruction
	for range 60 {
		many = append(many, s.createAssociated(s.wallet(), s.wallet(), mint))
	}
	require.ErrorContains(t, s.denied(policy.RuleMessage, append(many, s.create(friend, 1, 1))...), "transaction too long")
	require.NoError(t, s.signMessage(honest))
}

// tables is a Tables with some tables.
type tables map[solana.PublicKey][]solana.PublicKey

func (t tables) Table(_ context.Context, table solana.PublicKey) ([]solana.PublicKey, error) {
	addresses, ok := t[table]
	if !ok {
		return nil, errors.New("no such table")
	}
	return addresses, nil
}

// versioned returns a version 0 message taking as many accounts as possible from a table.
func (s *stage) versioned(table solana.PublicKey, addresses []solana.PublicKey, instructions ...solana.Instruction) []byte {
	s.t.Helper()
	s.blockhashes++
	transaction, err := solana.NewTransaction(instructions, solana.Hash{byte(s.blockhashes)}, solana.TransactionPayer(s.wallet()),
		solana.TransactionAddressTables(map[solana.PublicKey]solana.PublicKeySlice{table: addresses}))
	require.NoError(s.t, err)
	message, err := transaction.Message.MarshalBinary()
	require.NoError(s.t, err)
	require.EqualValues(s.t, 0x80, message[0])
	return message
}

// A table can hide a payment destination. If Tables does not return the table, nothing is signed.
func TestLookupTables(t *testing.T) {
	table := solana.MustPublicKeyFromBase58("CrRH7yUPvnj9wNXN8SWwDTxeZy4EZGEZ3F7bv6pMQJbm")
	addresses := []solana.PublicKey{thief, friend, mint}
	s := newStage(t)
	deposit := s.create(friend, 1, 1_000_000)
	s.deniedMessage(policy.RuleLookupTable, s.versioned(table, addresses, deposit))
	s.config.Tables = tables{}
	s.restart()
	s.deniedMessage(policy.RuleLookupTable, s.versioned(table, addresses, deposit))
	s.config.Tables = tables{table: addresses[:1]}
	s.restart()
	s.deniedMessage(policy.RuleLookupTable, s.versioned(table, addresses, deposit))
	s.config.Tables = tables{table: {thief, s.wallet(), mint}}
	s.restart()
	s.deniedMessage(policy.RuleLookupTable, s.versioned(table, addresses, deposit)) // the wallet would be in it twice
	s.config.Tables = tables{table: {friend, thief, mint}}
	s.restart()
	s.deniedMessage(policy.RuleNegotiation, s.versioned(table, addresses, deposit)) // the negotiation invites the thief
	s.config.Tables = tables{table: addresses}
	s.restart()
	message := s.versioned(table, addresses, deposit)
	s.deniedMessage(policy.RuleMessage, append(message, 0))
	require.NoError(t, s.signMessage(message))
	require.EqualValues(t, 1_000_000, s.policy.UsedWith(friend, mint))
	require.EqualValues(t, 1_000_000, s.policy.Used(mint))
}

// Writable table accounts come before all read-only table accounts.
func TestLookupTablesWritableFirst(t *testing.T) {
	table := solana.MustPublicKeyFromBase58("CrRH7yUPvnj9wNXN8SWwDTxeZy4EZGEZ3F7bv6pMQJbm")
	s := newStage(t, allowing(policy.TransferLamports))
	addresses := []solana.PublicKey{mint, friend}
	s.config.Tables = tables{table: addresses}
	s.restart()
	require.NoError(t, s.signMessage(s.versioned(table, addresses, transferLamports(s.wallet(), friend, 7))))
	require.EqualValues(t, 7, s.policy.UsedWith(friend, solana.PublicKey{}))
}

// Version 0 messages that use no table are accepted like legacy messages.
func TestVersionedMessageWithoutTables(t *testing.T) {
	s := newStage(t)
	message := append(append([]byte{0x80}, s.message(s.create(friend, 1, 1_000_000))...), 0)
	require.NoError(t, s.signMessage(message))
	require.EqualValues(t, 1_000_000, s.policy.Used(mint))
}
