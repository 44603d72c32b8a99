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

// crew keeps the processes of the agents running, and kills them.
type crew struct {
	plan *plan

	lock sync.Mutex
	// processes are those that run, by the numbers of their hosts; nil for one that does not.
	processes []*exec.Cmd
	// inputs are theirs, whose end tells them to finish.
	inputs []io.Closer
	// killed says that the end of a process was intended, and armed that it is to be killed at its next transaction.
	killed, armed []bool
	finishing     bool
	// anytime and sending count the kills at random moments and those while a transaction was under way.
	anytime, sending int

	running sync.WaitGroup
	failed  chan error
}

func newCrew(p *plan) *crew {
	hosts := len(p.Hosts)
	return &crew{
		plan: p, processes: make([]*exec.Cmd, hosts), inputs: make([]io.Closer, hosts), killed: make([]bool, hosts), armed: make([]bool, hosts),
		failed: make(chan error, hosts),
	}
}

// start has all processes run until finish.
func (c *crew) start(ctx context.Context, seed uint64) {
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

// longestRest is how long a process stays dead at most.
const longestRest = 600 * time.Millisecond

// live is one life of a process. It says whether there is to be another one.
func (c *crew) live(ctx context.Context, host int) (again bool, err error) {
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
	return false, errors.Join(errors.New("a process has ended that nobody has killed"), err, ctx.Err())
}

// begin starts a process. If everybody is to finish, so is this one, at once: what it had under way when it was killed is to be resolved.
func (c *crew) begin(host int, command *exec.Cmd, input io.Closer) error {
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

// kill kills processes, one after the other, until there have been so many or the context ends.
func (c *crew) kill(ctx context.Context, kills int, seed uint64) {
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

// How long everybody is left alone on average between two kills: the more there is to do, the longer, so that there is something left
// to do at the last one.
const (
	leastLife  = 700 * time.Millisecond
	lifeOfEach = 6 * time.Millisecond
)

func (c *crew) strike(host int, count *int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if process := c.processes[host]; process != nil && !c.killed[host] && !c.finishing && process.Process.Kill() == nil {
		c.killed[host] = true
		*count++
	}
}

// sent is told of a transaction that has reached the chain while its sender does not know.
func (c *crew) sent(path string) {
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

// finish has all processes end by themselves, and waits until they have.
func (c *crew) finish() error {
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

// kills are how often processes have been killed.
func (c *crew) kills() (anytime, sending int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.anytime, c.sending
}
