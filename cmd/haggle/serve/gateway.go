package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/trace"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/cli/gatewayfiles"
	"github.com/haggle-protocol/haggle/internal/cli/telemetry"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/jobs"
	"github.com/haggle-protocol/haggle/internal/gateway/mcp"
	"github.com/haggle-protocol/haggle/internal/gateway/metrics"
	"github.com/haggle-protocol/haggle/internal/gateway/rest"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// mcpPath is the Model Context Protocol's endpoint of the negotiation API.
const mcpPath = "/mcp"

// gateway holds a running gateway's parts.
type gateway struct {
	database      *store.Store
	cases         *service.Service
	authenticator *identity.Authenticator
	metrics       *metrics.Metrics
	traces        trace.TracerProvider
	log           *slog.Logger
	version       string
	// answerTimeout limits each attempt at a pending answer. If zero, this process has no models, and makes no attempts.
	answerTimeout time.Duration
	// jobs is set by start, before the gateway serves requests.
	jobs *jobs.Jobs
}

// start starts the periodic jobs, the metrics and the export of traces. The returned function ends them.
func (g *gateway) start(ctx context.Context, files gatewayfiles.Files) (stop func() error, err error) {
	exporters, err := telemetry.FromEnvironment(ctx)
	if err != nil {
		return nil, err
	}
	g.traces = exporters.TracerProvider()
	g.metrics = metrics.New(metrics.Config{Store: g.database, Logger: g.log})
	key, err := audit.LoadOrCreateKey(files.Key)
	if err != nil {
		return nil, errors.Join(err, exporters.Close())
	}
	config := jobs.Config{
		Store: g.database, CheckpointPath: files.Checkpoints, CheckpointKey: key, Logger: g.log,
		TracerProvider: g.traces, AnswerOverdue: g.cases.AnswerOverdue,
	}
	if g.answerTimeout > 0 {
		config.Answer, config.AnswerTimeout = g.cases.Answer, g.answerTimeout
	}
	running, err := jobs.Start(ctx, config)
	if err != nil {
		return nil, errors.Join(err, exporters.Close())
	}
	g.jobs = running
	return func() error {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		return errors.Join(running.Stop(grace), exporters.Close())
	}, nil
}

// serveParent serves MCP on stdin and stdout to the parent process, until the input ends.
func (g *gateway) serveParent(ctx context.Context) error {
	server, err := mcp.New(mcp.Config{
		Service: g.cases, Caller: mcp.CallerOfEnvironment(g.authenticator, os.LookupEnv), Version: g.version,
		Log: g.log,
	})
	if err != nil {
		return err
	}
	if err := server.Run(ctx, &sdk.StdioTransport{}); err != nil && ctx.Err() == nil {
		return fmt.Errorf("connection to the agent: %w", err)
	}
	return nil
}

// negotiation returns the handler for the negotiation API, MCP and metrics.
func (g *gateway) negotiation() (http.Handler, error) {
	server, err := mcp.New(mcp.Config{
		Service: g.cases, Caller: mcp.CallerOfRequest, Version: g.version, Log: g.log,
	})
	if err != nil {
		return nil, err
	}
	mux := g.withHealth(rest.Negotiation(g.rest()))
	mux.Handle(mcpPath, mcp.Handler(server, g.authenticator, mcp.HTTPConfig{Log: g.log}))
	mux.Handle(metrics.MetricsPath, g.authenticator.Middleware(forAdministrators(g.metrics.Handler())))
	return metrics.Trace(g.traces, mux), nil
}

func (g *gateway) licensing() http.Handler {
	return metrics.Trace(g.traces, g.withHealth(rest.Licensing(g.rest())))
}

// withHealth returns an API with the paths for a load balancer.
func (g *gateway) withHealth(api http.Handler) *http.ServeMux {
	mux, health := http.NewServeMux(), g.metrics.Handler()
	mux.Handle(metrics.LivenessPath, health)
	mux.Handle(metrics.ReadinessPath, health)
	mux.Handle("/", api)
	return mux
}

func (g *gateway) rest() rest.Config {
	return rest.Config{Service: g.cases, Authenticator: g.authenticator, Log: g.log}
}

// forAdministrators refuses other callers, because the figures are those of all publishers together.
func forAdministrators(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, known := identity.FromContext(r.Context())
		if !known || caller.Kind != identity.Administrator {
			identity.WriteProblem(w, &identity.Error{
				Status: http.StatusForbidden, Code: "administrator-only",
				Detail: "only the administrator's key reads the metrics",
			})
			return
		}
		next.ServeHTTP(w, r)
	})
}
