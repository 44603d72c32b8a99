package protocol

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTermsRoundTrip(t *testing.T) {
	terms := Terms{QualityTier: 3, SLAMillis: 1_500, Quantity: 10_000, StrategyHash: ServiceHash("linear"), BenchmarkPrice: 3_000_000}
	metadata := terms.Metadata()
	assert.Equal(t, []byte{1, 3, 0xdc, 0x05, 0, 0, 0x10, 0x27, 0, 0}, metadata[:10])
	assert.Equal(t, []byte{0xc0, 0xc6, 0x2d, 0, 0, 0, 0, 0}, metadata[42:50])
	assert.Equal(t, make([]byte, 14), metadata[50:])

	read, err := DecodeMetadata(metadata)
	require.NoError(t, err)
	assert.Equal(t, Metadata{Terms: &terms}, read)
	assert.Equal(t, 1500*time.Millisecond, read.Terms.SLA())
}

func TestTermsDocumentRoundTrip(t *testing.T) {
	document := TermsDocument(ServiceHash("the terms"))
	metadata := document.Metadata()
	assert.EqualValues(t, 2, metadata[0])
	assert.Equal(t, document[:], metadata[1:33])
	assert.Equal(t, make([]byte, 31), metadata[33:])
	read, err := DecodeMetadata(metadata)
	require.NoError(t, err)
	assert.Equal(t, Metadata{Document: &document}, read)
}

func TestAStrategyHashIsNoTerm(t *testing.T) {
	require.True(t, IsPriceOnly([64]byte{}))
	require.True(t, IsPriceOnly(Terms{StrategyHash: ServiceHash("linear")}.Metadata()))
	require.False(t, IsPriceOnly(TermsDocument(ServiceHash("terms")).Metadata()))
	for at := range 64 {
		metadata := Terms{StrategyHash: ServiceHash("linear")}.Metadata()
		metadata[at]++
		require.Equal(t, at >= 10 && at < 42, IsPriceOnly(metadata), "byte %d", at)
	}
}

func TestEmptyMetadata(t *testing.T) {
	read, err := DecodeMetadata([64]byte{})
	require.NoError(t, err)
	assert.Zero(t, read)
}

func TestEachByteIsAcceptedOnlyWhereItsKindUsesIt(t *testing.T) {
	for kind := range 256 {
		for at := 1; at < 64; at++ {
			metadata := [64]byte{0: byte(kind)}
			metadata[at] = 0xff
			_, err := DecodeMetadata(metadata)
			if kind == 1 && at < 50 || kind == 2 && at < 33 {
				require.NoError(t, err, "kind %d, byte %d", kind, at)
			} else {
				require.ErrorIs(t, err, ErrMetadata, "kind %d, byte %d", kind, at)
			}
		}
	}
}

func TestNashBenchmarkIsThePriceThatMaximisesTheProductOfGains(t *testing.T) {
	for least := range uint64(30) {
		for most := range uint64(30) {
			price, ok := NashBenchmark(most, least)
			require.Equal(t, most >= least, ok)
			if !ok {
				continue
			}
			for other := least; other <= most; other++ {
				require.GreaterOrEqual(t, (most-price)*(price-least), (most-other)*(other-least), "%d to %d", least, most)
			}
			require.Equal(t, (most+least)/2, price)
		}
	}
	price, ok := NashBenchmark(math.MaxUint64, math.MaxUint64-1)
	require.True(t, ok)
	assert.EqualValues(t, uint64(math.MaxUint64-1), price)
}

func FuzzDecodeMetadata(f *testing.F) {
	terms := Terms{QualityTier: 3, SLAMillis: 1_500, Quantity: 10_000, StrategyHash: ServiceHash("linear"), BenchmarkPrice: 3_000_000}
	for _, seed := range [][MaxMetadataLen]byte{{}, terms.Metadata(), {2}, {2, 32: 1}, {2, 33: 1}, {3}, {63: 1}, {1, 63: 1}} {
		f.Add(seed[:])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var metadata [MaxMetadataLen]byte
		copy(metadata[:], data)
		read, err := DecodeMetadata(metadata)
		switch {
		case err != nil:
			require.ErrorIs(t, err, ErrMetadata)
			require.Zero(t, read)
		case read.Terms != nil:
			require.Equal(t, metadata, read.Terms.Metadata())
		case read.Document != nil:
			require.Equal(t, metadata, read.Document.Metadata())
		default:
			require.Equal(t, [MaxMetadataLen]byte{}, metadata)
		}
	})
}
