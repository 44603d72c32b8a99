// Package serve is the command haggle serve, which runs the gateway.
package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/gatewayfiles"
	"github.com/haggle-protocol/haggle/internal/cli/languagemodel"
	"github.com/haggle-protocol/haggle/internal/cli/listener"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/model"
	"github.com/haggle-protocol/haggle/internal/gateway/rest"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

const serveHelp = `Runs the gateway, where agents of AI companies negotiate licenses with publishers. It has two
HTTP APIs: negotiation and management, and licenses. Each describes itself at /openapi.json. Agents use the
Model Context Protocol at /mcp of the negotiation API. /healthz and /readyz are for a load balancer, /metrics
for Prometheus, with the administrator's key as bearer token; OTEL_EXPORTER_OTLP_ENDPOINT exports traces. It
runs until Ctrl-C.

The database is a SQLite file in the state folder, or PostgreSQL, which several gateways can use at the same
time: --db postgres://USER@HOST/NAME, or DATABASE_URL. Put a password into PGPASSWORD or ~/.pgpass.

Signed checkpoints of the audit log are written beside the default database: see haggle audit verify.

"haggle gateway" adds publishers and AI companies, and prints their keys. The first start with a database
prints the administrator's API key, once; --new-key makes another one. --demo uses a temporary database with
two publishers and two companies, and prints their keys. docs/GATEWAY.md is a walk through it.

--stdio serves one agent, which starts the command, by the Model Context Protocol on stdin and stdout, without
the HTTP APIs. Its API key is in HAGGLE_API_KEY; without one it is anonymous. It ends with its input.

Strategies can name the language models of --llm, in the fields llm_provider and llm_model. --llm-tokens or
--llm-cost is then required, for a day. Each vendor's key is in OPENAI_API_KEY, AZURE_OPENAI_API_KEY or
ANTHROPIC_API_KEY, or in the file of --llm-key.

The APIs have no TLS: put a proxy that ends TLS before a gateway that others can reach, and name it with
--trusted-proxy. Set the name of the gateway with --authority: signed requests must be for this name, and on
a loopback address the gateway refuses requests for any name but this one and the loopback names.`

const (
	defaultListen       = "127.0.0.1:3003"
	defaultLicensing    = "127.0.0.1:3000"
	shutdownTimeout     = 10 * time.Second
	listenFlag          = "listen"
	licensingListenFlag = "licensing-listen"
)

// serveCommand holds the flags of haggle serve.
type serveCommand struct {
	*session.Session
	database, listen, licensing string
	authorities, proxies        []string
	demo, replaceKey, stdio     bool
	limits                      store.Limits
	wait                        time.Duration
	models                      languagemodel.Serving
	version                     string
}

// readyView is what a started gateway prints.
type readyView struct {
	NegotiationURL string `json:"negotiation_url"`
	// MCPURL is the Model Context Protocol's endpoint for agents.
	MCPURL       string `json:"mcp_url"`
	LicensingURL string `json:"licensing_url"`
	Database     string `json:"database"`
	// Checkpoints is the file with the signed checkpoints of the audit log.
	Checkpoints string `json:"checkpoints"`
	// AdministratorKey is printed once for each database.
	AdministratorKey string `json:"administrator_key,omitempty"`
	// Demo lists the --demo publishers and companies.
	Demo []partyView `json:"demo,omitempty"`
}

