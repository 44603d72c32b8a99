package format

import (
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
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

func inZone(t *testing.T, zone *time.Location) {
	t.Helper()
	before := time.Local
	time.Local = zone
	t.Cleanup(func() { time.Local = before })
}

func TestTimesAreLocalAndRelative(t *testing.T) {
	inZone(t, time.FixedZone("CET", 3600))
	now := time.Date(2026, 11, 22, 13, 0, 0, 0, time.UTC).Unix()
	for text, second := range map[string]int64{
		"14:04:00 CET, in 4m":              now + 240,
		"14:04:12 CET, in 4m12s":           now + 252,
		"14:12:59 CET, in 12m":             now + 779,
		"2026-11-23 00:00:00 CET, in 10h":  now + 36_000,
		"2026-12-01 15:10:00 CET, in 9d1h": now + 9*86_400 + 4_200,
		"14:00:00 CET, now":                now,
		"13:58:00 CET, 2m ago":             now - 120,
	} {
		require.Equal(t, text, When(second, now))
	}
	require.Equal(t, "14:00:00", Clock(now, now+1))
	require.Equal(t, "2026-11-22 14:00:00", Clock(now, now+36_000))
}

func TestAddressesAreShortened(t *testing.T) {
	require.Equal(t, "So11…1112", Short(solana.WrappedSol))
}

func TestATableHasItsHeaderAndNoSpacesAtTheEnds(t *testing.T) {
	require.Equal(t, "NAME  STATE\na\nlong  open", Table([]string{"NAME", "STATE"}, [][]string{{"a", ""}, {"long", "open"}}))
}
