package gatewayload

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/haggle-protocol/haggle/internal/lab/report"
)

// used returns the processor time used until now by this process, the gateways and PostgreSQL. It returns
// zeros for other processes if the system lacks /proc.
func (r *run) used() (p processorTime) {
	p.sender = report.ProcessorTime(syscall.RUSAGE_SELF)
	all, err := procfs.AllProcs()
	if err != nil {
		return p
	}
	text, err := os.ReadFile(filepath.Join(r.server.Folder, "data", "postmaster.pid"))
	if err != nil {
		return p
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	server, err := strconv.Atoi(string(line))
	if err != nil {
		return p
	}
	const tick = time.Second / 100 // a constant of Linux
	for _, process := range all {
		stat, err := process.Stat()
		if err != nil {
			continue // it has ended
		}
		lived := time.Duration(stat.UTime+stat.STime) * tick
		switch {
		case stat.PID == server:
			p.server += lived + time.Duration(stat.CUTime+stat.CSTime)*tick
		case stat.PPID == server:
			p.server += lived
		}
		for _, g := range r.gateways {
			if stat.PID == g.process.Process.Pid {
				p.gateways += lived
			}
		}
	}
	return p
}
