package audit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	signatureDomain  = "haggle/audit/checkpoint/v1\x00"
	checkpointDomain = "haggle/audit/checkpoint-hash/v1\x00"
	headsDomain      = "haggle/audit/heads/v1\x00"
)

// overlap is subtracted from the last checkpoint's time when the changed chains are listed: a transaction's
// time is taken earlier than its commit. It is far longer than any transaction.
const overlap = 15 * time.Minute

// Checkpoint is one line of the file: the chains that have changed since the previous line.
type Checkpoint struct {
	// Sequence counts the checkpoints from 1.
	Sequence uint64 `json:"sequence"`
	// Time is in UTC.
	Time time.Time `json:"time"`
	// Count is the number of chains in this and all earlier checkpoints.
	Count int `json:"count"`
	// Digest is the SHA-256 of Heads.
	Digest string `json:"digest"`
	// Heads lists the changed chains, ordered by name.
	Heads []Head `json:"heads"`
	// Previous is the previous checkpoint's hash. The first checkpoint leaves it empty.
	Previous string `json:"previous"`
	// PublicKey and Signature are hexadecimal. The signature covers all other fields.
	PublicKey string `json:"public_key"`
	Signature string `json:"signature,omitempty"`
}

func digest(heads []Head) string {
	h := sha256.New()
	h.Write([]byte(headsDomain))
	for _, head := range heads {
		fmt.Fprintf(h, "%q %d %q\n", head.Chain, head.Length, head.Hash)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// signed returns the bytes that the signature covers.
func (c Checkpoint) signed() ([]byte, error) {
	c.Signature = ""
	c.Heads = nil // the digest covers them
	text, err := json.Marshal(c)
	return append([]byte(signatureDomain), text...), err
}

// hash returns the Previous value for the next checkpoint.
func (c Checkpoint) hash() (string, error) {
	message, err := c.signed()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(slices.Concat([]byte(checkpointDomain), message, []byte(c.Signature)))
	return hex.EncodeToString(sum[:]), nil
}

// file is a decoded checkpoint file.
type file struct {
	last Checkpoint
	// hash is last's hash.
	hash string
	// heads maps each chain to the newest head, and covered lists all heads in file order.
	heads   map[string]Head
	covered map[string][]coveredHead
}

type coveredHead struct {
	Head
	checkpoint uint64
}

// CheckpointError is the first invalid line in a checkpoint file.
type CheckpointError struct {
	// Line counts from 1.
	Line    int
	Problem string
}

func (e *CheckpointError) Error() string {
	return fmt.Sprintf("checkpoint file: line %d: %s", e.Line, e.Problem)
}

// read reads checkpoints and checks each line against the key and the previous line. It returns the valid
// lines, and a [CheckpointError] for the first invalid line. complete is the length of the lines that end
// with a newline.
func read(r io.Reader, key ed25519.PublicKey) (f file, complete int64, err error) {
	f.heads, f.covered = map[string]Head{}, map[string][]coveredHead{}
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return f, complete, nil // an incomplete line was never confirmed
		}
		if err != nil {
			return f, complete, err
		}
		if problem := f.add(line, key); problem != "" {
			return f, complete, &CheckpointError{Line: number, Problem: problem}
		}
		complete += int64(len(line))
	}
}

// add adds a line. It returns the problem if the line is not valid.
func (f *file) add(line []byte, key ed25519.PublicKey) string {
	var c Checkpoint
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return "invalid JSON: " + err.Error()
	}
	if c.PublicKey != hex.EncodeToString(key) {
		return "signed with another key: " + c.PublicKey
	}
	message, err := c.signed()
	if err != nil {
		return err.Error()
	}
	signature, err := hex.DecodeString(c.Signature)
	if err != nil || !ed25519.Verify(key, message, signature) {
		return "invalid signature"
	}
	switch {
	case c.Digest != digest(c.Heads):
		return "heads do not have the signed digest"
	case c.Sequence != f.last.Sequence+1:
		return fmt.Sprintf("sequence is %d, want %d: a checkpoint is missing", c.Sequence, f.last.Sequence+1)
	case c.Previous != f.hash:
		return "does not follow the checkpoint before it"
	}
	for _, head := range c.Heads {
		f.heads[head.Chain] = head
		f.covered[head.Chain] = append(f.covered[head.Chain], coveredHead{head, c.Sequence})
	}
	if c.Count != len(f.heads) {
		return fmt.Sprintf("count is %d, want %d", c.Count, len(f.heads))
	}
	if f.hash, err = c.hash(); err != nil {
		return err.Error()
	}
	f.last = c
	return ""
}

