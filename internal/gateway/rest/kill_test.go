package rest_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/audit"
)

// fleet is a number of gateway processes on one database.
type fleet struct {
	address string
	mutex   sync.Mutex
	urls    []string
	running []*exec.Cmd
}

func startFleet(t *testing.T, address string, size int) *fleet {
	t.Helper()
	f := &fleet{address: address, urls: make([]string, size), running: make([]*exec.Cmd, size)}
	for i := range size {
		f.urls[i], f.running[i] = startChild(t, address)
	}
	return f
}

func (f *fleet) url() string {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.urls[rand.IntN(len(f.urls))]
}

// kill kills a random process with SIGKILL and starts a replacement.
func (f *fleet) kill(t *testing.T) {
	t.Helper()
	i := rand.IntN(len(f.urls))
	require.NoError(t, f.running[i].Process.Kill())
	url, process := startChild(t, f.address)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.urls[i], f.running[i] = url, process
}

// send sends a request to a random process until one answers it, each time with the same idempotency key.
func (f *fleet) send(t *testing.T, client *http.Client, path, key, idempotency, body string) (string, error) {
	t.Helper()
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url()+path, strings.NewReader(body))
		if err != nil {
			return "", err
		}
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", idempotency)
		sent, err := client.Do(r)
		if err != nil {
			continue // the process is dead: it is unknown whether it acted
		}
		text, err := io.ReadAll(sent.Body)
		switch err = errors.Join(err, sent.Body.Close()); {
		case err != nil:
			continue
		case sent.StatusCode == http.StatusCreated || sent.StatusCode == http.StatusOK:
			return string(text), nil
		case sent.StatusCode == http.StatusConflict && strings.Contains(string(text), "in-progress"):
			continue // a killed process's transaction can hold the lock for a moment
		}
		return "", fmt.Errorf("%s with key %s: status %d: %s", path, idempotency, sent.StatusCode, text)
	}
	return "", fmt.Errorf("%s with key %s: no answer", path, idempotency)
}

// acknowledged is an answer that a client received.
type acknowledged struct{ path, body, answer string }

// Processes are killed at random while clients negotiate over HTTP. Clients retry unanswered calls with the
// same key. Every answer that a client received must be in the database exactly once.
func TestKilledProcessesLoseAndRepeatNothing(t *testing.T) {
	for _, size := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d processes", size), func(t *testing.T) {
			killUnderLoad(t, size)
		})
	}
}

func killUnderLoad(t *testing.T, size int) {
	t.Helper()
	address := server.Create(t)
	g := open(t, address)
	k := g.register(t)
	f := startFleet(t, address, size)
	const workers, deals, kills = 4, 8, 5
	client := &http.Client{Timeout: 20 * time.Second}
	answers := map[string]acknowledged{}
	var mutex sync.Mutex
	done := make(chan struct{}, workers*deals*3)
	step := func(path, name, body string) (string, error) {
		answer, err := f.send(t, client, path, k.client, name, body)
		if err != nil {
			return "", err
		}
		mutex.Lock()
		defer mutex.Unlock()
		answers[name] = acknowledged{path, body, answer}
		done <- struct{}{}
		return answer, nil
	}
	deal := func(name string) error {
		body := fmt.Sprintf(proposal, 1500)
		opened, err := step("/api/negotiations", name+"-open", body)
		if err != nil {
			return err
		}
		_, after, _ := strings.Cut(opened, `"negotiation":{"id":"`)
		path := "/api/negotiations/" + after[:min(36, len(after))]
		terms := "{" + fmt.Sprintf(proposal, 1600)[strings.Index(proposal, `"proposed_terms"`):]
		if _, err := step(path+"/counter", name+"-counter", terms); err != nil {
			return err
		}
		_, err = step(path+"/accept", name+"-accept", `{"current_round":2}`)
		return err
	}
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := range deals {
				if err := deal(fmt.Sprintf("%d-%d", worker, i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	finished := make(chan struct{})
	go func() { group.Wait(); close(finished) }()
	for range kills {
		for range workers * deals * 3 / (kills + 1) {
			select {
			case <-done:
			case <-finished:
			}
		}
		f.kill(t)
	}
	<-finished
	require.Len(t, answers, workers*deals*3)
	checkAnswers(t, g, k.client, answers, workers*deals)
}

// checkAnswers repeats every request, which must return the client's stored answer, and counts the deals.
func checkAnswers(t *testing.T, g *gateway, client string, answers map[string]acknowledged, deals int) {
	t.Helper()
	for name, a := range answers {
		got := call(t, "POST", g.negotiation+a.path, client, a.body, "Idempotency-Key", name)
		require.Contains(t, []int{200, 201}, got.status, "%s: %s", name, got.text)
		require.Equal(t, a.answer, got.text, "the answer to %s is lost or another one", name)
	}
	page := must(t, 200, call(t, "GET", g.negotiation+"/api/negotiations?limit=200", client, ""))
	items, _ := page["items"].([]any)
	require.Len(t, items, deals, "a negotiation is lost or doubled")
	for _, item := range items {
		fields, _ := item.(map[string]any)
		require.Equal(t, "accepted", fields["status"])
		require.EqualValues(t, 3, fields["current_round"], "a round is lost or doubled")
	}
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "checkpoints")
	c, err := audit.OpenCheckpointer(path, private)
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Write(t.Context(), g.store, time.Now())
	require.NoError(t, err)
	report, err := audit.Verify(t.Context(), g.store, audit.VerifyOptions{Path: path, Key: public})
	require.NoError(t, err)
	require.Empty(t, report.Findings)
	require.EqualValues(t, deals, report.Chains)
}