// Command returns the command. version is reported by the MCP server.
func Command(s *session.Session, version string) *cobra.Command {
	c := &serveCommand{Session: s, version: version}
	cmd := &cobra.Command{
		Use: "serve", Short: "Run the gateway for content licenses", Long: serveHelp,
		Example: `  haggle serve --demo
  haggle serve --new-key
  HAGGLE_API_KEY=hgl_... haggle serve --stdio
  haggle serve --llm openai:gpt-5-mini --llm-cost 5 --llm-price openai:gpt-5-mini=0.25,2
  haggle serve --listen :3003 --licensing-listen :3000 --authority gateway.example --trusted-proxy 10.0.0.0/8
  DATABASE_URL=postgres://haggle@db.example/gateway haggle serve`,
	}
	flags := cmd.Flags()
	flags.StringVar(&c.listen, listenFlag, defaultListen,
		"address of the negotiation API; port 0 is any free one")
	flags.StringVar(&c.licensing, licensingListenFlag, defaultLicensing, "address of the licensing API")
	flags.StringArrayVar(&c.authorities, "authority", nil,
		"name of the gateway, HOST or HOST:PORT; can be repeated\n(default: the listen addresses)")
	flags.StringArrayVar(&c.proxies, "trusted-proxy", nil,
		"network whose X-Forwarded-For is trusted, such as 10.0.0.0/8; can be repeated")
	flags.BoolVar(&c.demo, "demo", false, "add two publishers and two companies, and print their keys")
	flags.BoolVar(&c.replaceKey, "new-key", false,
		"print a new administrator's key, revoke the earlier ones, and stop")
	flags.BoolVar(&c.stdio, "stdio", false, "serve MCP on stdin and stdout to the agent that starts the command")
	flags.StringVar(&c.database, "db", "", gatewayfiles.DatabaseHelp)
	flags.DurationVar(&c.wait, "wait-for-database", time.Minute,
		"time to wait for a PostgreSQL server that accepts no connections yet")
	limits := c.limitFlags()
	for _, f := range limits {
		flags.IntVar(f.value, f.name, f.otherwise, f.usage)
	}
	c.models.Register(flags)
	cmd.MarkFlagsMutuallyExclusive("demo", "new-key", "stdio")
	for _, ofHTTP := range []string{listenFlag, licensingListenFlag, "authority", "trusted-proxy"} {
		cmd.MarkFlagsMutuallyExclusive(ofHTTP, "stdio")
	}
	command.Documents(cmd, readyView{}, keyView{})
	cmd.RunE = s.Unlimited(func(ctx context.Context, _ []string) error {
		for _, f := range limits {
			if *f.value < 1 {
				return exitcode.Usagef("--%s must be at least 1", f.name)
			}
		}
		if c.replaceKey {
			return gatewayfiles.Failure(c.newKey(ctx))
		}
		return gatewayfiles.Failure(c.serve(ctx, flags.Changed))
	})
	return cmd
}

// limitFlag is a flag that limits new negotiations.
type limitFlag struct {
	value       *int
	name, usage string
	otherwise   int
}

func (c *serveCommand) limitFlags() []limitFlag {
	return []limitFlag{
		{&c.limits.PerClientHour, "proposals-per-hour", "most proposals of a client in an hour; a bundle is one",
			store.DefaultPerClientHour},
		{&c.limits.OpenPerClient, "open-per-client",
			"most negotiations of a client with one publisher that are open or wait for an approval", store.DefaultOpenPerClient},
		{&c.limits.OpenPerPublisher, "open-per-publisher",
			"most open negotiations of registered clients with one publisher", store.DefaultOpenPerPublisher},
		{&c.limits.AnonymousPerPublisher, "anonymous-per-publisher",
			"most negotiations of all anonymous clients with one publisher that are open or wait for an approval", store.DefaultAnonymousPerPublisher},
	}
}

// files returns the gateway's files, and creates their directory. With --demo and no database set, the files
// are temporary.
func (c *serveCommand) files() (files gatewayfiles.Files, remove func() error, err error) {
	remove = func() error { return nil }
	if c.demo && c.database == "" {
		folder, err := os.MkdirTemp("", "haggle-gateway-demo-")
		return gatewayfiles.In(folder, ""), func() error { return os.RemoveAll(folder) }, err
	}
	if files, err = gatewayfiles.Default(c.database); err != nil {
		return files, remove, err
	}
	return files, remove, files.Create()
}

// garbagePercent is GOGC for a gateway. Collections are then about a fifth as frequent as by default. The
// live heap is small, so the larger heap costs only some tens of megabytes.
const garbagePercent = 500

