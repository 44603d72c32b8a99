package protocol_test

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestAccountsAndEventsAreAsTheProgramWritesThem(t *testing.T) {
	all := loadFixtures(t)
	require.Equal(t, all.Program, protocol.ProgramAddress)
	for _, f := range append(all.Accounts, all.Events...) {
		t.Run(f.title(), func(t *testing.T) {
			value := newRecord(t, f.Name)
			require.NoError(t, value.Decode(f.Data))
			require.Equal(t, f.Fields, shownFields(value))
			require.Equal(t, []byte(f.Data), value.AppendTo(nil))
		})
	}
}

func TestEventsAreRecognised(t *testing.T) {
	for _, f := range loadFixtures(t).Events {
		event, err := protocol.DecodeEvent(f.Data)
		require.NoError(t, err)
		require.Equal(t, f.Name, event.EventName())
		require.Equal(t, f.Fields, shownFields(event))

		address, about := event.NegotiationAddress()
		id, hasID := f.Fields["negotiation_id"]
		require.Equal(t, hasID, about, f.Name)
		if about {
			require.Equal(t, id, address.String())
		}
	}
}

func TestInstructionsAreAsTheProgramReadsThem(t *testing.T) {
	for _, f := range loadFixtures(t).Instructions {
		t.Run(f.title(), func(t *testing.T) {
			decoded, err := protocol.DecodeInstruction(f.instructionMetas(), f.Data)
			require.NoError(t, err)
			require.Equal(t, f.Name, decoded.InstructionName())
			require.Equal(t, f.Fields, shownFields(decoded, f.Metas...))
			requireAccounts(t, f, decoded)
			requireBuilds(t, f, decoded)
		})
	}
}

// requireAccounts compares the accounts by name; omitted ones are zero.
func requireAccounts(t *testing.T, f fixture, instruction protocol.AnyInstruction) {
	t.Helper()
	for i, meta := range f.Metas {
		field := reflect.ValueOf(instruction).Elem().Type().Field(i)
		require.Equal(t, meta.Name, snakeCase(field.Name))
		want := meta.Address
		if meta.LeftOut {
			want = solana.PublicKey{}
		}
		require.Equal(t, want, reflect.ValueOf(instruction).Elem().Field(i).Interface())
	}
}

func requireBuilds(t *testing.T, f fixture, instruction protocol.AnyInstruction) {
	t.Helper()
	built, err := instruction.Instruction()
	require.NoError(t, err)
	data, err := built.Data()
	require.NoError(t, err)
	require.Equal(t, protocol.ProgramID, built.ProgramID())
	require.Equal(t, []byte(f.Data), data)
	require.Equal(t, []*solana.AccountMeta(f.instructionMetas()), built.Accounts())
}

// Derived and constant accounts may be omitted: the built instruction is the same.
func TestInstructionsDeriveOmittedAccounts(t *testing.T) {
	known := map[string][]string{
		"initialize_config":      {"Config", "ProgramData", "SystemProgram"},
		"update_config":          {"Config"},
		"set_paused":             {"Config"},
		"propose_authority":      {"Config"},
		"accept_authority":       {"Config"},
		"create_negotiation":     {"Negotiation", "EscrowVault", "Config", "SystemProgram"},
		"accept_invitation":      {},
		"submit_zopa_commitment": {},
		"reveal_zopa_price":      {},
		"submit_offer":           {},
		"accept_offer":           {"EscrowVault"},
		"reject_negotiation":     {"EscrowVault"},
		"expire_negotiation":     {"EscrowVault"},
		"close_negotiation":      {"EscrowVault", "Config"},
		"claim_payout":           {"EscrowVault"},
		"claim_milestone":        {},
		"release_milestone":      {"EscrowVault"},
		"dispute_milestone":      {},
		"resolve_dispute":        {"EscrowVault"},
		"settle_deadline":        {"EscrowVault"},
		"settle_by_agreement":    {"EscrowVault"},
	}
	for _, f := range loadFixtures(t).Instructions {
		t.Run(f.title(), func(t *testing.T) {
			require.Contains(t, known, f.Name)
			instruction, err := protocol.DecodeInstruction(f.instructionMetas(), f.Data)
			require.NoError(t, err)
			for _, name := range known[f.Name] {
				reflect.ValueOf(instruction).Elem().FieldByName(name).SetZero()
			}
			requireBuilds(t, f, instruction)
		})
	}
}

func TestMissingAccountsAreNamed(t *testing.T) {
	for _, f := range loadFixtures(t).Instructions {
		for i, meta := range f.Metas {
			instruction, err := protocol.DecodeInstruction(f.instructionMetas(), f.Data)
			require.NoError(t, err)
			reflect.ValueOf(instruction).Elem().Field(i).SetZero()
			built, err := instruction.Instruction()
			if err == nil {
				require.NotContains(t, metaKeys(built), solana.PublicKey{}, "%s without %s", f.Name, meta.Name)
				continue
			}
			var missing *protocol.MissingAccountError
			require.ErrorAs(t, err, &missing)
			require.Equal(t, protocol.MissingAccountError{Instruction: f.Name, Account: meta.Name}, *missing)
		}
	}
}

