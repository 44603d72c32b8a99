package policy_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func openFile(t *testing.T, path string) *policy.File {
	t.Helper()
	file, err := policy.OpenFile(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// Limits hold across restarts: the spends are in the file before the signature is returned.
func TestUsageSurvivesRestarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage")
	file := openFile(t, path)
	s := newStage(t, func(c *policy.Config) { c.Store = file })
	s.signer.instead = nil
	require.NoError(t, s.sign(s.create(friend, 1, 4_000_000)))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, file.Close())
	require.ErrorIs(t, s.signMessage(s.message(s.create(friend, 2, 1))), os.ErrClosed, "without its file it does not sign")

	s.config.Store = openFile(t, path)
	s.restart()
	require.EqualValues(t, 4_000_000, s.policy.Used(mint))
	s.denied(policy.RulePerNegotiation, s.create(friend, 1, 2_000_001))
	require.NoError(t, s.sign(s.offer(s.negotiation(s.wallet(), friend, 1), 0, 1_000_000)), "what it has engaged in is in the file, too")
}

func TestFileIsOnlyOnes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "usage")
	first := openFile(t, path)
	_, err := policy.OpenFile(path)
	require.ErrorIs(t, err, policy.ErrFileInUse)
	require.ErrorContains(t, err, path)
	require.NoError(t, first.Close())
	require.NoError(t, first.Close())
	openFile(t, path)
}

// written returns a file with three records, and its lines.
func written(t *testing.T) (path string, lines [][]byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "usage")
	file := openFile(t, path)
	s := newStage(t, func(c *policy.Config) { c.Store = file })
	require.NoError(t, s.sign(s.create(friend, 1, 1)))
	require.NoError(t, s.sign(s.create(friend, 2, 1)))
	require.NoError(t, file.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	lines = bytes.SplitAfter(content, []byte("\n"))
	require.Len(t, lines, 5)
	return path, lines[:4]
}

func recordsIn(file *policy.File) (count int) {
	for range file.Records(context.Background()) {
		count++
	}
	return count
}

// The machine crashes at any byte of the last line: the lines before it are read, and the next line is
// appended to them.
func TestTornLineIsCutOff(t *testing.T) {
	path, lines := written(t)
	whole := bytes.Join(lines[:3], nil)
	last := lines[3]
	for size := 0; size < len(last); size += 13 {
		require.NoError(t, os.WriteFile(path, append(bytes.Clone(whole), last[:size]...), 0o600))
		file, err := policy.OpenFile(path)
		require.NoError(t, err)
		require.Equal(t, 3, recordsIn(file))
		require.NoError(t, file.Append(context.Background(), policy.Record{Kind: policy.RecordSigned}))
		require.NoError(t, file.Close())
		file, err = policy.OpenFile(path)
		require.NoError(t, err)
		require.Equal(t, 4, recordsIn(file))
		require.NoError(t, file.Close())
	}
	torn := bytes.Clone(last)
	copy(torn, make([]byte, len(torn)/2)) // the disk does not have its first part
	require.NoError(t, os.WriteFile(path, append(bytes.Clone(whole), torn...), 0o600))
	require.Equal(t, 3, recordsIn(openFile(t, path)))
}

// A file that was changed from outside is not used.
func TestDamagedFile(t *testing.T) {
	path, lines := written(t)
	for number := range 3 {
		for _, at := range []int{0, 8, 20, len(lines[number]) - 3} {
			content := bytes.Join(lines, nil)
			content[len(bytes.Join(lines[:number], nil))+at] ^= 1
			require.NoError(t, os.WriteFile(path, content, 0o600))
			_, err := policy.OpenFile(path)
			var damaged *policy.DamagedFileError
			require.True(t, errors.As(err, &damaged), "%v", err)
			require.Equal(t, number+1, damaged.Line)
			require.Equal(t, path, damaged.Path)
		}
	}
	require.NoError(t, os.WriteFile(path, bytes.Join([][]byte{lines[0], lines[2], lines[3]}, nil), 0o600))
	s := newStage(t)
	file := openFile(t, path)
	s.config.Store = file
	_, err := policy.New(context.Background(), s.signer, s.config)
	require.Error(t, err, "another wallet's")
}

// Records that do not follow from each other are not added up.
func TestRecordsHaveToFit(t *testing.T) {
	s := newStage(t)
	counted := policy.Record{Kind: policy.RecordCounted, Wallet: s.wallet(), Message: policy.Digest{1}, Spends: []policy.Spend{{Mint: mint, Amount: 5}}}
	settled := policy.Record{Kind: policy.RecordSettled, Wallet: s.wallet(), Message: policy.Digest{1}, Outcome: transaction.Expired}
	for name, records := range map[string][]policy.Record{
		"signed before it is counted":  {{Kind: policy.RecordSigned, Wallet: s.wallet()}},
		"settled before it is counted": {settled},
		"settled twice":                {counted, settled, settled},
		"of no kind":                   {{Wallet: s.wallet()}},
	} {
		store := &policy.MemoryStore{}
		for _, record := range records {
			require.NoError(t, store.Append(context.Background(), record))
		}
		s.config.Store = store
		_, err := policy.New(context.Background(), s.signer, s.config)
		require.Error(t, err, name)
	}
	// A store that failed after its write gets the record again.
	counted.Day = s.now.Unix() / (24 * 60 * 60)
	store := &policy.MemoryStore{}
	for range 2 {
		require.NoError(t, store.Append(context.Background(), counted))
	}
	s.config.Store = store
	s.restart()
	require.EqualValues(t, 5, s.policy.Used(mint), "it counts once")
}
