package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/gatewayfiles"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// partyView is a publisher or a client, including the key.
type partyView struct {
	Role   string `json:"role"`
	Name   string `json:"name"`
	ID     int64  `json:"id"`
	APIKey string `json:"api_key"`
}

func (v partyView) line() string { return fmt.Sprintf("%-10s %-20s %s", v.Role, v.Name, v.APIKey) }

// parties adds publishers and clients to a database with operator rights.
type parties struct {
	cases    *service.Service
	operator identity.Caller
}

func newParties(cases *service.Service, operator string) parties {
	return parties{cases, identity.Caller{
		Kind: identity.Administrator, Name: operator, Scopes: identity.ScopesOf(identity.Administrator),
	}}
}

// publisher adds a publisher with a strategy and a key. A publisher left by an interrupted call, with the
// strategy missing, receives both.
func (p parties) publisher(ctx context.Context, publisher store.Publisher, strategy []byte) (v partyView, err error) {
	added, err := p.cases.CreatePublisher(ctx, p.operator, publisher, "")
	if isKnown(err) {
		added, err = p.interrupted(ctx, publisher, err)
	}
	if err != nil {
		return v, err
	}
	if _, err := p.cases.CreateStrategy(ctx, publisherCaller(added.ID), strategy, ""); err != nil {
		return v, err
	}
	return p.key(ctx, "publisher", added.Hostname, added.ID, service.KeyRequest{PublisherID: added.ID})
}

// interrupted returns the publisher left by an interrupted call: the name and currency match, and the
// strategy is missing. Otherwise it returns the error.
func (p parties) interrupted(ctx context.Context, want store.Publisher, known error) (store.Publisher, error) {
	found, err := p.cases.PublisherByHostname(ctx, want.Hostname)
	var missing *service.Error
	switch {
	case errors.As(err, &missing) && missing.Kind == service.NotFound:
		return found, known // another publisher has the name
	case err != nil:
		return found, err
	case found.Currency != want.Currency || found.Name != want.Name:
		return found, known
	}
	versions, err := p.cases.Strategies(ctx, publisherCaller(found.ID), found.ID, store.Page{})
	if err == nil && len(versions.Items) > 0 {
		err = known
	}
	return found, err
}

func publisherCaller(id int64) identity.Caller {
	return identity.Caller{Kind: identity.Publisher, ID: id, Scopes: identity.ScopesOf(identity.Publisher)}
}

// client adds a client with a key.
func (p parties) client(ctx context.Context, name string) (partyView, error) {
	added, err := p.cases.RegisterClient(ctx, p.operator, service.Client{Name: name})
	if err != nil {
		return partyView{}, err
	}
	return p.key(ctx, "client", name, added.ID, service.KeyRequest{ClientID: added.ID})
}

func (p parties) key(ctx context.Context, role, name string, id int64, request service.KeyRequest) (partyView, error) {
	request.Name = p.operator.Name
	key, _, err := p.cases.CreateKey(ctx, p.operator, request)
	return partyView{role, name, id, key.Reveal()}, err
}

func isKnown(err error) bool {
	var known *service.Error
	return errors.As(err, &known) && known.Code == service.CodeExists
}

const gatewayHelp = `Adds publishers and AI companies to the database of a gateway (haggle serve), which may run or not.`

// GatewayCommand returns the commands haggle gateway.
func GatewayCommand(s *session.Session) *cobra.Command {
	c := &serveCommand{Session: s}
	group := command.Group("gateway", "Add publishers and AI companies to a gateway", gatewayHelp,
		newAddPublisherCommand(c), newAddClientCommand(c))
	group.PersistentFlags().StringVar(&c.database, "db", "", gatewayfiles.DatabaseHelp)
	return group
}

const addPublisherHelp = `Adds a publisher with a strategy to the gateway's database, and prints its API key, once. A gateway on the
database sells its licenses at once.

A price is for one fetch, in the publisher's currency, with up to six digits after the point. The strategy
never sells below --min-price, aims at --preferred-price, and begins at --max-price or below. The publisher
must approve agreements above 1,000 units of the currency. It changes this amount and the other fields of the
strategy with its key: see docs/GATEWAY.md.`

