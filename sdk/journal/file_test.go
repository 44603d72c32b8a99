package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/journal/journaltest"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

var wallet = journaltest.Wallet(1)

// newFile is a journal with some entries, the second of which is finished.
func newFile(t *testing.T, entries uint64) (path string, content []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "journal")
	f := openAt(t, path)
	for i := range entries {
		require.NoError(t, f.Begin(t.Context(), journaltest.Entry(wallet, i)))
	}
	if entries > 1 {
		require.NoError(t, f.Finish(t.Context(), journaltest.Signature(wallet, 1), transaction.Confirmed, true))
	}
	require.NoError(t, f.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return path, content
}

func openAt(t *testing.T, path string) *File {
	t.Helper()
	f, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// signaturesIn are those of the unfinished entries.
func signaturesIn(t *testing.T, f *File) (found []solana.Signature) {
	t.Helper()
	entries, err := journaltest.Unfinished(t.Context(), f, wallet)
	require.NoError(t, err)
	for _, entry := range entries {
		found = append(found, entry.Signature)
	}
	return found
}

func signaturesOf(numbers ...uint64) (signatures []solana.Signature) {
	for _, number := range numbers {
		signatures = append(signatures, journaltest.Signature(wallet, number))
	}
	return signatures
}

// boundaries are where the records of a file end, the magic's end first.
func boundaries(t *testing.T, content []byte) []int {
	t.Helper()
	ends := []int{len(magic)}
	for at := len(magic); at < len(content); {
		_, size, err := nextRecord(content[at:])
		require.NoError(t, err)
		at += size
		ends = append(ends, at)
	}
	return ends
}

// A crash can cut the file off anywhere within the last record, or leave zeros in its place.
func TestInterruptedWriteIsCutOff(t *testing.T) {
	path, content := newFile(t, 3)
	require.NoError(t, os.Remove(path))
	ends := boundaries(t, content)
	last := ends[len(ends)-2]
	complete := signaturesOf(0, 1, 2) // the last record is what finishes the second entry
	for _, zeros := range []int{0, 1, 7, 5_000} {
		for cut := last; cut < len(content); cut++ {
			if inside := cut - last; inside > headSize && cut < len(content)-2*tailSize && inside%41 > 0 {
				continue // one place within the content is as good as another
			}
			left := append(bytes.Clone(content[:cut]), make([]byte, zeros)...)
			f, err := openContent(t, left)
			if !assert.NoError(t, err, "cut at %d, %d zeros", cut, zeros) {
				return
			}
			assert.Equal(t, complete, signaturesIn(t, f))
			// A record that is appended then is read again.
			require.NoError(t, f.Begin(t.Context(), journaltest.Entry(wallet, 9)))
			require.NoError(t, f.Close())
			f = openAt(t, f.Path())
			require.Equal(t, append(complete, signaturesOf(9)...), signaturesIn(t, f))
			require.NoError(t, f.Close())
		}
	}
}

// openContent opens a file with a content.
func openContent(t *testing.T, content []byte) (*File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return Open(path)
}

func TestBeginningOfAFileThatACrashHasInterruptedIsBegunAgain(t *testing.T) {
	for cut := range len(magic) + 1 {
		for _, content := range [][]byte{[]byte(magic[:cut]), make([]byte, cut)} {
			f, err := openContent(t, content)
			require.NoError(t, err)
			require.NoError(t, f.Begin(t.Context(), journaltest.Entry(wallet, 1)))
			require.NoError(t, f.Close())
			assert.Equal(t, signaturesOf(1), signaturesIn(t, openAt(t, f.Path())))
		}
	}
}

func TestDamageIsSaidWhereItIs(t *testing.T) {
	_, content := newFile(t, 3)
	ends := boundaries(t, content)
	for at := range content {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			damaged := bytes.Clone(content)
			damaged[at] ^= flip
			if at == len(content)-1 && damaged[at] == 0 {
				continue // as if the last byte had not been written
			}
			f := &File{path: "the file", unfinished: make(map[solana.Signature]*pending)}
			err := f.read(damaged)
			if !assert.ErrorIs(t, err, ErrDamaged, "byte %d of %d", at, len(content)) {
				return
			}
			if at >= len(magic) {
				record := len(magic)
				for _, end := range ends {
					if end <= at {
						record = end
					}
				}
				assert.ErrorContains(t, err, fmt.Sprintf("the file at byte %d:", record))
			}
		}
	}
}

