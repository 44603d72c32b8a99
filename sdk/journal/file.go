package journal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/internal/durable"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// ErrClosed reports that the journal is closed.
var ErrClosed = errors.New("journal: closed")

// File is a journal in a file. Its methods may be called from several goroutines. Concurrent calls share the
// waits for the disk.
type File struct {
	path string
	lock *flock.Flock

	// writing orders the appended records. It guards all of the following fields except synced.
	writing sync.Mutex
	file    *os.File
	// size is the file's size in bytes, up to the end of the last whole record.
	size int64
	// generation counts the files that had this path.
	generation uint64
	unfinished map[solana.Signature]*pending
	confirmed  confirmedEntries
	order      uint64
	// live is the approximate size in bytes of the unfinished and the confirmed entries in a compacted file.
	live int64
	// broken is the error that prevents further writes: after a failure the content of the disk is unknown.
	broken error
	// compactAt is the size in bytes from which finished entries are removed, if they are most of the file.
	compactAt int64

	// syncing orders waits for the disk; it guards synced. A goroutine that holds both locks has taken
	// syncing first.
	syncing sync.Mutex
	synced  position
}

// position is the end of the written records in a file.
type position struct {
	generation uint64
	size       int64
}

// reaches reports whether a sync up to p covers the records up to other: a new file begins with all records
// of the old one that count.
func (p position) reaches(other position) bool {
	return p.generation > other.generation || p.generation == other.generation && p.size >= other.size
}

// pending is an unfinished entry.
type pending struct {
	entry haggle.JournalEntry
	// order is the position among the beginnings.
	order uint64
	size  int64
	// finishing reports whether the entry's end is written; it may not be on the disk yet.
	finishing bool
	end       *finish
}

// confirmedSize is the approximate size of a confirmed entry in a compacted file, in bytes.
const confirmedSize = 700

// compactFrom is the smallest size of a file that is compacted, in bytes.
const compactFrom = 1 << 20

// Open opens the journal in a file, and creates the file if it is missing; the directory must exist. It
// returns [ErrLocked] if the file is in use, and [ErrDamaged] if the file is
// damaged.
func Open(path string) (*File, error) {
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if !locked {
		return nil, fmt.Errorf("%w: %s", ErrLocked, path)
	}
	f := &File{path: path, lock: lock, unfinished: make(map[solana.Signature]*pending), compactAt: compactFrom}
	f.confirmed.init()
	if err := f.open(); err != nil {
		if f.file != nil {
			err = errors.Join(err, f.file.Close())
		}
		return nil, errors.Join(err, lock.Unlock())
	}
	return f, nil
}

