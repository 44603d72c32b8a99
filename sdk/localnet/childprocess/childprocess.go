// Package childprocess starts processes in process groups of their own. On Linux the kernel kills them when this
// process ends.
package childprocess

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts a command as the leader of a new process group. Ctrl-C does not reach that group. On Linux,
// the kernel kills the child when this process ends.
//
// If the command starts, attend runs in a new goroutine. It must wait for the end of the command.
func Start(command *exec.Cmd, attend func()) error {
	command.SysProcAttr = diesWithParent(&syscall.SysProcAttr{Setpgid: true})
	starting := make(chan error, 1)
	go func() {
		// For the kernel, the end of the thread that started a child is the death of its parent.
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