const addClientHelp = `Adds an AI company to the gateway's database, and prints its API key, once. Its licenses name it, so verify
the name first.`

// newAddPublisherCommand returns haggle gateway add-publisher.
func newAddPublisherCommand(c *serveCommand) *cobra.Command {
	var name, currency, style, least, preferred, most string
	cmd := &cobra.Command{
		Use: "add-publisher HOSTNAME", Short: "Add a publisher with a strategy, and print its key", Long: addPublisherHelp,
		Example: "  haggle gateway add-publisher site.example --min-price 0.0005 --preferred-price 0.001 --max-price 0.0025",
	}
	flags := cmd.Flags()
	flags.StringVar(&name, "name", "", "name of the publisher (default: the hostname)")
	flags.StringVar(&currency, "currency", "USD", "currency of the prices")
	flags.StringVar(&style, "style", string(engine.Balanced), "way to bargain: "+stylesText())
	flags.StringVar(&least, "min-price", "", "least price of a fetch (required)")
	flags.StringVar(&preferred, "preferred-price", "", "price to aim at (required)")
	flags.StringVar(&most, "max-price", "", "highest price to ask for (required)")
	command.Required(cmd, "min-price", "preferred-price", "max-price")
	command.Documents(cmd, partyView{})
	cmd.RunE = c.Unlimited(func(ctx context.Context, arguments []string) error {
		definition := map[string]any{"negotiation_style": style}
		for _, price := range []struct{ flag, field, text string }{
			{"min-price", "min_price_per_fetch_micro", least}, {"preferred-price", "preferred_price_per_fetch_micro", preferred},
			{"max-price", "max_price_per_fetch_micro", most},
		} {
			micro, err := terms.ParseDecimal(price.text)
			if err != nil {
				return exitcode.Usagef("--%s: %w", price.flag, err)
			}
			definition[price.field] = uint64(micro)
		}
		strategy, err := json.Marshal(definition)
		if err == nil {
			_, err = engine.ParseStrategy(strategy)
		}
		if err != nil {
			return exitcode.Usagef("strategy: %w", err)
		}
		publisher := store.Publisher{Hostname: arguments[0], Name: name, Currency: currency, Active: true}
		if name == "" {
			publisher.Name = publisher.Hostname
		}
		return c.add(ctx, func(p parties) (partyView, error) { return p.publisher(ctx, publisher, strategy) })
	})
	return cmd
}

func stylesText() string {
	var names []string
	for _, s := range engine.Styles() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

// newAddClientCommand returns haggle gateway add-client.
func newAddClientCommand(c *serveCommand) *cobra.Command {
	cmd := &cobra.Command{
		Use: "add-client NAME", Short: "Add an AI company, and print its key", Long: addClientHelp,
		Example: `  haggle gateway add-client "Acme AI"`,
	}
	command.Documents(cmd, partyView{})
	cmd.RunE = c.Unlimited(func(ctx context.Context, arguments []string) error {
		return c.add(ctx, func(p parties) (partyView, error) { return p.client(ctx, arguments[0]) })
	})
	return cmd
}

// add opens the gateway's database, creating it if missing, and prints a new party.
func (c *serveCommand) add(ctx context.Context, add func(parties) (partyView, error)) (err error) {
	defer func() { err = gatewayfiles.Failure(err) }()
	files, _, err := c.files()
	if err != nil {
		return err
	}
	database, err := store.Open(ctx, store.Config{Address: files.Database})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	cases, err := service.New(service.Config{Store: database, Log: c.Logger(slog.LevelWarn)})
	if err != nil {
		return err
	}
	view, err := add(newParties(cases, "command line"))
	var known *service.Error
	switch {
	case isKnown(err):
		return &exitcode.Error{Kind: exitcode.Refused, Err: err, Hint: "for another key, POST /api/keys: see docs/GATEWAY.md"}
	case errors.As(err, &known) && (known.Kind == service.Invalid || known.Code == service.CodeConfusable):
		return &exitcode.Error{Kind: exitcode.Usage, Err: err}
	case err != nil:
		return err
	}
	return c.Print(view, view.line()+"  (shown once)")
}
