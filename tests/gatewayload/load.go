// Package gatewayload loads the gateway with negotiations and compares it with pgbench, and reports the
// measurements.
//
// [Run] starts a PostgreSQL server and fills a database with publishers and clients. Workers negotiate over
// HTTP with `haggle serve` on that database, in turns with pgbench, which executes the SQL of the same
// negotiations on a copy of the database. The SQL is not written by hand: it is read from the server's log
// while a gateway responds. Afterwards the limits are tried, every row is compared with the responses that
// the workers received, and the audit log is verified.
//
//	result, err := gatewayload.Run(ctx, gatewayload.Options{Program: "haggle", Progress: os.Stderr})
//	...
//	err = result.Write("docs/GATEWAY_LOAD.md")
package gatewayload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

// Options configure a run. Zero values are replaced by the defaults.
type Options struct {
	// Program is the path of the haggle command. It is required.
	Program string
	// Publishers and Clients count the parties in the database. The defaults are 1,000 and 100,000.
	Publishers, Clients int
	// Workers is the number of requests in flight, and of pgbench connections. The default is 16, the number
	// of connections that a gateway uses.
	Workers int
	// Processes is the number of gateways. The default is 1.
	Processes int
	// Windows is the number of measurements per program and mode. The default is 5.
	Windows int
	// Lasting is the time per measurement, in whole seconds, at least 1 s. The default is 20 s.
	Lasting time.Duration
	// Progress receives a line for each step. If nil, the lines are discarded.
	Progress io.Writer
}

func (o Options) withDefaults() (Options, error) {
	o.Publishers, o.Clients = cmp.Or(o.Publishers, 1000), cmp.Or(o.Clients, 100_000)
	o.Workers, o.Processes = cmp.Or(o.Workers, 16), cmp.Or(o.Processes, 1)
	o.Windows, o.Lasting = cmp.Or(o.Windows, 5), cmp.Or(o.Lasting, 20*time.Second)
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	switch {
	case o.Program == "":
		return o, errors.New("gateway load: program not set; set it to the path of haggle")
	case o.Workers < 1 || o.Workers > maxWorkers || o.Processes < 1 || o.Windows < 1:
		return o, fmt.Errorf(
			"%d workers, %d processes, %d windows: use 1 to %d workers, and at least 1 of the others",
			o.Workers, o.Processes, o.Windows, maxWorkers)
	case o.Publishers < limitTries || o.Clients < 2*limitTries+o.Workers:
		return o, fmt.Errorf("%d publishers and %d clients: use at least %d and %d", o.Publishers, o.Clients,
			limitTries, 2*limitTries+o.Workers)
	case o.Lasting < time.Second || o.Lasting%time.Second != 0:
		return o, fmt.Errorf("time of a measurement: %s; use whole seconds, at least 1", o.Lasting)
	}
	return o, nil
}

// maxWorkers is lower than the number of connections that PostgreSQL admits by default.
const maxWorkers = 80

// mode is a setting of PostgreSQL during measurements.
type mode struct {
	title string
	fsync bool
}

// modes are measured in turns.
var modes = []mode{
	{"each commit on disk (fsync on, the default)", true},
	{"no waiting for the disk (fsync off)", false},
}

type run struct {
	Options
	server   *testpostgres.Server
	folder   string
	seeds    *seeds
	script   *script
	sender   *sender
	pgbench  *pgbench
	gateways []*gateway
}

func (r *run) printf(format string, arguments ...any) {
	fmt.Fprintf(r.Progress, format+"\n", arguments...)
}

