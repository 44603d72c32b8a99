//go:build unix && !linux

package testchain

import "syscall"

// diesWithParent leaves it to the embedded chain to notice that its stdin has ended; other systems have no signal for it.
func diesWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr { return attributes }
