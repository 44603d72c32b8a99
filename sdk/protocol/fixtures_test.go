package protocol_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// fixtures contains the wire format of the program's own structs (testdata/fixtures.json, written by make
// idl).
type fixtures struct {
	Program              string
	Accounts             []fixture
	Events               []fixture
	Instructions         []fixture
	ConfigAddress        derived              `json:"config_address"`
	NegotiationAddresses []derivedNegotiation `json:"negotiation_addresses"`
	TermsHashes          []termsHash          `json:"terms_hashes"`
}

// fixture contains a struct's bytes and values.
type fixture struct {
	Name, Set string
	Data      hexBytes
	Fields    map[string]any
	Metas     []fixtureMeta
}

type fixtureMeta struct {
	Name             string
	Address          solana.PublicKey
	Writable, Signer bool
	LeftOut          bool `json:"left_out"`
}

type derived struct {
	Address solana.PublicKey
	Bump    uint8
}

type derivedNegotiation struct {
	Buyer, Seller      solana.PublicKey
	SessionID          uint64 `json:"session_id"`
	Negotiation, Vault solana.PublicKey
	Bump               uint8
	VaultBump          uint8 `json:"vault_bump"`
}

type termsHash struct {
	Address       solana.PublicKey
	Account, Hash hexBytes
}

type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

func (f fixture) title() string { return f.Name + "/" + f.Set }

func loadFixtures(t testing.TB) fixtures {
	t.Helper()
	file, err := os.Open("testdata/fixtures.json")
	require.NoError(t, err)
	defer file.Close()
	decoder := json.NewDecoder(file)
	decoder.UseNumber()
	var all fixtures
	require.NoError(t, decoder.Decode(&all))
	return all
}

// instructionMetas returns the fixture's accounts as in a transaction.
func (f fixture) instructionMetas() solana.AccountMetaSlice {
	var metas solana.AccountMetaSlice
	for _, m := range f.Metas {
		metas = append(metas, solana.NewAccountMeta(m.Address, m.Writable, m.Signer))
	}
	return metas
}

// newRecord returns an empty account or event.
func newRecord(t testing.TB, name string) record {
	t.Helper()
	for _, empty := range []record{
		new(protocol.Negotiation), new(protocol.ProtocolConfig),
		new(protocol.ConfigInitialized), new(protocol.NegotiationCreated), new(protocol.InvitationAccepted),
		new(protocol.OfferSubmitted), new(protocol.OfferAccepted), new(protocol.NegotiationSettled),
		new(protocol.NegotiationExpired), new(protocol.NegotiationRejected), new(protocol.PayoutRecorded),
		new(protocol.PayoutClaimed), new(protocol.NegotiationClosed), new(protocol.ConfigUpdated),
		new(protocol.ZopaCommitted), new(protocol.ZopaRevealed), new(protocol.BondSettled),
		new(protocol.MilestoneClaimed), new(protocol.MilestoneReleased), new(protocol.MilestoneDisputed),
		new(protocol.DisputeResolved), new(protocol.DeadlineSettled), new(protocol.AgreementSettled),
	} {
		if reflect.TypeOf(empty).Elem().Name() == name {
			return empty
		}
	}
	require.FailNow(t, "no such account or event", name)
	return nil
}

// record is an account or an event.
type record interface {
	Decode(data []byte) error
	AppendTo(dst []byte) []byte
}

// shown returns a Go value in the notation of the fixtures.
func shown(value any) any {
	switch value := value.(type) {
	case uint8, uint16, uint32, uint64, int64:
		return json.Number(fmt.Sprint(value))
	case [32]byte:
		return hex.EncodeToString(value[:])
	case [64]byte:
		return hex.EncodeToString(value[:])
	case [8]uint16:
		numbers := make([]any, len(value))
		for i, n := range value {
			numbers[i] = json.Number(fmt.Sprint(n))
		}
		return numbers
	case protocol.NegotiationParams:
		return shownFields(value)
	case fmt.Stringer:
		return value.String()
	}
	return value
}

// shownFields returns a struct's fields in the notation of the fixtures, without the fields in skip.
func shownFields(value any, skip ...fixtureMeta) map[string]any {
	v := reflect.Indirect(reflect.ValueOf(value))
	fields := map[string]any{}
	for i := len(skip); i < v.NumField(); i++ {
		fields[snakeCase(v.Type().Field(i).Name)] = shown(v.Field(i).Interface())
	}
	return fields
}

// snakeCase returns a Go name in the notation of the IDL.
func snakeCase(name string) string {
	name = strings.ReplaceAll(name, "ID", "Id")
	var out strings.Builder
	for i, r := range name {
		if i > 0 && 'A' <= r && r <= 'Z' {
			out.WriteByte('_')
		}
		out.WriteRune(r)
	}
	return strings.ToLower(out.String())
}
