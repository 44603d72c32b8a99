package journaltest

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

const (
	// victimPath is where a process of the test writes until it is killed; victimLife is the index of its
	// life.
	victimPath = "HAGGLE_JOURNALTEST_PATH"
	victimLife = "HAGGLE_JOURNALTEST_LIFE"

	lives         = 8
	victimWriters = 4
	// numbersPerLife is more than the entries that a victim writes.
	numbersPerLife = 1_000_000
)

// Main is for a package's TestMain, so that RunKilled can have the test's own program write to a store and
// kill it:
//
//	func TestMain(m *testing.M) { journaltest.Main(m, open) }
func Main(m *testing.M, open Open) {
	if path := os.Getenv(victimPath); path != "" {
		fmt.Fprintln(os.Stderr, writeUntilKilled(path, open))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// RunKilled kills processes while they write. It checks that the store has everything that Begin and Finish
// confirmed, and nothing that no process wrote. The package's TestMain must call Main.
func RunKilled(t *testing.T, open Open) {
	path := filepath.Join(t.TempDir(), "journal")
	// The certain facts of each entry: whether it was begun, authorised and finished.
	begun, authorized, finished := make(map[uint64]bool), make(map[uint64]bool), make(map[uint64]bool)
	for life := range lives {
		for _, line := range killed(t, path, life) {
			word, text, _ := strings.Cut(line, " ")
			number, err := strconv.ParseUint(text, 10, 64)
			require.NoError(t, err, line)
			switch word {
			case "begun":
				begun[number] = true
			case "authorizing":
				authorized[number] = false // it may have been, or not
			case "authorized":
				authorized[number] = true
			case "finishing":
				finished[number] = false // it may have been, or not
			case "finished":
				finished[number] = true
			}
		}
		check(t, path, open, begun, authorized, finished)
	}
	assert.NotEmpty(t, begun)
}

// killed runs a process that writes, kills it, and returns the lines that the process printed by then.
func killed(t *testing.T, path string, life int) (said []string) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	victim := exec.CommandContext(t.Context(), program)
	victim.Env = append(os.Environ(), victimPath+"="+path, victimLife+"="+strconv.Itoa(life))
	var complaint strings.Builder
	victim.Stderr = &complaint
	out, err := victim.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, victim.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if said = append(said, lines.Text()); len(said) == 1 {
			time.AfterFunc(time.Duration(20+rand.IntN(300))*time.Millisecond, func() { _ = victim.Process.Kill() })
		}
	}
	require.Error(t, victim.Wait())
	require.Empty(t, complaint.String(), "it was to be killed, and not to fail")
	require.NotEmpty(t, said)
	return said
}

func check(t *testing.T, path string, open Open, begun, authorized, finished map[uint64]bool) {
	t.Helper()
	store, err := open(path)
	require.NoError(t, err)
	defer func() { assert.NoError(t, store.Close()) }()
	there := make(map[uint64]bool)
	for writer := range uint64(victimWriters) {
		wallet := Wallet(writer)
		entries, err := Unfinished(t.Context(), store.OpenJournal(), wallet)
		require.NoError(t, err)
		for _, entry := range entries {
			there[entry.Slot] = true
			if certainly, touched := authorized[entry.Slot]; certainly || !touched {
				require.Equal(t, certainly, entry.Authorized, "entry %d", entry.Slot)
			}
			entry.Authorized, entry.Leased = false, false // the lease of a killed process ends later
			require.Equal(t, Entry(wallet, entry.Slot), entry)
		}
	}
	for number := range begun {
		certainly, touched := finished[number]
		if !touched {
			require.True(t, there[number], "entry %d is lost", number)
		}
		if certainly {
			require.False(t, there[number], "entry %d is unfinished again", number)
		}
	}
}

// writeUntilKilled begins and finishes entries, and prints each as soon as the store has confirmed it.
func writeUntilKilled(path string, open Open) error {
	life, err := strconv.ParseUint(os.Getenv(victimLife), 10, 64)
	if err != nil {
		return err
	}
	store, err := open(path)
	if err != nil {
		return err
	}
	var out sync.Mutex
	say := func(word string, number uint64) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(word, number)
	}
	journal := store.OpenJournal()
	failures := make(chan error)
	for writer := range uint64(victimWriters) {
		go func() {
			for i := uint64(0); ; i++ {
				number := (life*victimWriters+writer)*numbersPerLife + i
				if err := writeOne(journal, Wallet(writer), number, say); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	return <-failures
}

func writeOne(journal haggle.Journal, wallet solana.PublicKey, number uint64, say func(string, uint64)) error {
	ctx := context.Background()
	if err := journal.Begin(ctx, Entry(wallet, number)); err != nil {
		return err
	}
	say("begun", number)
	if number%4 == 0 {
		return nil
	}
	say("authorizing", number)
	if err := journal.Authorize(ctx, Signature(wallet, number)); err != nil {
		return err
	}
	say("authorized", number)
	if number%4 == 1 {
		return nil
	}
	say("finishing", number)
	if err := journal.Finish(ctx, Signature(wallet, number), transaction.Confirmed, true); err != nil {
		return err
	}
	say("finished", number)
	return nil
}
