package hire

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/languagemodel"
	"github.com/haggle-protocol/haggle/internal/cli/listener"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/cli/statefolder"
	"github.com/haggle-protocol/haggle/internal/databases"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/internal/hire/transport"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

const serveHelp = `Runs a home: a server where agents hire a worker. It has the worker's card at
/.well-known/hire.json, an inbox, event streams and the log of each conversation. It runs until Ctrl-C.

The wallet is the worker's. With --least the command is the worker as well: it bargains about the price by
--strategy, and runs --deliver for each contract. Without it, a worker in another process connects
to the home (sdk/hire/party, or a peer in another language: docs/HIRE.md).

The home signs contracts with a settlement key of its own, once the price of an agreement is in escrow.
The key holds no money.

--deliver is a command line for sh. It reads the contract as JSON on stdin, with the task, and writes the
delivery to stdout, at most 8 MiB. It may run until the deadline, and runs again after an error or a restart.
Texts of the seeker are untrusted: the command must not execute them.

Other agents must reach the home over https: put a proxy that ends TLS before it, and name its origin with
--origin. On one machine http://127.0.0.1 works.

The database is a SQLite file in the state folder, or PostgreSQL, which several servers can use at the same
time: --db postgres://USER@HOST/NAME. Signed checkpoints of the logs are written beside a SQLite file.

` + languagemodel.Help + `
The seeker's texts reach the model as quoted data.

--demo starts a local chain with a funded worker and a funded seeker, and prints a command that hires the
worker.`

const serveExample = `  haggle hire serve --demo
  haggle hire serve --origin https://worker.example --skill logo --opening "6 USDC" --least "4 USDC" \
      --arbiter ADDRESS --deliver ./draw-logo`

const (
	defaultListen   = "127.0.0.1:3010"
	shutdownTimeout = 10 * time.Second
)

// serveOptions holds the flags of haggle hire serve.
type serveOptions struct {
	agentFlags
	timeoutFlags
	listen, origin, database, settlementKey string
	hosts                                   []string
	open, lenient, demo, noSettlement       bool
	worker                                  workerFlags
	// changed reports whether a flag is set.
	changed func(flag string) bool
}

// homeView is what a started home prints.
type homeView struct {
	Origin string `json:"origin"`
	// Worker is the worker's key, and Settlement the contract key; empty if not set.
	Worker     string `json:"worker"`
	Settlement string `json:"settlement,omitempty"`
	Database   string `json:"database"`
	// Try is a command that hires the worker of --demo.
	Try string `json:"try,omitempty"`
}

func (v homeView) lines() []string {
	lines := []string{
		"home        " + v.Origin, "worker      " + v.Worker, "settlement  " + cmp.Or(v.Settlement, "none"),
		"database    " + v.Database,
	}
	if v.Try != "" {
		lines = append(lines, "", "In another terminal:", "", "  "+v.Try)
	}
	return lines
}

func serveCommand(s *session.Session) *cobra.Command {
	o := &serveOptions{agentFlags: agentFlags{Session: s}}
	cmd := &cobra.Command{
		Use: "serve", Short: "Run a worker's home", Long: serveHelp, Example: serveExample,
	}
	flags := cmd.Flags()
	o.agentFlags.register(cmd, "Solana address that the worker accepts as arbiter; can be repeated")
	o.worker.register(cmd)
	o.timeoutFlags.register(cmd)
	flags.StringVar(&o.listen, "listen", defaultListen, "address of the server; port 0 is any free one")
	flags.StringVar(&o.origin, "origin", "", "origin at which others reach the home (default: http at --listen)")
	flags.StringVar(&o.database, "db", "", "database: FILE or postgres://HOST/NAME (default: a file in the state folder)")
	flags.StringVar(&o.settlementKey, "settlement-key", "",
		"PEM file of the key that signs contracts (default: one in the state folder, created at the first start)")
	flags.BoolVar(&o.noSettlement, "no-settlement", false, "sign no contracts, and need no chain")
	flags.StringArrayVar(&o.hosts, "host", nil, "id of a further worker whose conversations live here; can be repeated")
	flags.BoolVar(&o.open, "open", false, "host the conversations of all workers")
	flags.BoolVar(&o.lenient, "lenient", false, "accept messages without in_reply_to, and log them")
	flags.BoolVar(&o.demo, "demo", false, "start a local chain, and a worker to try")
	cmd.MarkFlagsMutuallyExclusive("open", "host")
	cmd.MarkFlagsMutuallyExclusive("settlement-key", "no-settlement")
	o.changed = flags.Changed
	command.Documents(cmd, homeView{}, messageView{}, actView{}, dealView{}, modelMove{})
	cmd.RunE = s.Unlimited(func(ctx context.Context, _ []string) error {
		if o.llm.IsSet() && !o.worker.isSet() {
			return exitcode.Requires("--llm", "--least", "without it another process decides")
		}
		if o.demo {
			return o.serveDemo(ctx)
		}
		return o.serve(ctx, nil)
	})
	return cmd
}

// files lists the paths of a home's files.
type files struct{ database, checkpoints, checkpointKey, settlementKey string }

