package identity

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
)

// Allowlist is a Source reading from a file. Each line contains an agent's address, followed by the score
// unless it is MaxScore. Empty lines and comments starting with # are ignored. Agents in the file are
// registered and verified; all others are unknown.
//
// Each request checks whether the file has changed, and if so, reads it again. A missing or damaged file is
// an error, so Gates admit no one before the file is repaired. To change the file, write another file and
// rename it, as editors do: a file that is read halfway is damaged, or a shorter list.
type Allowlist struct {
	path string

	lock    sync.Mutex
	version os.FileInfo
	readAt  time.Time
	scores  map[solana.PublicKey]float64
}

// AllowlistError identifies an invalid line.
type AllowlistError struct {
	// Path is the path of the file, and Line the line's number, from 1.
	Path string
	Line int
	// Reason is the problem.
	Reason string
}

func (e *AllowlistError) Error() string {
	return fmt.Sprintf("haggle: identity: %s: line %d: %s", e.Path, e.Line, e.Reason)
}

const (
	// allowlistLimit is the maximum file size in bytes.
	allowlistLimit = 16 << 20
	// clockTick is the resolution of file systems' timestamps: if a file changed this recently when read, it
	// may have changed again with the same timestamp.
	clockTick = 2 * time.Second
)

// OpenAllowlist reads a file. It returns an *AllowlistError if a line is invalid.
func OpenAllowlist(path string) (*Allowlist, error) {
	list := &Allowlist{path: path}
	list.lock.Lock()
	defer list.lock.Unlock()
	return list, list.refresh()
}

// Trust returns the file's entry for an agent.
func (a *Allowlist) Trust(_ context.Context, agent solana.PublicKey) (Trust, error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if err := a.refresh(); err != nil {
		return Trust{}, err
	}
	score, ok := a.scores[agent]
	return Trust{Score: score, Registered: ok, Verified: ok}, nil
}

// refresh reads the file if it may have changed. If reading fails, it tries again the next time.
func (a *Allowlist) refresh() error {
	file, err := os.Open(filepath.Clean(a.path))
	if err != nil {
		a.version = nil
		return fmt.Errorf("haggle: identity: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		a.version = nil
		return fmt.Errorf("haggle: identity: %w", err)
	}
	if a.isCurrent(info) {
		return nil
	}
	a.version = nil
	readAt := time.Now()
	content, err := io.ReadAll(io.LimitReader(file, allowlistLimit+1))
	if err == nil && len(content) > allowlistLimit {
		err = fmt.Errorf("%s is longer than %d bytes", a.path, allowlistLimit)
	}
	if err != nil {
		return fmt.Errorf("haggle: identity: %w", err)
	}
	if a.scores, err = parseAllowlist(a.path, content); err != nil {
		return err
	}
	a.version, a.readAt = info, readAt
	return nil
}

func (a *Allowlist) isCurrent(info os.FileInfo) bool {
	return a.version != nil && os.SameFile(a.version, info) && a.version.Size() == info.Size() &&
		a.version.ModTime().Equal(info.ModTime()) && a.readAt.Sub(info.ModTime()) > clockTick
}

func parseAllowlist(path string, content []byte) (map[solana.PublicKey]float64, error) {
	scores := map[solana.PublicKey]float64{}
	lines := bufio.NewScanner(bytes.NewReader(content))
	number := 0
	for lines.Scan() {
		number++
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		agent, score, reason := parseEntry(fields)
		if _, twice := scores[agent]; reason == "" && twice {
			reason = "duplicate agent"
		}
		if reason != "" {
			return nil, &AllowlistError{Path: path, Line: number, Reason: reason}
		}
		scores[agent] = score
	}
	if lines.Err() != nil {
		return nil, &AllowlistError{Path: path, Line: number + 1, Reason: "line too long"}
	}
	return scores, nil
}

func parseEntry(fields []string) (agent solana.PublicKey, score float64, reason string) {
	agent, err := solana.PublicKeyFromBase58(fields[0])
	if err != nil {
		return agent, 0, "no address at the beginning"
	}
	switch len(fields) {
	case 1:
		return agent, MaxScore, ""
	case 2:
		score, err = strconv.ParseFloat(fields[1], 64)
		if err != nil || !(Trust{Score: score}).valid() {
			return agent, 0, "the score is not between 0 and 100"
		}
		return agent, score, ""
	}
	return agent, 0, "more than an address and a score"
}