func (f *File) open() (err error) {
	if f.file, err = os.OpenFile(f.path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	content, err := io.ReadAll(f.file)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if isBeginning(content) {
		return f.start()
	}
	if err := f.read(content); err != nil {
		return err
	}
	if f.size < int64(len(content)) {
		if err := f.file.Truncate(f.size); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	// The records that were read may not be on the disk yet, if the earlier process crashed and the machine
	// did not.
	if err := f.file.Sync(); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	f.synced = position{size: f.size}
	return nil
}

// isBeginning reports whether a file ends within its first bytes, the magic.
func isBeginning(content []byte) bool {
	return len(content) < len(magic) && bytes.HasPrefix([]byte(magic), content) || len(content) <= len(magic) && unwritten(content)
}

// start writes the first bytes of an empty file.
func (f *File) start() error {
	err := f.file.Truncate(0)
	if err == nil {
		_, err = f.file.WriteAt([]byte(magic), 0)
	}
	if err == nil {
		err = f.file.Sync()
	}
	if err == nil {
		err = durable.SyncFolder(f.path)
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	f.size = int64(len(magic))
	f.synced = position{size: f.size}
	return nil
}

func (f *File) read(content []byte) error {
	if !bytes.HasPrefix(content, []byte(magic)) {
		return fmt.Errorf("%w: %s is no journal, or one of another version", ErrDamaged, f.path)
	}
	at := len(magic)
	for at < len(content) {
		next, size, err := nextRecord(content[at:])
		if errors.Is(err, errTorn) {
			break
		}
		if err == nil {
			err = f.replay(next, int64(size))
		}
		if err != nil {
			return fmt.Errorf("%w: %s at byte %d: %w", ErrDamaged, f.path, at, err)
		}
		at += size
	}
	f.size = int64(at)
	return nil
}

func (f *File) replay(r record, size int64) error {
	switch {
	case r.Confirmed != nil:
		f.live += size
		f.confirmed.add(*r.Confirmed)
	case r.Finish != nil:
		f.finished(r.Finish)
	default:
		if _, begun := f.unfinished[r.Begin.Signature]; begun {
			return fmt.Errorf("%w: %s", haggle.ErrInJournal, r.Begin.Signature)
		}
		f.remember(r.Begin, size)
	}
	return nil
}

// finished applies the end of an entry, or its acknowledgement.
func (f *File) finished(end *finish) {
	if begun := f.unfinished[end.Signature]; begun != nil {
		f.forget(end.Signature)
		if end.Outcome == transaction.Confirmed {
			f.confirmed.add(confirmed{Entry: begun.entry, Acknowledged: end.Acknowledged, At: end.At})
			f.live += confirmedSize
		}
	} else if end.Acknowledged {
		f.confirmed.acknowledge(end.Signature)
	}
}

func (f *File) remember(entry *haggle.JournalEntry, size int64) {
	f.order++
	f.confirmed.remove(entry.Signature)
	f.unfinished[entry.Signature] = &pending{entry: *entry, order: f.order, size: size}
	f.live += size
}

func (f *File) forget(signature solana.Signature) {
	if begun := f.unfinished[signature]; begun != nil {
		f.live -= begun.size
		delete(f.unfinished, signature)
	}
}

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Begin implements [haggle.Journal].
func (f *File) Begin(ctx context.Context, entry haggle.JournalEntry) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := entry.Validate(); err != nil {
		return err
	}
	entry.Transaction = bytes.Clone(entry.Transaction)
	written, err := f.writeBegin(&entry)
	if err != nil {
		return err
	}
	return f.sync(written)
}

func (f *File) writeBegin(entry *haggle.JournalEntry) (position, error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	if _, begun := f.unfinished[entry.Signature]; begun {
		return position{}, fmt.Errorf("%w: %s", haggle.ErrInJournal, entry.Signature)
	}
	before := f.size
	written, err := f.append(record{Begin: entry})
	if err != nil {
		return position{}, err
	}
	f.remember(entry, f.size-before)
	return written, nil
}

// Finish implements [haggle.Journal].
func (f *File) Finish(ctx context.Context, signature solana.Signature, outcome transaction.Outcome, acknowledged bool) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if !outcome.IsFinal() {
		return fmt.Errorf("journal: %s cannot be finished as %s", signature, outcome)
	}
	end := &finish{Signature: signature, Outcome: outcome, Acknowledged: acknowledged, At: time.Now().Round(0).UTC()}
	written, known, err := f.writeFinish(end)
	if err != nil || !known {
		return err
	}
	if err := f.sync(written); err != nil {
		return err
	}
	f.writing.Lock()
	f.finished(end)
	due := f.size >= f.compactAt && f.live*2 < f.size
	f.writing.Unlock()
	if due {
		f.compact()
	}
	return nil
}

func (f *File) writeFinish(end *finish) (written position, known bool, err error) {
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.usable(); err != nil {
		return position{}, false, err
	}
	begun := f.unfinished[end.Signature]
	if begun == nil && !(end.Acknowledged && f.confirmed.isUnacknowledged(end.Signature)) {
		return position{}, false, nil
	}
	if begun != nil && begun.finishing {
		// Another call writes the end. Its record has to be on the disk for this call, too.
		return position{f.generation, f.size}, true, nil
	}
	written, err = f.append(record{Finish: end})
	if begun != nil {
		begun.finishing, begun.end = err == nil, end
	} else if err == nil {
		f.confirmed.acknowledge(end.Signature)
	}
	return written, err == nil, err
}

// usable returns the error that prevents writing, if any.
func (f *File) usable() error {
	if f.file == nil {
		return ErrClosed
	}
	return f.broken
}

// append writes a record behind the last one.
func (f *File) append(r record) (position, error) {
	if err := f.usable(); err != nil {
		return position{}, err
	}
	content, err := appendRecord(nil, r)
	if err != nil {
		return position{}, fmt.Errorf("journal: %w", err)
	}
	if _, err := f.file.WriteAt(content, f.size); err != nil {
		// A part of the record must not stay in front of the next one.
		if undone := f.file.Truncate(f.size); undone != nil {
			f.broken = fmt.Errorf("journal: %s cannot be written any more: %w", f.path, errors.Join(err, undone))
		}
		return position{}, fmt.Errorf("journal: %w", err)
	}
	f.size += int64(len(content))
	return position{f.generation, f.size}, nil
}

// sync waits until the disk has all records up to a place. While one goroutine syncs, others wait, and one
// further sync serves them all.
func (f *File) sync(written position) error {
	f.syncing.Lock()
	defer f.syncing.Unlock()
	if f.synced.reaches(written) {
		return nil
	}
	f.writing.Lock()
	file, now, err := f.file, position{f.generation, f.size}, f.usable()
	f.writing.Unlock()
	if err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		// The system may have dropped the data that it could not write, and reports that only once.
		err = fmt.Errorf("journal: %s cannot be written any more: %w", f.path, err)
		f.writing.Lock()
		f.broken = err
		f.writing.Unlock()
		return err
	}
	f.synced = now
	return nil
}

