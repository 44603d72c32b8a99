//go:build unix && !linux

package demo

import "syscall"

// diesWithParent leaves the agents to their deadlines; other systems have no signal for the end of a parent.
func diesWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr { return attributes }
