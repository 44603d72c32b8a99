//go:build unix && !linux

package childprocess

import "syscall"

// diesWithParent changes nothing: only Linux can signal the parent's end.
func diesWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr { return attributes }
