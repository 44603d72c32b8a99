// Package localnets keeps a list of this user's running local chains, so that a command whose endpoint does
// not answer can name them.
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
	"syscall"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
)

// Entry is a running local chain.
type Entry struct {
	// URL is the RPC endpoint.
	URL string `json:"rpc_url"`
	// Folder has the keypairs and configurations.
	Folder string `json:"folder"`
}

// Announce adds a chain to the list until the returned function is called or the process ends.
func Announce(entry Entry) (withdraw func() error, err error) {
	folder, err := listFolder()
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
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	// The kernel releases the lock when the process ends, which shows that the entry is obsolete.
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if _, err := file.Write(content); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(path))
	}
	return func() error { return errors.Join(os.Remove(path), file.Close()) }, nil
}

// Running returns the running chains. It deletes the entries of ended processes.
func Running() []Entry {
	folder, err := listFolder()
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

// read returns the entry in a file if its process is running.
func read(path string) (entry Entry, ok bool) {
	file, err := os.Open(path)
	if err != nil {
		return entry, false
	}
	defer file.Close()
	if syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		_ = os.Remove(path)
		return entry, false
	}
	return entry, json.NewDecoder(file).Decode(&entry) == nil
}

// Hint names the running chains other than the one at an endpoint, and how to reach them. It is empty if
// there are none, or if the endpoint is not on this machine.
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

// listFolder is next to the folder of the journals.
func listFolder() (string, error) {
	journals, err := connection.JournalFolder()
	return filepath.Join(filepath.Dir(journals), "localnets"), err
}
