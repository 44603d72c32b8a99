package haggle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTermsAreReadAsTheyWereWritten(t *testing.T) {
	terms := Terms{QualityTier: 3, SLAMillis: 1_500, Quantity: 10_000, StrategyHash: ServiceHash("linear"), BenchmarkPrice: 3_000_000}
	metadata := terms.Metadata()
	assert.Equal(t, []byte{1, 3, 0xdc, 0x05, 0, 0, 0x10, 0x27, 0, 0}, metadata[:10])
	assert.Equal(t, []byte{0xc0, 0xc6, 0x2d, 0, 0, 0, 0, 0}, metadata[42:50])
	assert.Equal(t, make([]byte, 14), metadata[50:])

	read, err := DecodeMetadata(metadata)
	require.NoError(t, err)
	assert.Equal(t, &terms, read)
	assert.Equal(t, 1500*time.Millisecond, read.SLA())
}

func TestMetadataThatSaysNothing(t *testing.T) {
	terms, err := DecodeMetadata([64]byte{})
	require.NoError(t, err)
	assert.Nil(t, terms)
}

func TestEachByteIsAcceptedOnlyWhereItsKindUsesIt(t *testing.T) {
	for kind := range 256 {
		for at := 1; at < 64; at++ {
			metadata := [64]byte{0: byte(kind)}
			metadata[at] = 0xff
			_, err := DecodeMetadata(metadata)
			if kind == 1 && at < 50 {
				require.NoError(t, err, "kind %d, byte %d", kind, at)
			} else {
				require.ErrorIs(t, err, ErrMetadata, "kind %d, byte %d", kind, at)
			}
		}
	}
}