// A whole page of the middle is lost, and what follows is there.
func TestZerosInTheMiddleAreDamage(t *testing.T) {
	_, content := newFile(t, 5)
	ends := boundaries(t, content)
	for i := range len(ends) - 2 {
		damaged := bytes.Clone(content)
		clear(damaged[ends[i]:ends[i+1]])
		_, err := openContent(t, damaged)
		require.ErrorIs(t, err, ErrDamaged)
	}
}

func TestFileOfAnotherKindIsNotTouched(t *testing.T) {
	for _, content := range []string{"[1,2,3]\n", "haggle journal 1\n", "haggle journal 20\n", "h@", string(make([]byte, 100))} {
		path := filepath.Join(t.TempDir(), "journal")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := Open(path)
		require.ErrorIs(t, err, ErrDamaged)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, content, string(after))
		// The lock has been given back.
		_, err = Open(path)
		require.NotErrorIs(t, err, ErrLocked)
	}
}

func TestRecordsThatContradictEachOtherAreDamage(t *testing.T) {
	entry := journaltest.Entry(wallet, 1)
	twice, err := appendRecord([]byte(magic), record{Begin: &entry})
	require.NoError(t, err)
	twice, err = appendRecord(twice, record{Begin: &entry})
	require.NoError(t, err)
	empty, err := appendRecord([]byte(magic), record{})
	require.NoError(t, err)
	open, err := appendRecord([]byte(magic), record{Finish: &finish{Signature: entry.Signature}})
	require.NoError(t, err)
	for name, content := range map[string][]byte{"begun twice": twice, "says nothing": empty, "finished as unknown": open} {
		_, err := openContent(t, content)
		assert.ErrorIs(t, err, ErrDamaged, name)
	}
}

func TestWhatIsFinishedIsRemovedFromTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	f := openAt(t, path)
	f.compactAt = 20_000
	kept := journaltest.Entry(wallet, 1_000_000)
	require.NoError(t, f.Begin(t.Context(), kept))
	var largest int64
	for i := range uint64(200) {
		require.NoError(t, f.Begin(t.Context(), journaltest.Entry(wallet, i)))
		require.NoError(t, f.Finish(t.Context(), journaltest.Signature(wallet, i), transaction.Expired, true))
		f.compactAt = min(f.compactAt, 20_000)
		largest = max(largest, f.size)
	}
	assert.Less(t, largest, int64(25_000))
	assert.Positive(t, f.generation)
	assert.Equal(t, []solana.Signature{kept.Signature}, signaturesIn(t, f))
	stat, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, f.size, stat.Size())

	_, err = Open(path)
	require.ErrorIs(t, err, ErrLocked, "the new file as well")
	require.NoError(t, f.Close())
	assert.Equal(t, []solana.Signature{kept.Signature}, signaturesIn(t, openAt(t, path)))
	_, err = os.Stat(path + ".new")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestConfirmedKeysSurviveTheRemovalOfTheirTransactions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	f := openAt(t, path)
	const entries = 200
	var whole int64
	for i := range uint64(entries) {
		entry := journaltest.Entry(wallet, i)
		entry.Transaction = make([]byte, 600) // about the size of an offer's
		require.NoError(t, f.Begin(t.Context(), entry))
		require.NoError(t, f.Finish(t.Context(), journaltest.Signature(wallet, i), transaction.Confirmed, i > 0))
		whole = f.size
	}
	f.compact()
	assert.Less(t, f.size, whole/2)
	require.NoError(t, f.Close())
	f = openAt(t, path)
	find := func(key, intent solana.Hash) *haggle.JournalEntry {
		found, err := f.Confirmed(t.Context(), wallet, key, intent)
		require.NoError(t, err)
		return found
	}
	for i := range uint64(entries) {
		entry := journaltest.Entry(wallet, i)
		require.NotNil(t, find(entry.Key, solana.Hash{}), i)
		assert.Equal(t, i == 0, find(solana.Hash{}, entry.Intent) != nil, i)
	}
	removed, err := f.Forget(time.Now().Add(time.Hour))
	require.NoError(t, err)
	assert.EqualValues(t, entries-1, removed, "one is not acknowledged")
	require.NoError(t, f.Close())
	f = openAt(t, path)
	require.Nil(t, find(journaltest.Entry(wallet, 1).Key, solana.Hash{}))
	require.NotNil(t, find(journaltest.Entry(wallet, 0).Key, solana.Hash{}))
}