// ErrLocked means that another process writes to the checkpoint file.
var ErrLocked = errors.New("checkpoint file: another process writes to it")

// Checkpointer appends checkpoints to a file. Only one process at a time can open a file. A Checkpointer is
// not safe for concurrent use.
type Checkpointer struct {
	key  ed25519.PrivateKey
	file *os.File
	lock *flock.Flock
	has  file
	// since limits the search for changed chains. It is zero until this process writes a checkpoint.
	since time.Time
	// broken is an incomplete write's error. No checkpoint follows it.
	broken error
}

// OpenCheckpointer opens or creates a checkpoint file. It removes an incomplete last line left by a killed
// process. It returns [ErrLocked] if another process holds the file open, and a [CheckpointError] if any line
// is not signed by the key.
func OpenCheckpointer(path string, key ed25519.PrivateKey) (_ *Checkpointer, err error) {
	c := &Checkpointer{key: key, lock: flock.New(path + ".lock")}
	locked, err := c.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("checkpoint file: %w", err)
	}
	if !locked {
		return nil, ErrLocked
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if c.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return nil, fmt.Errorf("checkpoint file: %w", err)
	}
	has, complete, err := read(c.file, key.Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	c.has = has
	if err := c.file.Truncate(complete); err != nil {
		return nil, fmt.Errorf("checkpoint file: %w", err)
	}
	return c, syncFolder(filepath.Dir(path))
}

// syncFolder makes a new file's directory entry durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("checkpoint file: %w", err)
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Close closes the file.
func (c *Checkpointer) Close() error {
	var err error
	if c.file != nil {
		err = c.file.Close()
	}
	return errors.Join(err, c.lock.Unlock())
}

// Sequence returns the sequence of the last checkpoint; 0 if there is none.
func (c *Checkpointer) Sequence() uint64 { return c.has.last.Sequence }

// A HeadSource lists the heads of chains.
type HeadSource interface {
	// ChangedHeads calls each with the head of every chain changed since a time. The zero time selects all
	// chains.
	ChangedHeads(ctx context.Context, since time.Time, each func(Head) error) error
}

// Write appends a checkpoint with the changed chains, syncs it to disk and returns it. If no chain has
// changed, it writes nothing and returns nil. If a chain is shorter than before, or equally long with another
// head, the error names the chain and nothing is signed.
func (c *Checkpointer) Write(ctx context.Context, source HeadSource, now time.Time) (*Checkpoint, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	var changed []Head
	err := source.ChangedHeads(ctx, c.since, func(head Head) error {
		before, known := c.has.heads[head.Chain]
		switch {
		case known && head == before:
		case known && head.Length <= before.Length:
			return fmt.Errorf("audit: chain %s: checkpoint not signed: it has %d entries and head %s, "+
				"but had %d and head %s: verify the audit log",
				head.Chain, head.Length, head.Hash, before.Length, before.Hash)
		default:
			changed = append(changed, head)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	since := now.Add(-overlap)
	if len(changed) == 0 {
		c.since = since
		return nil, nil
	}
	slices.SortFunc(changed, func(a, b Head) int { return strings.Compare(a.Chain, b.Chain) })
	next, err := c.sign(changed, now)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(next)
	if err != nil {
		return nil, err
	}
	line = append(line, '\n')
	if _, err = c.file.Write(line); err == nil {
		err = c.file.Sync()
	}
	if err != nil {
		c.broken = fmt.Errorf("checkpoint file: %w: open it again", err)
		return nil, c.broken
	}
	if problem := c.has.add(line, c.key.Public().(ed25519.PublicKey)); problem != "" {
		c.broken = &CheckpointError{Line: int(next.Sequence), Problem: problem}
		return nil, c.broken
	}
	c.since = since
	return &next, nil
}

func (c *Checkpointer) sign(heads []Head, now time.Time) (Checkpoint, error) {
	count := len(c.has.heads)
	for _, head := range heads {
		if _, known := c.has.heads[head.Chain]; !known {
			count++
		}
	}
	next := Checkpoint{
		Sequence: c.has.last.Sequence + 1, Time: now.UTC(), Count: count, Digest: digest(heads), Heads: heads,
		Previous: c.has.hash, PublicKey: hex.EncodeToString(c.key.Public().(ed25519.PublicKey)),
	}
	message, err := next.signed()
	if err != nil {
		return Checkpoint{}, err
	}
	next.Signature = hex.EncodeToString(ed25519.Sign(c.key, message))
	return next, nil
}
