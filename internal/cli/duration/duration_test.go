package duration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for written, want := range map[string]time.Duration{
		"30m": 30 * time.Minute, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "2d": 48 * time.Hour,
		"1d2h3m4s": 26*time.Hour + 3*time.Minute + 4*time.Second, "0s": 0, "007s": 7 * time.Second,
	} {
		got, err := Parse(written)
		require.NoError(t, err, written)
		require.Equal(t, want, got, written)
	}
	for _, written := range []string{
		"", "90", "m", "-5m", "+5m", "1.5h", "5 m", "5m ", "5min", "10ms", "1m1h", "1m1m", "1h30", "99999999999999999999s", "200000d", "1w", "５m",
	} {
		_, err := Parse(written)
		require.ErrorIs(t, err, errForm, "%q", written)
	}
}

func TestFormatIsReadAgain(t *testing.T) {
	require.Equal(t, "1h30m", Format(90*time.Minute))
	require.Equal(t, "0s", Format(400*time.Millisecond))
	require.Equal(t, "-5s", Format(-5*time.Second))
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(0, 1<<32).Draw(t, "seconds")) * time.Second
		got, err := Parse(Format(want))
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestFlag(t *testing.T) {
	var flag Flag
	require.Empty(t, flag.String())
	require.NoError(t, flag.Set("1h30m"))
	require.Error(t, flag.Set("soon"))
	require.Equal(t, "1h30m", flag.String())
	require.EqualValues(t, 5400, flag.Seconds())
	require.Equal(t, "duration", flag.Type())
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"30m", "1h30m", "", "1d2h3m4s", "99999999999999999999s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, written string) {
		got, err := Parse(written)
		if err != nil {
			return
		}
		require.GreaterOrEqual(t, got, time.Duration(0))
		again, err := Parse(Format(got))
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}