func TestRemovingWhatIsFinishedLosesNothingThatIsBegunMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	f := openAt(t, path)
	const writers, each = 8, 60
	var running sync.WaitGroup
	for writer := range uint64(writers) {
		running.Go(func() {
			for i := range uint64(each) {
				number := writer*1_000 + i
				if !assert.NoError(t, f.Begin(t.Context(), journaltest.Entry(wallet, number))) {
					return
				}
				if i%10 > 0 {
					assert.NoError(t, f.Finish(t.Context(), journaltest.Signature(wallet, number), transaction.Confirmed, true))
				}
				f.compact()
			}
		})
	}
	running.Wait()
	require.NoError(t, f.Close())
	var want []solana.Signature
	for writer := range uint64(writers) {
		for i := uint64(0); i < each; i += 10 {
			want = append(want, signaturesOf(writer*1_000+i)...)
		}
	}
	assert.ElementsMatch(t, want, signaturesIn(t, openAt(t, path)))
}

func TestFileThatCannotBeReplacedIsGoneOnWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	f := openAt(t, path)
	require.NoError(t, os.Mkdir(path+".new", 0o700))
	require.NoError(t, f.Begin(t.Context(), journaltest.Entry(wallet, 1)))
	f.compact()
	require.NoError(t, f.Begin(t.Context(), journaltest.Entry(wallet, 2)))
	require.NoError(t, f.Close())
	assert.Equal(t, signaturesOf(1, 2), signaturesIn(t, openAt(t, path)))
}

func TestJournalThatTheDiskHasFailedTakesNothingMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	f := openAt(t, path)
	require.NoError(t, f.Begin(t.Context(), journaltest.Entry(wallet, 1)))
	// A descriptor that can be neither written nor cut off.
	readOnly, err := os.Open(path)
	require.NoError(t, err)
	writable := f.file
	f.file = readOnly
	require.Error(t, f.Begin(t.Context(), journaltest.Entry(wallet, 2)))
	f.file = writable
	require.NoError(t, readOnly.Close())
	require.ErrorContains(t, f.Begin(t.Context(), journaltest.Entry(wallet, 3)), "cannot be written any more")
	require.ErrorContains(t, f.Finish(t.Context(), journaltest.Signature(wallet, 1), transaction.Confirmed, true), path)
	_, err = journaltest.Unfinished(t.Context(), f, wallet)
	require.ErrorContains(t, err, "cannot be written any more")
	require.NoError(t, f.Close())
	assert.Equal(t, signaturesOf(1), signaturesIn(t, openAt(t, path)))
}

func TestMissingDirectoryIsSaid(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "missing", "journal"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestFileIsForItsOwnerAlone(t *testing.T) {
	path, _ := newFile(t, 1)
	stat, err := os.Stat(path)
	require.NoError(t, err)
	assert.Zero(t, stat.Mode().Perm()&0o077)
}

// Every record that is read is one that was written, byte for byte. For all other bytes the parser returns an
// error.
func FuzzRecord(f *testing.F) {
	entry := journaltest.Entry(wallet, 1)
	for _, r := range []record{
		{Begin: &entry},
		{Begin: &haggle.JournalEntry{Wallet: wallet, Signature: entry.Signature, Transaction: []byte{1}}},
		{Finish: &finish{Signature: entry.Signature, Outcome: transaction.Expired, At: entry.Begun}},
	} {
		encoded, err := appendRecord(nil, r)
		require.NoError(f, err)
		f.Add(encoded)
		f.Add(encoded[:len(encoded)-1])
		f.Add(append(bytes.Clone(encoded), 1, 2, 3))
		encoded[len(encoded)-1] ^= 1
		f.Add(encoded)
	}
	for _, content := range []string{"{}", "null", `{"begin":null}`, `{"finish":{"signature":"","outcome":"unknown","at":""}}`, `{"other":1}`, "{}{}", ""} {
		f.Add(framed([]byte(content)))
	}
	f.Add(make([]byte, 100))
	f.Fuzz(func(t *testing.T, content []byte) {
		// Whether the checksums are right or not.
		for _, rest := range [][]byte{content, framed(content)} {
			r, size, err := nextRecord(rest)
			if err != nil {
				assert.Zero(t, r)
				continue
			}
			require.LessOrEqual(t, size, len(rest))
			require.NoError(t, r.check())
			encoded, err := appendRecord(nil, r)
			require.NoError(t, err)
			again, _, err := nextRecord(encoded)
			require.NoError(t, err)
			assert.Equal(t, r, again)
			// Cut off anywhere, it is torn.
			_, _, err = nextRecord(rest[:size-1])
			require.True(t, errors.Is(err, errTorn))
		}
	})
}
