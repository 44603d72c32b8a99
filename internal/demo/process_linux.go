package demo

import "syscall"

// diesWithParent has the kernel kill the agent when the demonstration ends without stopping it.
func diesWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr {
	attributes.Pdeathsig = syscall.SIGKILL
	return attributes
}
