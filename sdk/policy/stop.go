package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
)

// KillSwitch stops all policies that share it, at once and as long as it is on. The zero value is off. It is
// safe for concurrent use.
type KillSwitch struct {
	reason atomic.Pointer[string]
}

// Stop switches it on. The policies do not return signatures that their signers are still computing.
func (k *KillSwitch) Stop(reason string) { k.reason.Store(&reason) }

// Resume switches it off.
func (k *KillSwitch) Resume() { k.reason.Store(nil) }

// Stopped reports whether it is on, with the reason.
func (k *KillSwitch) Stopped() (reason string, stopped bool) {
	if pointer := k.reason.Load(); pointer != nil {
		return *pointer, true
	}
	return "", false
}

// Stopped returns a *Denial if Stop or StopFile stops the policies of this configuration; otherwise nil.
func (c *Config) Stopped() error {
	if c.Stop != nil {
		if reason, stopped := c.Stop.Stopped(); stopped {
			return general(RuleStopped, errors.New(reason))
		}
	}
	_, err := os.Lstat(c.StopFile) // the empty path names no file
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		err = fmt.Errorf("%s exists", c.StopFile)
	}
	return general(RuleStopped, err)
}
