package format

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRowsAlignTheirValues(t *testing.T) {
	rows := Rows{{"a", "1"}, {"a much longer name that is not written", ""}, {"price", "2\n3"}, {"b", "é"}}
	require.Equal(t, "  a      1\n  price  2\n         3\n  b      é", rows.String())
	require.Empty(t, Rows{}.String())
}

func TestPercentDoesNotRound(t *testing.T) {
	for bps, text := range map[uint16]string{0: "0%", 1: "0.01%", 10: "0.1%", 150: "1.5%", 10_000: "100%"} {
		require.Equal(t, text, Percent(bps))
	}
}
