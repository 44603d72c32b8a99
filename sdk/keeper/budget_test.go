package keeper

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// opened returns a budget of 100 lamports with a file, as a process has it after its start.
func opened(t *testing.T, path string, now time.Time) *budget {
	t.Helper()
	b := &budget{limit: 100, file: &budgetFile{path: path}}
	require.NoError(t, b.open(now))
	return b
}

// A keeper that is killed repeatedly must not get a new daily budget each time.
func TestBudgetSurvivesTheProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget")
	begun := time.Unix(1_800_000_000, 0)
	b := opened(t, path, begun)
	ok, _, err := b.reserve(60, begun)
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, b.settle(60, 40, begun))
	ok, _, err = b.reserve(50, begun.Add(time.Hour))
	require.NoError(t, err)
	require.True(t, ok)
	// The process is killed while it sends the second transaction, whose outcome is unknown.
	require.NoError(t, b.close())

	b = opened(t, path, begun.Add(2*time.Hour))
	require.EqualValues(t, 90, b.used(begun.Add(2*time.Hour)))
	ok, again, err := b.reserve(11, begun.Add(2*time.Hour))
	require.NoError(t, err)
	require.False(t, ok)
	require.Equal(t, begun.Add(day), again)
	ok, _, err = b.reserve(10, begun.Add(2*time.Hour))
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, b.settle(10, 0, begun.Add(2*time.Hour)))
	require.NoError(t, b.close())

	// The clock was ahead and has been corrected.
	b = opened(t, path, begun.Add(-time.Hour))
	require.EqualValues(t, 90, b.used(begun.Add(-time.Hour)))
	require.Zero(t, b.used(begun.Add(23*time.Hour)), "the expense ends a day after the corrected time")
	require.NoError(t, b.close())
}

func TestBudgetFileStaysSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget")
	now := time.Unix(1_800_000_000, 0)
	b := &budget{limit: Unlimited, file: &budgetFile{path: path}}
	require.NoError(t, b.open(now))
	for range 200 {
		now = now.Add(time.Second)
		_, _, err := b.reserve(5_000, now)
		require.NoError(t, err)
		require.NoError(t, b.settle(5_000, 5_000, now))
	}
	require.EqualValues(t, 200*5_000, b.used(now))
	require.LessOrEqual(t, len(b.spent), 5)
	require.NoError(t, b.close())
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 2, "the file and its lock")
}

func TestBudgetFileIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget")
	b := opened(t, path, time.Now())
	other := &budget{limit: 100, file: &budgetFile{path: path}}
	err := other.open(time.Now())
	require.ErrorIs(t, err, ErrBudgetInUse)
	require.ErrorContains(t, err, path)
	require.NoError(t, b.close())
	require.NoError(t, other.open(time.Now()))
	require.NoError(t, other.close())
}

func TestDamagedBudgetFileIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget")
	for _, content := range []string{"", "{", `{"version":2}`, `{"version":1,"spent":[{"at":1,"lamports":-1}]}`, "null"} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		err := (&budget{limit: 100, file: &budgetFile{path: path}}).open(time.Now())
		require.ErrorIs(t, err, ErrBudgetDamaged, content)
		require.ErrorContains(t, err, path)
	}
	now := time.Now()
	require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, `{"version":1,"spent":[{"at":%d,"lamports":%d},{"at":%d,"lamports":5}]}`,
		now.Unix(), uint64(math.MaxUint64), now.Unix()), 0o600))
	b := opened(t, path, now)
	require.EqualValues(t, uint64(math.MaxUint64), b.used(now), "and the sum does not wrap around")
	require.NoError(t, b.close())
}

func TestReservationFailsIfTheFileCannotBeWritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(folder, 0o700))
	b := opened(t, filepath.Join(folder, "budget"), time.Now())
	require.NoError(t, os.RemoveAll(folder))
	ok, _, err := b.reserve(1, time.Now())
	require.Error(t, err)
	require.False(t, ok)
	require.Zero(t, b.reserved)
	require.NoError(t, b.close())
}
