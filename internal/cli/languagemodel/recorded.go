package languagemodel

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

// recording is a line of the file of --llm-answers.
type recording struct {
	Model string `json:"model"`
	// Request is the SHA-256 of the request in hex.
	Request  string    `json:"request"`
	Response string    `json:"response"`
	Usage    llm.Usage `json:"usage"`
}

// recorded is a model whose responses are kept in a file.
type recorded struct {
	name string
	// live is nil if there is no key: then only the file answers.
	live llm.Model
	path string

	lock  sync.Mutex
	known map[string]recording
}

// maxRecording limits a line, in bytes.
const maxRecording = 2 << 20

// openRecorded returns a model that replays the responses in a file, which need not exist.
func openRecorded(name string, live llm.Model, path string) (llm.Model, error) {
	m := &recorded{name: name, live: live, path: path, known: map[string]recording{}}
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return nil, exitcode.Usagef("--llm-answers: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxRecording)
	for number := 1; lines.Scan(); number++ {
		var r recording
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, exitcode.Usagef("--llm-answers: line %d: %w", number, err)
		}
		if r.Model == name {
			m.known[r.Request] = r
		}
	}
	if err := lines.Err(); err != nil {
		return nil, exitcode.Usagef("--llm-answers: %w", err)
	}
	return m, nil
}

// Name implements [llm.Model].
func (m *recorded) Name() string { return m.name }

// Respond implements [llm.Model].
func (m *recorded) Respond(ctx context.Context, request llm.Request) (*llm.Response, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return nil, &llm.ResponseError{Err: err, Unprocessed: true}
	}
	hash := sha256.Sum256(text)
	key := hex.EncodeToString(hash[:])
	m.lock.Lock()
	known, is := m.known[key]
	m.lock.Unlock()
	switch {
	case is:
		return &llm.Response{JSON: []byte(known.Response), Usage: known.Usage}, nil
	case m.live == nil:
		return nil, &llm.ResponseError{Err: errors.New("the file of --llm-answers does not have it, and there is no key"),
			Unprocessed: true}
	}
	response, err := m.live.Respond(ctx, request)
	if err != nil {
		return nil, err
	}
	return response, m.keep(recording{m.name, key, string(response.JSON), response.Usage})
}

// keep appends a response to the file in a single call, so that several processes can share it.
func (m *recorded) keep(r recording) error {
	line, err := json.Marshal(r)
	if err != nil {
		return &llm.ResponseError{Err: err, Usage: r.Usage}
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	m.known[r.Request] = r
	file, err := os.OpenFile(m.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = file.Write(append(line, '\n'))
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return &llm.ResponseError{Err: fmt.Errorf("--llm-answers: %w", err), Usage: r.Usage}
	}
	return nil
}