func (o *serveOptions) files() (files, error) {
	folder, err := statefolder.Path(statefolder.Hire)
	if err != nil {
		return files{}, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return files{}, err
	}
	f := files{
		database:      cmp.Or(o.database, filepath.Join(folder, "home.db")),
		settlementKey: cmp.Or(o.settlementKey, filepath.Join(folder, "settlement.key")),
	}
	if !databases.IsPostgres(f.database) {
		f.checkpoints = f.database + "-checkpoints.jsonl"
		f.checkpointKey = f.database + "-checkpoints.key"
	}
	return f, nil
}

// serve runs the home, and the worker if there is one. try, which can be nil, returns a command that hires it.
func (o *serveOptions) serve(ctx context.Context, try func(origin string) string) (err error) {
	listening, err := listener.Open(ctx, "listen", o.listen)
	if err != nil {
		return err
	}
	defer listening.Close() // already closed when Serve has returned
	origin := cmp.Or(o.origin, "http://"+listening.Addr().String())
	if err := hire.CheckOrigin(origin); err != nil {
		return exitcode.Usagef("--origin: %w", err)
	}
	timeouts, err := o.timeouts()
	if err != nil {
		return err
	}
	f, err := o.files()
	if err != nil {
		return err
	}
	opened, err := store.Open(ctx, f.database)
	if err != nil {
		return exitcode.WithHint(err, "set --db to a file or to postgres://USER@HOST/NAME")
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	k, err := o.keys(ctx)
	if err != nil {
		return err
	}
	log := o.Logger(slog.LevelInfo)
	config := service.Config{
		Store: opened, ID: origin, Key: k.key.Public().(ed25519.PublicKey), Hosts: o.hosts, Open: o.open,
		Rules: hire.Rules{Timeouts: timeouts, Lenient: o.lenient}, Client: &hire.Client{Local: o.local}, Log: log,
	}
	if f.checkpoints != "" {
		key, err := audit.LoadOrCreateKey(f.checkpointKey)
		if err != nil {
			return err
		}
		config.Checkpoints = &service.Checkpoints{Path: f.checkpoints, Key: key}
	}
	if !o.noSettlement {
		if config.Settlement, err = o.settlement(ctx, k, f.settlementKey); err != nil {
			return err
		}
	}
	home, err := service.New(config)
	if err != nil {
		return err
	}
	card, view, err := o.card(k, origin, config, opened.String())
	if err != nil {
		return err
	}
	server, err := transport.NewServer(transport.Config{
		Service: home, Origin: origin, Card: card, TaskSecret: taskSecret(k.key), Log: log,
	})
	if err != nil {
		return err
	}
	if try != nil {
		view.Try = try(origin)
	}
	if err := o.Print(view, view.lines()...); err != nil {
		return err
	}
	return o.run(ctx, k, origin, home, server, listening)
}

// settlement returns how the home signs contracts.
func (o *serveOptions) settlement(ctx context.Context, k keys, path string) (*service.Settlement, error) {
	key, err := audit.LoadOrCreateKey(path)
	if err != nil {
		return nil, fmt.Errorf("--settlement-key: %w", err)
	}
	assets, err := o.assets(ctx, o.Session)
	if err != nil {
		return nil, err
	}
	genesis, err := k.client.RPC().GetGenesisHash(ctx)
	if err != nil {
		return nil, err
	}
	return &service.Settlement{Key: key, Genesis: genesis, Assets: assets, Snapshots: k.client.Snapshots}, nil
}

// card returns the signed card, and what the command prints.
func (o *serveOptions) card(k keys, origin string, config service.Config, database string) ([]byte, homeView, error) {
	view := homeView{Origin: origin, Worker: addressOf(k.key).String(), Database: database}
	card := hire.Card{
		ID: origin, Inbox: origin + hire.InboxPath, Skills: o.worker.skills, Timeouts: config.Rules.Timeouts,
	}
	if config.Settlement != nil {
		view.Settlement = addressOf(config.Settlement.Key).String()
		card.Settlement = hire.Base58(view.Settlement)
	}
	text, err := hire.SignCard(k.key, nil, card)
	return text, view, err
}

// taskSecret derives the A2A task secret from the worker's key: servers with the same key share the same
// secret.
func taskSecret(key ed25519.PrivateKey) []byte {
	secret := sha256.Sum256(append([]byte("haggle/hire/a2a/secret/v1\x00"), key.Seed()...))
	return secret[:]
}

// run serves until the context ends. Then it ends the streams, and completes the requests in progress.
func (o *serveOptions) run(
	ctx context.Context, k keys, origin string, home *service.Service, server *http.Server, listening net.Listener,
) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return home.Run(ctx) })
	group.Go(func() error {
		if err := server.Serve(listening); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		return server.Shutdown(grace)
	})
	if o.worker.isSet() {
		worker, err := o.newWorker(ctx, k, origin)
		if err != nil {
			return err
		}
		group.Go(func() error {
			if err := worker.Run(ctx); ctx.Err() == nil {
				return err
			}
			return nil
		})
	}
	return group.Wait()
}
