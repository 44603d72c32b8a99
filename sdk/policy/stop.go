package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
)

// KillSwitch stops all policies that share it, at once and until it is switched off. The zero value is off. Its methods may be
// called from several goroutines.
type KillSwitch struct {
	reason atomic.Pointer[string]
}

// Stop switches it on. A signature that a signer is being asked for meanwhile does not leave the policy any more.
func (k *KillSwitch) Stop(reason string) { k.reason.Store(&reason) }

// Resume switches it off.
func (k *KillSwitch) Resume() { k.reason.Store(nil) }

// Stopped says whether it is on, and why.
func (k *KillSwitch) Stopped() (reason string, stopped bool) {
	if pointer := k.reason.Load(); pointer != nil {
		return *pointer, true
	}
	return "", false
}

// stopped is a denial if the policy has been stopped.
func (p *Policy) stopped() error { return p.config.Stopped() }

// Stopped is a *Denial if a policy of this configuration signs nothing now, because of Stop or StopFile.
func (c *Config) Stopped() error {
	if c.Stop != nil {
		if reason, stopped := c.Stop.Stopped(); stopped {
			return general(RuleStopped, errors.New(reason))
		}
	}
	if c.StopFile == "" {
		return nil
	}
	_, err := os.Lstat(c.StopFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		err = fmt.Errorf("%s exists", c.StopFile)
	}
	return general(RuleStopped, err)
}
