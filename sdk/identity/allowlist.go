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

// Allowlist is a Source that is a text file: an agent's address a line, and after it, if it is not MaxScore, its score. Empty lines
// and what follows a # do not matter. Everybody in it is registered and verified; who is not is not known.
//
// The file is looked at whenever the list is asked, and read again when it has changed. A file that is gone or damaged then is an
// error, so that a Gate lets nobody through until it is repaired. Whoever changes it should write another file and rename it, as
// editors do: what is read halfway through is a damaged file, or a shorter list.
type Allowlist struct {
	path string

	lock    sync.Mutex
	version os.FileInfo
	readAt  time.Time
	scores  map[solana.PublicKey]float64
}

// AllowlistError says which line of a file is none of an allowlist's.
type AllowlistError struct {
	// Path is the file's, and Line the line's number, from 1.
	Path string
	Line int
	// Reason says what is wrong with it.
	Reason string
}

func (e *AllowlistError) Error() string {
	return fmt.Sprintf("haggle: identity: %s: line %d: %s", e.Path, e.Line, e.Reason)
}

const (
	// allowlistLimit is the most that a file may be long, in bytes.
	allowlistLimit = 16 << 20
	// clockTick is how coarsely file systems tell the time: a file that was changed so shortly before it was read may have been
	// changed again without showing it.
	clockTick = 2 * time.Second
)

// OpenAllowlist reads a file. It fails with an *AllowlistError.
func OpenAllowlist(path string) (*Allowlist, error) {
	list := &Allowlist{path: path}
	list.lock.Lock()
	defer list.lock.Unlock()
	return list, list.refresh()
}

// Trust is what the file says about an agent.
func (a *Allowlist) Trust(_ context.Context, agent solana.PublicKey) (Trust, error) {
	a.lock.Lock()
	defer a.lock.Unlock()
	if err := a.refresh(); err != nil {
		return Trust{}, err
	}
	score, ok := a.scores[agent]
	return Trust{Score: score, Registered: ok, Verified: ok}, nil
}

// refresh reads the file if it may have changed. After a failure it is read again the next time.
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
			reason = "this agent is in the list already"
		}
		if reason != "" {
			return nil, &AllowlistError{Path: path, Line: number, Reason: reason}
		}
		scores[agent] = score
	}
	if lines.Err() != nil {
		return nil, &AllowlistError{Path: path, Line: number + 1, Reason: "it is too long"}
	}
	return scores, nil
}

func parseEntry(fields []string) (agent solana.PublicKey, score float64, reason string) {
	agent, err := solana.PublicKeyFromBase58(fields[0])
	if err != nil {
		return agent, 0, "it does not begin with an address"
	}
	switch len(fields) {
	case 1:
		return agent, MaxScore, ""
	case 2:
		score, err = strconv.ParseFloat(fields[1], 64)
		if err != nil || !(Trust{Score: score}).valid() {
			return agent, 0, "the score is not one of 0 to 100"
		}
		return agent, score, ""
	}
	return agent, 0, "it has more than an address and a score"
}