func (c *serveCommand) serve(ctx context.Context, changed func(flag string) bool) (err error) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	proxies, err := c.trusted()
	if err != nil {
		return err
	}
	g := &gateway{log: c.Logger(slog.LevelInfo), version: c.version}
	models, err := c.models.Models(model.Config{
		Logger: g.log, Called: func(tokens int64, err error) { g.metrics.ModelCalled(tokens, err) },
	}, changed)
	if err != nil {
		return err
	}
	if models != nil {
		g.answerTimeout = c.models.AnswerTimeout()
	}
	var listeners listeners
	if !c.stdio {
		if listeners, err = c.open(ctx); err != nil {
			return err
		}
		defer listeners.close()
	}
	files, remove, err := c.files()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	database, err := store.Open(ctx, store.Config{
		Address: files.Database, Limits: c.limits, Wait: c.wait,
		Waiting: func(reason error) { g.log.Warn("waiting for PostgreSQL", "error", reason) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	cases, err := service.New(service.Config{
		Store: database, Models: models, Log: g.log,
		Enqueue: func(ctx context.Context, tx store.Tx, negotiations []string) error {
			return g.jobs.EnqueueAnswers(ctx, tx, negotiations)
		},
	})
	if err != nil {
		return err
	}
	if err := errors.Join(cases.WarnOfConfusableNames(ctx), cases.ChargeModels(ctx)); err != nil {
		return err
	}
	names := c.authorities
	if len(names) == 0 && !c.stdio {
		names = []string{listeners.negotiation.Addr().String(), listeners.licensing.Addr().String()}
	}
	g.database, g.cases = database, cases
	if g.authenticator, err = identity.New(identity.Config{
		Registry: service.Registry{Store: database}, Authorities: names, TrustedProxies: proxies,
		MaxBody: rest.MaxBody, Log: g.log,
	}); err != nil {
		return exitcode.Usagef("--authority: %s", err)
	}
	stop, err := g.start(ctx, files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if c.stdio {
		return g.serveParent(ctx)
	}
	view := readyView{
		NegotiationURL: "http://" + listeners.negotiation.Addr().String(),
		LicensingURL:   "http://" + listeners.licensing.Addr().String(), Database: database.Name,
		Checkpoints: files.Checkpoints,
	}
	view.MCPURL = view.NegotiationURL + mcpPath
	if c.demo {
		if view.Demo, err = seed(ctx, cases); err != nil {
			return err
		}
	}
	if view.AdministratorKey, err = firstKey(ctx, database); err != nil {
		return err
	}
	if err := c.Print(view, view.lines()...); err != nil {
		return err
	}
	return listeners.run(ctx, g)
}

func (c *serveCommand) trusted() (networks []netip.Prefix, err error) {
	for _, text := range c.proxies {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, exitcode.Usagef("--trusted-proxy: %q is not a network such as 10.0.0.0/8", text)
		}
		networks = append(networks, network)
	}
	return networks, nil
}

func (v readyView) lines() []string {
	lines := []string{
		"negotiation API    " + v.NegotiationURL, "MCP                " + v.MCPURL,
		"licensing API      " + v.LicensingURL,
		"database           " + v.Database, "checkpoints        " + v.Checkpoints,
	}
	if v.AdministratorKey != "" {
		lines = append(lines, "administrator key  "+v.AdministratorKey+"  (shown once)")
	}
	for _, party := range v.Demo {
		lines = append(lines, party.line())
	}
	return lines
}

// listeners holds the sockets for the two APIs.
type listeners struct{ negotiation, licensing net.Listener }

func (c *serveCommand) open(ctx context.Context) (l listeners, err error) {
	if l.negotiation, err = listener.Open(ctx, listenFlag, c.listen); err != nil {
		return l, err
	}
	if l.licensing, err = listener.Open(ctx, licensingListenFlag, c.licensing); err != nil {
		return l, errors.Join(err, l.negotiation.Close())
	}
	return l, nil
}

// close closes the sockets. After run they are closed already.
func (l listeners) close() {
	_ = l.negotiation.Close()
	_ = l.licensing.Close()
}

// run serves until the context ends. Then it completes the requests in progress.
func (l listeners) run(ctx context.Context, g *gateway) error {
	negotiation, err := g.negotiation()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for listener, handler := range map[net.Listener]http.Handler{
		l.negotiation: negotiation, l.licensing: g.licensing(),
	} {
		server := rest.NewServer(handler)
		server.ErrorLog = slog.NewLogLogger(g.log.Handler(), slog.LevelWarn)
		group.Go(func() error {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		})
		group.Go(func() error {
			<-ctx.Done()
			g.metrics.Stopping()
			grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
			defer cancel()
			if err := server.Shutdown(grace); err != nil {
				return errors.Join(err, server.Close()) // ends the requests that wait for a lock of the database
			}
			return nil
		})
	}
	return group.Wait()
}
