// Package localnets keeps a list of this user's running local chains, for hints when an endpoint does not
// respond.
package localnets

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"

	"github.com/haggle-protocol/haggle/internal/cli/statefolder"
)

// Entry is a running local chain.
type Entry struct {
	// URL is the RPC endpoint.
	URL string `json:"rpc_url"`
	// Folder contains the keypairs and configurations.
	Folder string `json:"folder"`
}

// Announce adds a chain to the list until the returned function is called or the process ends.
func Announce(entry Entry) (withdraw func() error, err error) {
	folder, err := statefolder.Path(statefolder.Localnets)
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, fmt.Sprintf("%d.json", os.Getpid()))
	content, err := json.Marshal(entry)
	if err != nil {
		return nil, err
	}
	// The kernel releases the lock when the process ends, which shows that the entry is obsolete.
	lock := flock.New(path)
	locked, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !locked {
		return nil, fmt.Errorf("%s: locked by another process", path)
	}
	withdraw = func() error { return errors.Join(os.Remove(path), lock.Unlock()) }
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return nil, errors.Join(err, withdraw())
	}
	return withdraw, nil
}

// Running returns the running chains. It deletes the entries of ended processes.
func Running() []Entry {
	folder, err := statefolder.Path(statefolder.Localnets)
	if err != nil {
		return nil
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var running []Entry
	for _, file := range files {
		if entry, ok := read(filepath.Join(folder, file.Name())); ok {
			running = append(running, entry)
		}
	}
	return running
}

// read returns a file's entry if the process is running.
func read(path string) (entry Entry, ok bool) {
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	ended, err := lock.TryRLock()
	if err != nil {
		return entry, false
	}
	if ended {
		_, _ = os.Remove(path), lock.Unlock()
		return entry, false
	}
	content, err := os.ReadFile(path)
	return entry, err == nil && json.Unmarshal(content, &entry) == nil
}

// Hint names the running chains except the given endpoint, and how to reach them. It returns "" if there are
// none, or if the endpoint is on a different machine.
func Hint(endpoint string) string {
	parsed, err := url.Parse(endpoint)
	if err != nil || parsed.Hostname() != "localhost" && !net.ParseIP(parsed.Hostname()).IsLoopback() {
		return ""
	}
	var lines []string
	for _, entry := range Running() {
		if entry.URL == endpoint {
			continue
		}
		lines = append(lines, fmt.Sprintf("a localnet is running at %s: use --url %s, or -C %s",
			entry.URL, entry.URL, filepath.Join(entry.Folder, "buyer.yml")))
	}
	return strings.Join(lines, "\n  ")
}
