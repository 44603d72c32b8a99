package hire

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/hire/tools"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/party"
)

const mcpHelp = `Lets a language model be the seeker, or the worker, at the home ORIGIN. The owner of the wallet configures
it as a server of the model's program, which starts it. It speaks the Model Context Protocol over stdin and
stdout, and listens on no port.

  hire_inbox    lists what waits for a decision; can wait
  hire_decide   accepts, proposes, asks, answers or rejects
  hire_hire     proposes a task (seeker)
  hire_review   pays for a delivery, or disputes it (seeker)
  hire_deliver  delivers the result of an order (worker)

--role seeker requires --most, the highest price with the fee, and a spending policy (--policy), which limits
all purchases together. --role worker requires --least, the least that the worker receives after the fee; its
wallet is the home's own, or that of a worker with --host. The model cannot exceed the flags: a move beyond
them is not made.

If the model does not answer in time, an offer is rejected, and a delivery is disputed. Deliveries are written
to --out. What the other side has written is in fields named "untrusted" only.`

// mcpOptions holds the flags of haggle hire mcp.
type mcpOptions struct {
	agentFlags
	proofFlags
	role, most, least, out, worker string
	skills                         []string
	patience                       duration.Flag
}

func mcpCommand(s *session.Session, version string) *cobra.Command {
	o := &mcpOptions{agentFlags: agentFlags{Session: s}, patience: duration.Flag(party.DefaultPatience)}
	cmd := &cobra.Command{
		Use: "mcp ORIGIN", Short: "Let a language model hire, or be hired, by MCP", Long: mcpHelp,
		Example: `  haggle hire mcp https://worker.example --role seeker --most "5 USDC" --arbiter ADDRESS --policy policy.json
  haggle hire mcp https://worker.example --role worker --least "4 USDC" --arbiter ADDRESS --skill logo`,
	}
	flags := cmd.Flags()
	o.registerLimits(cmd, "Solana address that can decide about a disputed delivery; can be repeated (worker)")
	o.proofFlags.register(cmd)
	flags.StringVar(&o.role, "role", "", "seeker or worker")
	flags.StringVar(&o.most, "most", "", `highest price of a purchase, the fee included, such as "5 USDC" (seeker)`)
	flags.StringVar(&o.least, "least", "", `least that the worker receives after the fee, such as "4 USDC" (worker)`)
	flags.StringVar(&o.worker, "worker", "", "id of the worker, if it is not the home's own (seeker; default: ORIGIN)")
	flags.StringArrayVar(&o.skills, "skill", nil, "name of what the worker does; can be repeated (worker)")
	flags.StringVar(&o.out, "out", ".", "folder for deliveries (seeker)")
	flags.Var(&o.patience, "patience", "longest timeout of the home: an accepted price binds you for as long (not your own home)")
	command.Choices(cmd, "role", string(hire.RoleSeeker), string(hire.RoleWorker))
	command.Required(cmd, "role", "arbiter")
	cmd.RunE = s.Unlimited(func(ctx context.Context, arguments []string) error {
		return o.serve(ctx, arguments[0], version)
	})
	return cmd
}

func (o *mcpOptions) serve(ctx context.Context, origin, version string) error {
	role, flag, limit := hire.Role(o.role), "most", o.most
	if role == hire.RoleWorker {
		flag, limit = "least", o.least
	}
	switch {
	case hire.CheckOrigin(origin) != nil:
		return exitcode.Usagef("ORIGIN: %w", hire.CheckOrigin(origin))
	case role != hire.RoleSeeker && role != hire.RoleWorker:
		return exitcode.Usagef("--role: must be seeker or worker")
	case limit == "":
		return exitcode.Requires("--role "+o.role, "--"+flag, "")
	case role == hire.RoleSeeker && o.most != "" && o.least != "":
		return exitcode.Usagef("--least: only for --role worker")
	case role == hire.RoleSeeker && len(o.arbiters) > 1:
		return exitcode.Usagef("--arbiter: must be set once")
	case role == hire.RoleSeeker && o.Connection.PolicyPath == "":
		return &exitcode.Error{
			Kind: exitcode.Usage, Err: errors.New("--policy not set: a model buys only within a spending policy"),
			Hint: "write one as in haggle policy --help, check it with haggle policy check FILE, then add --policy FILE",
		}
	}
	// stdin carries the model's requests, so no prompt may read it.
	o.Connection.Unattended = true
	b, err := o.limits(ctx, role, flag, limit)
	if err != nil {
		return err
	}
	k, err := o.keys(ctx)
	if err != nil {
		return err
	}
	self := addressOf(k.key).String()
	config, err := o.party(ctx, k, origin, self, b)
	if err != nil {
		return err
	}
	if role == hire.RoleWorker {
		if err := o.limit(b); err != nil {
			return err
		}
		home, err := config.Resolver.Resolve(ctx, origin)
		if err != nil {
			return fmt.Errorf("home: %w", err)
		}
		if bytes.Equal(home.Key, k.key.Public().(ed25519.PublicKey)) {
			self = origin
			config.Home.Agent = origin
		}
	}
	desk := tools.NewDesk(role, self, b.assets, func(name string, content []byte) (string, error) {
		path := filepath.Join(o.out, name)
		return path, os.WriteFile(path, content, 0o600)
	})
	config.Observe, config.Failed, config.Ended = desk.Observe, desk.Failed, desk.Ended
	config.Patience, config.Logger = time.Duration(o.patience), o.Logger(slog.LevelInfo)
	config.Acted = func(act agent.Act) {
		config.Logger.Info("on chain", "action", act.Name, "negotiation", act.Before.Address.String())
	}
	return o.run(ctx, desk, config, b, origin, version)
}

// run serves the tools until the model's program closes the connection, or the agent cannot continue.
func (o *mcpOptions) run(
	ctx context.Context, desk *tools.Desk, config party.Config, b *bargaining, origin, version string,
) error {
	var runtime interface{ Run(context.Context) error }
	var propose func(context.Context, party.Request) (party.Result, error)
	var request party.Request
	if hire.Role(o.role) == hire.RoleSeeker {
		seeker, err := party.NewSeeker(party.Seeker{
			Config: config, Decide: desk.Decide, Review: desk.Review,
		})
		if err != nil {
			return err
		}
		runtime, propose = seeker, seeker.Hire
		request = party.Request{Worker: o.worker, Arbiter: b.limits.Arbiters[0]}
		if request.Worker == "" {
			request.Worker = origin
		}
	} else {
		worker, err := party.NewWorker(party.Worker{
			Config: config, Quote: desk.Decide, Deliver: desk.Deliver, Skills: o.skills,
		})
		if err != nil {
			return err
		}
		runtime = worker
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cancel(runtime.Run(ctx))
	}()
	err := desk.Server(ctx, version, request, propose).Run(ctx, &mcp.StdioTransport{})
	stopped := ctx.Err() != nil
	cancel(nil)
	<-ended
	if stopped {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("connection to the model: %w", err)
	}
	return nil
}
