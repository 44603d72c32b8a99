//go:build unix && !linux

package childprocess

import "syscall"

// diesWithParent changes nothing: only Linux has a signal for the end of the parent.
func diesWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr { return attributes }
