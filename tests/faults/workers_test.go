package faults_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"time"
)

// workers starts, kills and restarts the processes of the agents.
type workers struct {
	plan *plan

	lock sync.Mutex
	// processes contains the running processes by host number. Entries are nil while the process is not
	// running.
	processes []*exec.Cmd
	// inputs contains the processes' inputs. A process finishes when the input ends.
	inputs []io.Closer
	// killed is set when the process is meant to end, armed when it will be killed at the next transaction.
	killed, armed []bool
	finishing     bool
	// anytime and sending count the kills at random moments and the kills between a transaction and the
	// response.
	anytime, sending int

	running sync.WaitGroup
	failed  chan error
}

func newWorkers(p *plan) *workers {
	hosts := len(p.Hosts)
	return &workers{
		plan: p, processes: make([]*exec.Cmd, hosts), inputs: make([]io.Closer, hosts), killed: make([]bool, hosts), armed: make([]bool, hosts),
		failed: make(chan error, hosts),
	}
}

// start keeps all processes running until finish.
func (c *workers) start(ctx context.Context, seed uint64) {
	for host := range c.plan.Hosts {
		chance := rand.New(rand.NewPCG(seed, uint64(host)))
		c.running.Go(func() {
			for {
				again, err := c.live(ctx, host)
				if err != nil {
					c.failed <- fmt.Errorf("host %d: %w", host, err)
					return
				}
				if !again || pause(ctx, time.Duration(chance.Int64N(int64(longestRest)))) != nil {
					return
				}
			}
		})
	}
}

// longestRest is the longest time between a kill and the restart.
const longestRest = 600 * time.Millisecond

// live runs a process until it ends. It reports whether the process must be restarted.
func (c *workers) live(ctx context.Context, host int) (again bool, err error) {
	executable, err := os.Executable()
	if err != nil {
		return false, err
	}
	output, err := os.OpenFile(c.plan.outputFile(host), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return false, err
	}
	defer output.Close()
	command := exec.CommandContext(ctx, executable)
	command.Env = append(os.Environ(), envPlan+"="+c.plan.file(), fmt.Sprint(envHost, "=", host))
	command.Stdout, command.Stderr = output, output
	input, err := command.StdinPipe()
	if err != nil {
		return false, err
	}
	defer input.Close()
	if err := c.begin(host, command, input); err != nil {
		return false, err
	}
	err = command.Wait()
	c.lock.Lock()
	defer c.lock.Unlock()
	c.processes[host] = nil
	intended := c.killed[host]
	c.killed[host], c.armed[host] = false, false
	if intended {
		return true, nil
	}
	if err == nil && c.finishing {
		return false, nil
	}
	return false, errors.Join(errors.New("a process ended without a kill"), err, ctx.Err())
}

// begin starts a process. If the workers are finishing, the new process finishes at once, and only resolves
// the transactions that were in flight when it was killed.
func (c *workers) begin(host int, command *exec.Cmd, input io.Closer) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	if err := command.Start(); err != nil {
		return err
	}
	c.processes[host], c.inputs[host] = command, input
	if c.finishing {
		return input.Close()
	}
	return nil
}

// kill kills processes in sequence, until there were so many kills or the context ends.
func (c *workers) kill(ctx context.Context, kills int, seed uint64) {
	chance := rand.New(rand.NewPCG(seed, uint64(len(c.plan.Hosts))))
	every := leastLife + time.Duration(len(c.plan.Negotiations))*lifeOfEach
	for range kills {
		if pause(ctx, every/2+time.Duration(chance.Int64N(int64(every)))) != nil {
			return
		}
		host := chance.IntN(len(c.plan.Hosts))
		if chance.IntN(2) == 0 {
			c.lock.Lock()
			c.armed[host] = c.processes[host] != nil
			c.lock.Unlock()
			continue
		}
		c.strike(host, &c.anytime)
	}
}

// The average time between kills grows with the number of negotiations, so that even the last kill meets
// unfinished negotiations.
const (
	leastLife  = 700 * time.Millisecond
	lifeOfEach = 6 * time.Millisecond
)

func (c *workers) strike(host int, count *int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if process := c.processes[host]; process != nil && !c.killed[host] && !c.finishing && process.Process.Kill() == nil {
		c.killed[host] = true
		*count++
	}
}

// sent is called with each transaction that has reached the chain, before the sender receives the response.
func (c *workers) sent(path string) {
	for host := range c.plan.Hosts {
		if hostPath(host) != path {
			continue
		}
		c.lock.Lock()
		armed := c.armed[host]
		c.armed[host] = false
		c.lock.Unlock()
		if armed {
			c.strike(host, &c.sending)
		}
	}
}

// finish ends all processes and waits for them.
func (c *workers) finish() error {
	c.lock.Lock()
	c.finishing = true
	for host, process := range c.processes {
		if process != nil {
			_ = c.inputs[host].Close()
		}
	}
	c.lock.Unlock()
	c.running.Wait()
	close(c.failed)
	var failed error
	for err := range c.failed {
		failed = errors.Join(failed, err)
	}
	return failed
}

// kills returns the numbers of kills.
func (c *workers) kills() (anytime, sending int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.anytime, c.sending
}
