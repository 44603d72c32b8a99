package program

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
)

func TestProgramEqualsAFilePaddedWithZeros(t *testing.T) {
	file := []byte{0x7f, 'E', 'L', 'F', 0}
	for name, test := range map[string]struct {
		content []byte
		runs    bool
	}{
		"the file":               {[]byte{0x7f, 'E', 'L', 'F', 0}, true},
		"filled up":              {[]byte{0x7f, 'E', 'L', 'F', 0, 0, 0}, true},
		"followed by a byte":     {[]byte{0x7f, 'E', 'L', 'F', 0, 0, 1}, false},
		"cut short":              {[]byte{0x7f, 'E', 'L', 'F'}, false},
		"another byte":           {[]byte{0x7f, 'E', 'L', 'G', 0}, false},
		"another byte at an end": {[]byte{0x7f, 'E', 'L', 'F', 1}, false},
		"nothing":                {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.runs, (&deployedProgram{content: test.content}).runs(file))
		})
	}
}

func TestProgramDataHasTheUpgradeAuthority(t *testing.T) {
	address, authority := solana.PublicKey{1}, solana.PublicKey{9, 8, 7}
	data := append([]byte{3, 0, 0, 0, 5, 1, 0, 0, 0, 0, 0, 0, 1}, authority[:]...)
	data = append(data, 'E', 'L', 'F')
	require.Equal(t, &deployedProgram{address: address, slot: 261, authority: &authority, content: []byte("ELF")}, parseProgramData(address, data))

	data[hasAuthorityOffset] = 0
	require.Nil(t, parseProgramData(address, data).authority)
}
