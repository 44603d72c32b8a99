package childprocess

import "syscall"

// diesWithParent makes the kernel kill the child when this process ends without stopping it.
func diesWithParent(attributes *syscall.SysProcAttr) *syscall.SysProcAttr {
	attributes.Pdeathsig = syscall.SIGKILL
	return attributes
}
