package protocol_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// strictCase is a type that is decoded from bytes: an account, an event or an instruction.
type strictCase struct {
	title  string
	data   []byte
	value  any
	decode func(data []byte) error
	encode func() []byte
}

func strictCases(t *testing.T) []strictCase {
	all := loadFixtures(t)
	var cases []strictCase
	for _, f := range append(all.Accounts, all.Events...) {
		value := newRecord(t, f.Name)
		cases = append(cases, strictCase{f.title(), f.Data, value, value.Decode, func() []byte { return value.AppendTo(nil) }})
	}
	for _, f := range all.Instructions {
		metas := f.instructionMetas()
		value, err := protocol.DecodeInstruction(metas, f.Data)
		require.NoError(t, err)
		decode := func(data []byte) error { return value.Decode(metas, data) }
		cases = append(cases, strictCase{f.title(), f.Data, value, decode, func() []byte { return value.AppendData(nil) }})
	}
	return cases
}

// refused requires an error with a reason, and that the value is unchanged.
func (c strictCase) refused(t *testing.T, data []byte, reason error) {
	t.Helper()
	before := reflect.ValueOf(c.value).Elem().Interface()
	err := c.decode(data)
	require.ErrorIs(t, err, reason)
	var typed *protocol.DecodeError
	require.ErrorAs(t, err, &typed)
	require.NotEmpty(t, typed.Error())
	require.Equal(t, before, reflect.ValueOf(c.value).Elem().Interface())
}

func TestEveryOtherLengthIsRefused(t *testing.T) {
	for _, c := range strictCases(t) {
		t.Run(c.title, func(t *testing.T) {
			for n := range c.data {
				c.refused(t, c.data[:n:n], protocol.ErrWrongLength)
			}
			c.refused(t, append(append([]byte{}, c.data...), 0), protocol.ErrWrongLength)
			require.NoError(t, c.decode(c.data))
		})
	}
}

func TestEveryWrongBitOfTheDiscriminatorIsRefused(t *testing.T) {
	for _, c := range strictCases(t) {
		t.Run(c.title, func(t *testing.T) {
			for bit := range 64 {
				data := append([]byte{}, c.data...)
				data[bit/8] ^= 1 << (bit % 8)
				c.refused(t, data, protocol.ErrWrongDiscriminator)
			}
		})
	}
}

// Every byte is given every value: either it is rejected as out of range, or encoding returns the same bytes.
// Exactly the flags and enums reject values, and their numbers of valid values match.
func TestEveryValueOfEveryByteIsKeptOrRefused(t *testing.T) {
	ranged := map[string]int{}
	for _, c := range strictCases(t) {
		data := append([]byte{}, c.data...)
		for at := 8; at < len(data); at++ {
			refused, field := 0, ""
			for value := range 256 {
				data[at] = byte(value)
				if err := c.decode(data); err != nil {
					c.refused(t, data, protocol.ErrOutOfRange)
					var typed *protocol.DecodeError
					errors.As(err, &typed)
					refused, field = refused+1, typed.Type+"."+typed.Field
					continue
				}
				if string(c.encode()) != string(data) {
					require.Equal(t, data, c.encode(), c.title)
				}
			}
			data[at] = c.data[at]
			if refused > 0 {
				ranged[field] = 256 - refused
			}
		}
	}
	require.Equal(t, map[string]int{
		"BondSettled.Reason":                    4,
		"Negotiation.Status":                    7,
		"Negotiation.OfferSide":                 2,
		"Negotiation.ZopaEnabled":               2,
		"Negotiation.ZopaPhase":                 5,
		"Negotiation.BondState":                 5,
		"ProtocolConfig.IsPaused":               2,
		"ConfigInitialized.IsPaused":            2,
		"ConfigUpdated.IsPaused":                2,
		"NegotiationCreated.ZopaEnabled":        2,
		"ZopaCommitted.Phase":                   5,
		"ZopaRevealed.Phase":                    5,
		"set_paused.Paused":                     2,
		"create_negotiation.Params.ZopaEnabled": 2,
	}, ranged)
}

func TestUnknownEventsAndInstructionsAreRefused(t *testing.T) {
	for _, data := range [][]byte{nil, {1}, make([]byte, 7)} {
		_, err := protocol.DecodeEvent(data)
		require.ErrorIs(t, err, protocol.ErrWrongLength)
		_, err = protocol.DecodeInstruction(nil, data)
		require.ErrorIs(t, err, protocol.ErrWrongLength)
	}
	_, err := protocol.DecodeEvent(make([]byte, 8))
	require.ErrorIs(t, err, protocol.ErrWrongDiscriminator)
	_, err = protocol.DecodeInstruction(nil, make([]byte, 8))
	require.ErrorIs(t, err, protocol.ErrWrongDiscriminator)
}

func TestInstructionsNeedTheirAccounts(t *testing.T) {
	for _, f := range loadFixtures(t).Instructions {
		metas := f.instructionMetas()
		for n := range metas {
			_, err := protocol.DecodeInstruction(metas[:n], f.Data)
			require.ErrorIs(t, err, protocol.ErrTooFewAccounts)
		}
		more := append(metas, solana.NewAccountMeta(protocol.ProgramID, false, false))
		_, err := protocol.DecodeInstruction(more, f.Data)
		require.NoError(t, err, "the program passes over further accounts")
	}
}

func TestDecodingDoesNotAllocate(t *testing.T) {
	for _, c := range strictCases(t) {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if err := c.decode(c.data); err != nil {
				panic(err)
			}
		}), c.title)
	}
}
