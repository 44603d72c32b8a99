package protocol_test

import (
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// fuzzRecord: no bytes make a decoder panic, and encoding a decoded value returns its bytes.
func fuzzRecord(f *testing.F, name string, empty func() record) {
	all := loadFixtures(f)
	for _, seed := range append(all.Accounts, all.Events...) {
		if seed.Name == name {
			f.Add([]byte(seed.Data))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		value := empty()
		if value.Decode(data) == nil {
			require.Equal(t, data, value.AppendTo(nil))
		}
	})
}

func FuzzDecodeNegotiation(f *testing.F) {
	fuzzRecord(f, "Negotiation", func() record { return new(protocol.Negotiation) })
}

func FuzzDecodeProtocolConfig(f *testing.F) {
	fuzzRecord(f, "ProtocolConfig", func() record { return new(protocol.ProtocolConfig) })
}

func FuzzDecodeEvent(f *testing.F) {
	for _, seed := range loadFixtures(f).Events {
		f.Add([]byte(seed.Data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		event, err := protocol.DecodeEvent(data)
		require.Equal(t, err != nil, event == nil)
		if err == nil {
			require.Equal(t, data, event.AppendTo(nil))
		}
	})
}

func FuzzDecodeInstruction(f *testing.F) {
	for _, seed := range loadFixtures(f).Instructions {
		var keys []byte
		for _, meta := range seed.Metas {
			keys = append(keys, meta.Address[:]...)
		}
		f.Add([]byte(seed.Data), keys)
	}
	f.Fuzz(func(t *testing.T, data, keys []byte) {
		var metas []*solana.AccountMeta
		for ; len(keys) >= 32; keys = keys[32:] {
			metas = append(metas, solana.NewAccountMeta(solana.PublicKeyFromBytes(keys[:32]), true, true))
		}
		instruction, err := protocol.DecodeInstruction(metas, data)
		require.Equal(t, err != nil, instruction == nil)
		if err == nil {
			require.Equal(t, data, instruction.AppendData(nil))
			requireRoundTrip(t, instruction)
		}
	})
}

// requireRoundTrip builds the instruction, decodes it and builds the result: both builds are equal.
func requireRoundTrip(t *testing.T, instruction protocol.AnyInstruction) {
	t.Helper()
	built, err := instruction.Instruction()
	if err != nil {
		return // a required account is zero
	}
	data, err := built.Data()
	require.NoError(t, err)
	decoded, err := protocol.DecodeInstruction(built.Accounts(), data)
	require.NoError(t, err)
	again, err := decoded.Instruction()
	require.NoError(t, err)
	require.Equal(t, built, again)
}

func FuzzParseLogs(f *testing.F) {
	f.Add(strings.Join([]string{"Program " + us + " invoke [1]", logged(offer(1)), "Program " + us + " success"}, "\n"))
	f.Add(strings.Join([]string{
		"Program " + router + " invoke [1]", "Program log: x",
		"Program " + us + " invoke [2]", logged(offer(4)), "Program " + us + " success",
		"Program return: " + us + " AA==", "Program " + router + " success",
	}, "\n"))
	f.Add("Program " + us + " invoke [1]\nLog truncated\nProgram " + us + " failed: x")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		events, _ := protocol.ParseLogs(lines)
		for _, event := range events {
			require.Contains(t, lines, logged(event), "an event that is not in the logs")
		}
		if !strings.Contains(text, "Program "+us+" invoke [") {
			require.Empty(t, events, "an event although the program was not called")
		}
	})
}