// compact replaces the file by one without the entries that are finished and not confirmed, and without the
// transactions of the confirmed ones. If that fails, the file continues to grow.
func (f *File) compact() {
	f.syncing.Lock()
	defer f.syncing.Unlock()
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.usable() != nil {
		return
	}
	f.compactAt = max(compactFrom, 2*f.size)
	content, err := f.living()
	if err != nil || renameio.WriteFile(f.path, content, 0o600) != nil {
		return // the old file is still in its place, and complete
	}
	_ = f.file.Close() // it is not read again
	if f.file, err = os.OpenFile(f.path, os.O_RDWR, 0o600); err == nil {
		err = durable.SyncFolder(f.path)
	} else {
		f.file = nil
	}
	f.size, f.live, f.generation = int64(len(content)), int64(len(content)), f.generation+1
	f.compactAt = max(compactFrom, 2*f.size)
	f.synced = position{f.generation, f.size}
	if err != nil {
		// A crash of the machine may restore the old file, without the records of later writes.
		f.broken = fmt.Errorf("journal: %s cannot be written any more: %w", f.path, err)
	}
}

// living returns the content of a compacted file.
func (f *File) living() ([]byte, error) {
	content := []byte(magic)
	var err error
	for _, kept := range f.confirmed.sorted() {
		if content, err = appendRecord(content, record{Confirmed: &kept}); err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
	}
	for _, begun := range f.sorted() {
		if content, err = appendRecord(content, record{Begin: &begun.entry}); err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
		if begun.finishing {
			// Its end is in the old file, and not in the maps yet.
			if content, err = appendRecord(content, record{Finish: begun.end}); err != nil {
				return nil, fmt.Errorf("journal: %w", err)
			}
		}
	}
	return content, nil
}

// sorted returns the unfinished entries in the order of their beginnings.
func (f *File) sorted() []*pending {
	return slices.SortedFunc(maps.Values(f.unfinished), func(a, b *pending) int { return cmp.Compare(a.order, b.order) })
}

// Confirmed implements [haggle.Journal].
func (f *File) Confirmed(ctx context.Context, wallet solana.PublicKey, key, intent solana.Hash) (*haggle.JournalEntry, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.usable(); err != nil {
		return nil, err
	}
	return f.confirmed.find(wallet, key, intent), nil
}

// Unfinished implements [haggle.Journal].
func (f *File) Unfinished(ctx context.Context, wallet solana.PublicKey) iter.Seq2[haggle.JournalEntry, error] {
	return sequence(func() ([]haggle.JournalEntry, error) { return f.entriesOf(ctx, wallet) })
}

func (f *File) entriesOf(ctx context.Context, wallet solana.PublicKey) ([]haggle.JournalEntry, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.usable(); err != nil {
		return nil, err
	}
	var entries []haggle.JournalEntry
	for _, begun := range f.sorted() {
		if begun.entry.Wallet == wallet {
			entry := begun.entry
			entry.Transaction = bytes.Clone(entry.Transaction)
			entries = append(entries, entry)
		}
	}
	return entries, nil
}

// Close ends the use of the file. Calling it again does nothing.
func (f *File) Close() error {
	f.syncing.Lock()
	defer f.syncing.Unlock()
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.file == nil {
		return nil
	}
	err := errors.Join(f.file.Close(), f.lock.Unlock())
	f.file = nil
	return err
}
