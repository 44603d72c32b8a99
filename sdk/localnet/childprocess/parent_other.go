//go:build unix && !linux

package childprocess

import "syscall"

// diesWithParent changes nothing; other systems have no signal for the end of a parent. There, an agent ends
// at its deadline, and the embedded chain when its stdin is closed.
func diesWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr { return attributes }
