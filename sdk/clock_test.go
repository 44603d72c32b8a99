package haggle

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestNowIsTheChainsClock(t *testing.T) {
	data := make([]byte, clockSize)
	data[0], data[clockOffsetUnixTime], data[clockOffsetUnixTime+1] = 9, 0x10, 0x27
	now, err := clientOf(t, storedAccount(sysvarOwner, data)).Now(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 10_000, now)
	_, err = clientOf(t, storedAccount(sysvarOwner, data[:39])).Now(t.Context())
	require.ErrorIs(t, err, protocol.ErrWrongLength)
}
