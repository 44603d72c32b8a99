package arena

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/internal/arena/forward"
	"github.com/haggle-protocol/haggle/internal/arena/pages"
	"github.com/haggle-protocol/haggle/internal/arena/service"
	"github.com/haggle-protocol/haggle/internal/arena/store"
	"github.com/haggle-protocol/haggle/internal/arena/transport"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/listener"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/databases"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

const serveHelp = `Runs the markets of a database until Ctrl-C. Agents connect by WebSocket, at ws://ADDRESS/arena/MARKET. People
watch with a browser, at http://ADDRESS/markets: live, and as a replay. haggle arena open adds a market.

Several servers can use one PostgreSQL database: each market is run by one of them, and by another one within
seconds after it ends. Clients connect to any of them: it passes requests on to the market's server, at the
address of that server's --advertise.

For clients elsewhere, put a proxy that ends TLS before the server, and use wss. On one machine ws://127.0.0.1
works.

--demo adds a market of a day, lets eight players trade in it, and opens its page in a browser if the output
is a terminal.`

const (
	defaultListen   = "127.0.0.1:3020"
	shutdownTimeout = 10 * time.Second
)

// serveOptions holds the flags of haggle arena serve.
type serveOptions struct {
	*session.Session
	marketFlags
	listen, advertise string
	demo              bool
}

// serverView is what a started server prints.
type serverView struct {
	Address  string `json:"address"`
	Operator string `json:"operator"`
	Database string `json:"database"`
	// Page is the spectator page's URL: the market's page with --demo, otherwise the page listing all
	// markets.
	Page string `json:"page"`
	// Watch and Join are commands for the market of --demo.
	Watch string `json:"watch,omitempty"`
	Join  string `json:"join,omitempty"`
}

func (v serverView) lines() []string {
	lines := []string{"arena     " + v.Address, "page      " + v.Page, "operator  " + v.Operator, "database  " + v.Database}
	if v.Join != "" {
		lines = append(lines, "", "In another terminal:", "", "  "+v.Watch, "  "+v.Join)
	}
	return lines
}

func serveCommand(s *session.Session) *cobra.Command {
	o := &serveOptions{Session: s}
	cmd := &cobra.Command{
		Use: "serve", Short: "Run an arena", Long: serveHelp,
		Example: "  haggle arena serve --demo\n  haggle arena serve --db postgres://haggle@db/arena --listen :3020 --advertise http://HOST:3020",
	}
	o.register(cmd.Flags())
	cmd.Flags().StringVar(&o.listen, "listen", defaultListen, "address of the server; port 0 is any free one")
	cmd.Flags().StringVar(&o.advertise, "advertise", "", "http://HOST:PORT at which other servers reach this one (default: that of --listen, which needs a host)")
	cmd.Flags().BoolVar(&o.demo, "demo", false, "add a market with eight players")
	command.Documents(cmd, serverView{}, factView{})
	cmd.RunE = s.Unlimited(func(ctx context.Context, _ []string) error { return o.serve(ctx) })
	return cmd
}

func (o *serveOptions) serve(ctx context.Context) (err error) {
	listening, err := listener.Open(ctx, "listen", o.listen)
	if err != nil {
		return err
	}
	defer listening.Close() // already closed when Serve has returned
	advertised, err := o.advertised(listening.Addr())
	if err != nil {
		return err
	}
	opened, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	operator, err := key(o.key, operatorKey)
	if err != nil {
		return err
	}
	log, holder := o.Logger(slog.LevelInfo), forward.NewHolder(advertised)
	markets, err := service.New(service.Config{Store: opened, Key: operator, Holder: holder, Log: log})
	if err != nil {
		return err
	}
	address := listening.Addr().String()
	view := serverView{
		Address: "ws://" + address + "/arena", Page: "http://" + address + "/markets",
		Operator: arena.AddressOf(operator), Database: opened.String(),
	}
	group, ctx := errgroup.WithContext(ctx)
	// The players leave before the markets end.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	play := func() error { <-ctx.Done(); return nil }
	if o.demo {
		id, err := o.addDemo(ctx, opened, operator)
		if err != nil {
			return err
		}
		address := view.Address + "/" + id
		view.Page += "/" + id
		view.Watch = "haggle arena watch " + address
		view.Join = fmt.Sprintf("haggle arena join %s --operator %s --name NAME --estimate 0.60", address, view.Operator)
		play = func() error {
			for !markets.Runs(id) { // the server takes it first
				select {
				case <-time.After(10 * time.Millisecond):
				case <-ctx.Done():
					return nil
				}
			}
			if o.Interactive() {
				showPage(view.Page)
			}
			return o.play(ctx, address, view.Operator)
		}
	}
	mux := http.NewServeMux()
	transport.New(transport.Config{Service: markets, Log: log}).Register(mux)
	pages.New(ctx, pages.Config{Store: opened, Service: markets, Log: log}).Register(mux)
	if err := o.Print(view, view.lines()...); err != nil {
		return err
	}
	serve(ctx, group, forward.Handler(ctx, forward.Config{Store: opened, Service: markets, Holder: holder, Log: log}, mux), listening)
	group.Go(func() error {
		defer stop()
		return play()
	})
	group.Go(func() error {
		if err := markets.Run(running); running.Err() == nil {
			return err
		}
		return nil
	})
	return group.Wait()
}

// advertised returns the URL for other servers. It returns "" if none is possible: with a SQLite file, or
// when listening on all addresses.
func (o *serveOptions) advertised(listening net.Addr) (string, error) {
	if o.advertise != "" {
		given, err := url.Parse(o.advertise)
		if err != nil || given.Host == "" || given.Scheme != "http" && given.Scheme != "https" || strings.Trim(given.Path, "/") != "" {
			return "", exitcode.Usagef("--advertise: must be http://HOST:PORT or https://HOST:PORT")
		}
		return strings.TrimSuffix(o.advertise, "/"), nil
	}
	if own, is := listening.(*net.TCPAddr); is && own.IP.IsUnspecified() {
		if databases.IsPostgres(o.database) {
			return "", exitcode.Usagef("--advertise: required with PostgreSQL if --listen has no host")
		}
		return "", nil
	}
	return "http://" + listening.String(), nil
}

// serve answers requests until the context ends.
func serve(ctx context.Context, group *errgroup.Group, handler http.Handler, listening net.Listener) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
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
}

// demoQuestion is the question of the --demo market. It has no resolver, so the market ends as VOID.
const demoQuestion = "Does the next release ship on Friday?"

// addDemo adds the --demo market and returns the market id.
func (o *serveOptions) addDemo(ctx context.Context, opened *store.Store, operator ed25519.PrivateKey) (string, error) {
	id := "demo-" + time.Now().UTC().Format("20060102-150405")
	demo := o.marketFlags
	_, err := demo.add(ctx, opened, arena.AddressOf(operator), id, demoQuestion)
	return id, exitcode.WithHint(err, "start the server a second later")
}