// Run measures, and returns the measurements and findings. It returns an error if the run did not finish. The
// processes have ended when Run returns.
func Run(ctx context.Context, options Options) (result *Result, err error) {
	options, err = options.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &run{Options: options}
	if r.folder, err = os.MkdirTemp("", "haggle-load-"); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.folder)) }()
	r.printf("starting PostgreSQL")
	if r.server, err = testpostgres.Start(ctx, logSettings...); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.server.Close()) }()
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.stopGateways()) }()
	for range r.Processes {
		g, err := startGateway(ctx, r.Program, r.server.Address(loaded), r.folder)
		if err != nil {
			return nil, err
		}
		r.gateways = append(r.gateways, g)
	}
	r.sender = newSender(r.gateways, r.seeds, r.Workers)
	result = &Result{Options: r.Options, machine: report.Machine(), script: r.script}
	if result.version, err = r.version(ctx); err != nil {
		return nil, err
	}
	if err := r.measure(ctx, result); err != nil {
		return nil, err
	}
	r.printf("ending the open negotiations")
	if err := r.sender.drain(ctx); err != nil {
		return nil, err
	}
	r.printf("trying the limits")
	if result.limits, err = r.sender.tryLimits(ctx); err != nil {
		return nil, err
	}
	if err := r.stopGateways(); err != nil {
		return nil, err
	}
	r.printf("comparing the database with the answers")
	return result, r.compareAll(ctx, result)
}

// prepare fills the databases and writes the script of pgbench.
func (r *run) prepare(ctx context.Context) (err error) {
	r.printf("adding %s publishers and %s clients", report.Count(r.Publishers), report.Count(r.Clients))
	if err := r.server.Execute(ctx, "CREATE DATABASE "+loaded); err != nil {
		return err
	}
	if r.seeds, err = seed(ctx, r.server.Address(loaded), r.Publishers, r.Clients); err != nil {
		return err
	}
	for _, name := range []string{compared, captured} {
		if err := r.server.Execute(ctx, "CREATE DATABASE "+name+" TEMPLATE "+loaded); err != nil {
			return err
		}
	}
	r.printf("reading the SQL of a negotiation from the log of PostgreSQL")
	if r.script, err = r.capture(ctx); err != nil {
		return err
	}
	r.pgbench, err = newPgbench(r.server, r.script, r.folder, r.Workers)
	return err
}

// measure measures the gateway and pgbench in turns, after an uncounted measurement of both.
func (r *run) measure(ctx context.Context, result *Result) error {
	result.measured = map[bool]*measurements{true: {}, false: {}}
	for number := range r.Windows + 1 {
		for _, mode := range modes {
			setting := map[bool]string{true: "on", false: "off"}[mode.fsync]
			if err := r.server.Execute(ctx, "ALTER SYSTEM SET fsync = "+setting); err != nil {
				return err
			}
			if err := r.server.Execute(ctx, "SELECT pg_reload_conf()"); err != nil {
				return err
			}
			m, lasting := result.measured[mode.fsync], r.Lasting
			if number == 0 {
				m, lasting = &measurements{}, min(lasting, warmUp)
			}
			for _, program := range []struct {
				name    string
				measure func(context.Context, time.Duration) (window, error)
				windows *[]window
			}{{"gateway", r.sender.measure, &m.gateway}, {"pgbench", r.pgbench.measure, &m.pgbench}} {
				// Each measurement begins with the same distance to the next checkpoint.
				if err := r.server.Execute(ctx, "CHECKPOINT"); err != nil {
					return err
				}
				before := r.used()
				w, err := program.measure(ctx, lasting)
				if err != nil {
					return fmt.Errorf("%s: %w", program.name, err)
				}
				w.used = w.used.plus(r.used().minus(before))
				*program.windows = append(*program.windows, w)
				r.printf("measurement %d of %d, fsync %s, %s: %.0f per second, p99 %.1f ms, %s", number, r.Windows, setting,
					program.name, w.rate(), milliseconds(w.quantile(99)), &w)
			}
		}
	}
	return nil
}

// warmUp is the length of an uncounted measurement.
const warmUp = 3 * time.Second

func (r *run) stopGateways() (err error) {
	for _, g := range r.gateways {
		err = errors.Join(err, g.stop())
	}
	r.gateways = nil
	return err
}
