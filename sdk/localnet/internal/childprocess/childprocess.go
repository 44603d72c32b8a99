// Package childprocess starts processes in process groups of their own. On Linux the kernel kills them when this
// process ends.
package childprocess

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts a command as leader in a new process group. Ctrl-C does not reach that group. On Linux, the
// kernel kills the child when this process ends.
//
// If the command starts, attend runs in a new goroutine. It must wait until the command ends.
func Start(command *exec.Cmd, attend func()) error {
	command.SysProcAttr = diesWithParent(&syscall.SysProcAttr{Setpgid: true})
	starting := make(chan error, 1)
	go func() {
		// The kernel considers the parent dead when the thread that started the child ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		starting <- err
		if err == nil {
			attend()
		}
	}()
	return <-starting
}
