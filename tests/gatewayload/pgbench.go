package gatewayload

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

// pgbench executes the script with as many connections as there are workers.
type pgbench struct {
	program, script, folder string
	server                  *testpostgres.Server
	workers, runs           int
	constants               []string
	// transactions is the number in all runs.
	transactions [operations]int
}

func newPgbench(server *testpostgres.Server, s *script, folder string, workers int) (*pgbench, error) {
	program, err := testpostgres.Program("pgbench")
	if err != nil {
		return nil, err
	}
	p := &pgbench{program: program, script: filepath.Join(folder, "sequence.sql"), folder: folder, server: server,
		workers: workers, constants: s.constants}
	return p, os.WriteFile(p.script, []byte(s.text), 0o600)
}

// firstNumber is the smallest of the 12-digit numbers at the end of a run's ids; runNumbers are for each run.
const (
	firstNumber = 100_000_000_000
	runNumbers  = 1_000_000_000
)

var tps = regexp.MustCompile(`(?m)^tps = ([0-9.]+) \(without initial connection time\)$`)

// measure runs pgbench with prepared statements. It returns an error if a transaction failed.
func (p *pgbench) measure(ctx context.Context, lasting time.Duration) (w window, err error) {
	log := filepath.Join(p.folder, fmt.Sprintf("pgbench-%d", p.runs))
	arguments := []string{
		"-h", p.server.Folder, "-U", testpostgres.Superuser, "-n", "-M", "prepared", "-c", strconv.Itoa(p.workers),
		"-j", strconv.Itoa(min(p.workers, runtime.NumCPU())), "-T", strconv.Itoa(int(lasting.Seconds())), "-l",
		"--log-prefix", log, "-f", p.script,
	}
	variables := []string{
		"step=-1", "opened=0", fmt.Sprintf("now=%d", time.Now().UnixMicro()),
		fmt.Sprintf("first=%d", firstNumber+p.runs*runNumbers), "number=0", "client=0", "publisher=0",
	}
	for at, value := range p.constants {
		variables = append(variables, fmt.Sprintf("c%d=%s", at, value))
	}
	for _, variable := range variables {
		arguments = append(arguments, "-D", variable)
	}
	p.runs++
	command := exec.CommandContext(ctx, p.program, append(arguments, compared)...)
	var printed, failure bytes.Buffer
	command.Stdout, command.Stderr = &printed, &failure
	began := time.Now()
	if err := command.Run(); err != nil {
		return w, fmt.Errorf("%w\n%s", err, failure.String())
	}
	w.lasted = time.Since(began)
	w.used.sender = command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	found := tps.FindSubmatch(printed.Bytes())
	if found == nil {
		return w, fmt.Errorf("no rate in the output: %s", printed.String())
	}
	if w.perSecond, err = strconv.ParseFloat(string(found[1]), 64); err != nil {
		return w, err
	}
	files, err := filepath.Glob(log + ".*")
	if err != nil || len(files) == 0 {
		return w, errors.Join(errors.New("no log of transactions"), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return w, err
		}
		if err := errors.Join(w.readTransactions(string(text)), os.Remove(file)); err != nil {
			return w, err
		}
	}
	for at, took := range w.took {
		p.transactions[at] += len(took)
	}
	return w, nil
}

// readTransactions reads pgbench's log: client, transaction of the client from 1, microseconds, and more.
func (w *window) readTransactions(text string) error {
	for line := range strings.Lines(text) {
		var client, transaction, micros int
		if _, err := fmt.Sscan(line, &client, &transaction, &micros); err != nil || transaction < 1 {
			return fmt.Errorf("log of transactions: %.100q: %w", line, err)
		}
		w.add(sequence[(transaction-1)%len(sequence)].operation, time.Duration(micros)*time.Microsecond)
	}
	return nil
}
