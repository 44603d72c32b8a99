package hire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/flags"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/hire/party"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

const demoHelp = `Starts a local chain, and a seeker and a worker as two processes, which know only each other's address.
The seeker asks for a logo, the worker asks back, they agree on a price, the seeker deposits it in
escrow, the worker delivers, and the seeker pays. At the end the command verifies the log of the
conversation, its settlement and the balances. The exit code is 0 only if all of it is as agreed.`

const (
	demoLimit = 5 * time.Minute
	// demoLeast, demoMost and the openings set the demonstration prices.
	demoLeast, demoWorkerOpening = "3 TEST", "6 TEST"
	demoMost, demoSeekerOpening  = "5 TEST", "3 TEST"
	demoTask                     = "A logo for a bakery"
	// stopGrace is how long an interrupted child may take to finish a transaction.
	stopGrace = 10 * time.Second
)

// demoView is the demonstration's result.
type demoView struct {
	Conversation string `json:"conversation_id"`
	Messages     int    `json:"messages"`
	// Paid and Fee are in base units: the worker has received the difference.
	Paid     uint64 `json:"paid"`
	Fee      uint64 `json:"fee"`
	Received uint64 `json:"received"`
	Evidence string `json:"evidence"`
	// Verified reports whether the conversation log, the settlement and the balances are as agreed.
	Verified bool `json:"verified"`
}

func demoCommand(s *session.Session) *cobra.Command {
	var chain flags.Chain
	cmd := &cobra.Command{
		Use: "demo", Short: "Watch a seeker hire a worker on a local chain", Long: demoHelp,
		Example: "  haggle hire demo",
	}
	chain.Register(cmd)
	command.Documents(cmd, homeView{}, askedView{}, messageView{}, actView{}, dealView{}, demoView{})
	cmd.RunE = s.Unlimited(func(ctx context.Context, _ []string) error {
		kind, err := chain.Kind()
		if err != nil {
			return err
		}
		return withStage(ctx, s, kind, func(st *stage) error { return st.play(ctx) })
	})
	return cmd
}

// stage is a local chain with a seeker's and a worker's files.
type stage struct {
	*session.Session
	net     *localnet.Net
	folder  string
	arbiter *wallet.Keypair
	// printing orders the lines of the two processes.
	printing sync.Mutex
}

// withStage starts a chain and calls act. Afterwards it removes everything.
func withStage(ctx context.Context, s *session.Session, kind localnet.Kind, act func(*stage) error) (err error) {
	folder, err := os.MkdirTemp("", "haggle-hire-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	net, err := localnet.Start(ctx, localnet.Options{Kind: kind, Progress: func(line string) { fmt.Fprintln(s.Stderr, line) }})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, net.Close()) }()
	st := &stage{Session: s, net: net, folder: folder}
	if st.arbiter, err = wallet.GenerateKeypair(); err != nil {
		return err
	}
	for name, key := range map[string]*wallet.Keypair{"seeker": net.Buyer, "worker": net.Seller} {
		if err := key.Save(st.file(name + ".json")); err != nil {
			return err
		}
	}
	return act(st)
}

func (st *stage) file(name string) string { return filepath.Join(st.folder, name) }

// arguments returns the arguments that the two processes share.
func (st *stage) arguments(name string) []string {
	return []string{
		"--url", st.net.Chain.RPCURL(), "--ws", st.net.Chain.WSURL(), "--keypair", st.file(name + ".json"),
		"--state", st.file(name + ".db"), "--asset", "TEST=" + st.net.Mint.String(), "--arbiter",
		st.arbiter.PublicKey().String(), "--local", "--json",
	}
}

// play runs both processes until the seeker has paid.
func (st *stage) play(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, demoLimit)
	defer cancel()
	worker, err := st.start(ctx, "worker", append([]string{
		"hire", "serve", "--demo-work", "--listen", "127.0.0.1:0", "--db", st.file("home.db"), "--settlement-key",
		st.file("settlement.key"), "--least", demoLeast, "--opening", demoWorkerOpening, "--skill", "logo",
		"--single-source-up-to", demoWorkerOpening, "--finalized-above", demoWorkerOpening,
	}, st.arguments("worker")...))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, worker.stop()) }()
	home, err := worker.origin(ctx)
	if err != nil {
		return err
	}
	seeker, err := st.start(ctx, "seeker", append([]string{
		"hire", "ask", home, "--inquire", "a logo", "--task", demoTask, "--requirement", "SVG", "--answer", "Brown and gold.",
		"--most", demoMost, "--opening", demoSeekerOpening, "--deadline", "1h", "--yes", "--out", st.file("logo.svg"),
	}, st.arguments("seeker")...))
	if err != nil {
		return err
	}
	result, err := seeker.result()
	if err != nil {
		return err
	}
	return st.check(ctx, home, result)
}