// metaKeys returns the addresses of the accounts except the system program's, which is zero.
func metaKeys(instruction solana.Instruction) []solana.PublicKey {
	var keys []solana.PublicKey
	for i, meta := range instruction.Accounts() {
		if i == len(instruction.Accounts())-1 && meta.PublicKey == solana.SystemProgramID {
			continue
		}
		keys = append(keys, meta.PublicKey)
	}
	return keys
}

func TestAddressesAreTheProgramsOwn(t *testing.T) {
	all := loadFixtures(t)
	address, bump, err := protocol.FindConfigAddress()
	require.NoError(t, err)
	require.Equal(t, all.ConfigAddress, derived{address, bump})

	for _, want := range all.NegotiationAddresses {
		negotiation, bump, err := protocol.FindNegotiationAddress(want.Buyer, want.Seller, want.SessionID)
		require.NoError(t, err)
		require.Equal(t, derived{want.Negotiation, want.Bump}, derived{negotiation, bump})
		vault, bump, err := protocol.FindVaultAddress(negotiation)
		require.NoError(t, err)
		require.Equal(t, derived{want.Vault, want.VaultBump}, derived{vault, bump})
	}
}

func TestTermsHashesAreTheProgramsOwn(t *testing.T) {
	for _, want := range loadFixtures(t).TermsHashes {
		hash := protocol.TermsHash(want.Address, want.Account)
		require.Equal(t, []byte(want.Hash), hash[:])
	}
}

func TestErrorCodesHaveNames(t *testing.T) {
	require.Equal(t, "NotYourTurn", protocol.ErrNotYourTurn.Name())
	require.Equal(t, "NotYourTurn (6002): Not your turn to make an offer", protocol.ErrNotYourTurn.Error())
	require.Equal(t, "ConstraintSeeds (2006): A seeds constraint was violated", protocol.ErrConstraintSeeds.Error())
	require.Empty(t, protocol.ErrorCode(1).Name())
	require.Equal(t, "program error 1", protocol.ErrorCode(1).Error())
}

func TestEnumsHaveNames(t *testing.T) {
	require.Equal(t, "Rejected", protocol.NegotiationStatusRejected.String())
	require.True(t, protocol.NegotiationStatusRejected.Valid())
	require.Equal(t, "NegotiationStatus(7)", protocol.NegotiationStatus(7).String())
	require.False(t, protocol.NegotiationStatus(7).Valid())
}

// A field filter compares bytes at the field's offset, so the field must be there.
func TestOffsets(t *testing.T) {
	for _, f := range loadFixtures(t).Accounts {
		if f.Name != "Negotiation" {
			continue
		}
		var n protocol.Negotiation
		require.NoError(t, n.Decode(f.Data))
		require.Equal(t, n.Buyer[:], []byte(f.Data[protocol.NegotiationOffsetBuyer:][:32]))
		require.Equal(t, n.Seller[:], []byte(f.Data[protocol.NegotiationOffsetSeller:][:32]))
		require.Equal(t, byte(n.Status), f.Data[protocol.NegotiationOffsetStatus])
		require.Equal(t, n.Metadata[:], []byte(f.Data[protocol.NegotiationOffsetMetadata:][:64]))
		require.Equal(t, n.Bump, f.Data[protocol.NegotiationOffsetBump])
	}
	require.Equal(t, []int{8, 40, 72, 80, 324, 388}, []int{
		protocol.NegotiationOffsetBuyer, protocol.NegotiationOffsetSeller, protocol.NegotiationOffsetSessionID,
		protocol.NegotiationOffsetStatus, protocol.NegotiationOffsetMetadata, protocol.NegotiationOffsetBump,
	})
}

// The program's fixtures contain every type of the IDL, so that tests over the fixtures cover all types.
func TestFixturesCoverTheIDL(t *testing.T) {
	content, err := os.ReadFile("../../idl/haggle.json")
	require.NoError(t, err)
	var idl struct{ Instructions, Accounts, Events []struct{ Name string } }
	require.NoError(t, json.Unmarshal(content, &idl))
	all := loadFixtures(t)
	for _, c := range []struct {
		known    []struct{ Name string }
		fixtures []fixture
		count    int
	}{{idl.Instructions, all.Instructions, 21}, {idl.Accounts, all.Accounts, 2}, {idl.Events, all.Events, 21}} {
		require.Len(t, c.known, c.count)
		names := map[string]bool{}
		for _, f := range c.fixtures {
			names[f.Name] = true
		}
		require.Len(t, names, c.count)
		for _, row := range c.known {
			require.True(t, names[row.Name], row.Name)
		}
	}
}

func TestMissingOptionalAccountIsExplained(t *testing.T) {
	require.Equal(t, "AccountNotEnoughKeys", protocol.ErrAccountNotEnoughKeys.Name())
	require.Contains(t, protocol.ErrAccountNotEnoughKeys.Error(), "3005")
	require.Contains(t, protocol.ErrAccountNotEnoughKeys.Message(), "optional account left out")
}