// serveDemo runs a worker to try.
func (o *serveOptions) serveDemo(ctx context.Context) error {
	return withStage(ctx, o.Session, "", func(st *stage) error {
		settings := &o.Connection
		settings.URL, settings.WebSocketURL = st.net.Chain.RPCURL(), st.net.Chain.WSURL()
		settings.KeypairPath, settings.StatePath = st.file("worker.json"), st.file("worker.db")
		o.written = []string{"TEST=" + st.net.Mint.String()}
		o.arbiters, o.local = []string{st.arbiter.PublicKey().String()}, true
		o.database, o.settlementKey = st.file("home.db"), st.file("settlement.key")
		o.opening, o.worker.least, o.worker.skills = demoWorkerOpening, demoLeast, []string{"logo"}
		o.worker.singleSource, o.worker.finalized, o.worker.demo = demoWorkerOpening, demoWorkerOpening, true
		return o.serve(ctx, func(origin string) string {
			return fmt.Sprintf("haggle hire ask %s --task %q --most %q --local --yes --out logo.svg \\\n"+
				"    --url %s --ws %s --keypair %s --state %s \\\n    --asset TEST=%s --arbiter %s", origin, demoTask, demoMost,
				st.net.Chain.RPCURL(), st.net.Chain.WSURL(), st.file("seeker.json"), st.file("seeker.db"), st.net.Mint,
				st.arbiter.PublicKey())
		})
	})
}

// quoteAfterQuestion asks a question about each task, then bargains.
func quoteAfterQuestion(
	quote func(context.Context, party.Turn) (party.Move, error),
) func(context.Context, party.Turn) (party.Move, error) {
	return func(ctx context.Context, turn party.Turn) (party.Move, error) {
		if len(turn.Text.Exchanges) == 0 && len(turn.Offers) == 1 {
			return party.Ask{Questions: []string{"Which colours should the logo have?"}}, nil
		}
		return quote(ctx, turn)
	}
}

// drawLogo is the work done by the demonstration's worker. It uses none of the seeker's texts.
func drawLogo(context.Context, party.Contract) ([]byte, error) {
	return []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 120">
  <circle cx="60" cy="60" r="56" fill="#7b4a21"/>
  <path d="M24 74c0-26 16-40 36-40s36 14 36 40z" fill="#e8b04a"/>
  <path d="M44 46l8 18M60 42v20M76 46l-8 18" stroke="#7b4a21" stroke-width="5" stroke-linecap="round"/>
</svg>
`), nil
}

// child is a demonstration process. It runs in a separate process group, so that Ctrl-C reaches it only once,
// through the context.
type child struct {
	name    string
	command *exec.Cmd
	stderr  bytes.Buffer
	homes   chan string
	deal    dealView
	ended   chan struct{}
	status  error
}

// start starts this program as a child, and prints the child's messages and actions.
func (st *stage) start(ctx context.Context, name string, arguments []string) (*child, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{name: name, homes: make(chan string, 1), ended: make(chan struct{})}
	c.command = exec.CommandContext(ctx, own, arguments...)
	// A test's binary decides by this name whether it is haggle.
	c.command.Args[0] = os.Args[0]
	c.command.Cancel = func() error { return syscall.Kill(-c.command.Process.Pid, syscall.SIGINT) }
	c.command.WaitDelay, c.command.Stderr = stopGrace, &c.stderr
	output, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	err = localnet.StartCommand(c.command, func() {
		c.read(output, st)
		c.status = c.command.Wait()
		close(c.ended)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// read prints the child's documents.
func (c *child) read(output io.Reader, st *stage) {
	t := &transcript{out: st.Stdout, json: st.JSON, name: c.name}
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line, text := bytes.Clone(lines.Bytes()), ""
		var kind struct {
			Origin    string `json:"origin"`
			Direction string `json:"direction"`
			Action    string `json:"action"`
			Outcome   string `json:"outcome"`
		}
		err := json.Unmarshal(line, &kind)
		switch {
		case err != nil:
			continue
		case kind.Origin != "":
			c.homes <- kind.Origin
			text = fmt.Sprintf("%-8s  %s", "home", kind.Origin)
		case kind.Direction != "":
			text, err = lineOf[messageView](line)
		case kind.Action != "":
			text, err = lineOf[actView](line)
		case kind.Outcome != "":
			if err = json.Unmarshal(line, &c.deal); err == nil {
				text = c.deal.line()
			}
		}
		if err == nil && text != "" {
			st.printing.Lock()
			t.print(json.RawMessage(line), text)
			st.printing.Unlock()
		}
	}
}

// lineOf returns a document's line.
func lineOf[V interface{ line() string }](document []byte) (string, error) {
	var v V
	err := json.Unmarshal(document, &v)
	return v.line(), err
}

// origin returns the home's origin once it serves.
func (c *child) origin(ctx context.Context) (string, error) {
	select {
	case origin := <-c.homes:
		return origin, nil
	case <-c.ended:
		return "", c.err()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// result returns the end of the deal.
func (c *child) result() (dealView, error) {
	<-c.ended
	return c.deal, c.err()
}

func (c *child) err() error {
	if c.status == nil {
		return nil
	}
	return fmt.Errorf("%s: %w\n%s", c.name, c.status, bytes.TrimSpace(c.stderr.Bytes()))
}

// stop interrupts the process and waits for it. If the process has exited before, stop returns the process
// error.
func (c *child) stop() error {
	select {
	case <-c.ended:
		return c.err()
	default:
	}
	_ = c.command.Cancel()
	<-c.ended
	return nil
}
