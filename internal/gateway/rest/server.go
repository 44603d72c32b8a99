package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/shutdown"
)

// MaxBody is the size of the largest request body in bytes: a bundle of the most publishers, or a strategy.
const MaxBody = 256 * 1024

// Version is the version of both APIs.
const Version = "1.0.0"

// Config configures the APIs.
type Config struct {
	Service *service.Service
	// Authenticator finds the caller of each request.
	Authenticator *identity.Authenticator
	// Log receives errors with details that clients do not get. If nil, [slog.Default] is used.
	Log *slog.Logger
	// Heartbeat is how often comments are sent in quiet streams. If zero, 15 s is used.
	Heartbeat time.Duration
	// MaxStream is how long a stream lasts at most. If zero, 10 minutes is used.
	MaxStream time.Duration
}

// Connection limits.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 64 * 1024
)

// NewServer returns a server with time limits for a handler, so that slow clients do not hold connections.
// Shutdown ends the streams and long polls, and waits for the remaining requests.
func NewServer(handler http.Handler) *http.Server {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
	}
	shutdown.Register(server)
	return server
}

// api registers an API's operations.
type api struct {
	huma.API
	Config
}

// newHandler returns a handler for an API. register adds the operations.
func newHandler(config Config, title, description string, register func(*api)) http.Handler {
	config.Log = cmp.Or(config.Log, slog.Default())
	config.Heartbeat = cmp.Or(config.Heartbeat, defaultHeartbeat)
	config.MaxStream = cmp.Or(config.MaxStream, defaultMaxStream)
	mux := http.NewServeMux()
	settings := huma.DefaultConfig(title, Version)
	settings.Info.Description = description
	settings.CreateHooks = nil // if $schema is omitted, documents are the same for all readers
	settings.DocsPath = ""     // the docs page loads a script from another server
	settings.SchemasPath = ""
	settings.RejectUnknownQueryParameters = true
	settings.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"key": {Type: "http", Scheme: "bearer", Description: "An API key: hgl_..."},
	}
	alias(settings.Components.Schemas)
	described := humago.New(mux, settings)
	register(&api{described, config})
	describeLinks(described.OpenAPI())
	describeRetryAfter(described.OpenAPI())
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { unknown(mux, w, r) })

	return http.MaxBytesHandler(config.Authenticator.Middleware(mux), MaxBody)
}

// unknown handles calls to unknown operations: 405 if the path exists with other methods.
func unknown(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	var allowed []string
	methods := []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete}
	for _, method := range methods {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "/" && pattern != "" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 || slices.Contains(allowed, r.Method) {
		writeProblem(w, http.StatusNotFound, string(service.NotFound), "path: no such operation; see /openapi.json")
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	writeProblem(w, http.StatusMethodNotAllowed, "method-not-allowed",
		"method "+r.Method+": not one of "+strings.Join(allowed, ", "))
}

func writeProblem(w http.ResponseWriter, status int, code, detail string) {
	body, err := json.Marshal(model(status, code, detail))
	if err != nil {
		panic(err) // strings and an integer always have an encoding
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// output is a response. huma reads Status, Body and the header, which describeRetryAfter describes.
type output[O any] struct {
	Status     int
	RetryAfter string `header:"Retry-After" hidden:"true"`
	Body       O
}

// operation returns an operation with the limits, errors and credentials of all operations.
func (a *api) operation(method, path, id, summary string, status int) huma.Operation {
	operation := huma.Operation{
		Method: method, Path: path, OperationID: id, Summary: summary, DefaultStatus: status,
		MaxBodyBytes: MaxBody, BodyReadTimeout: readTimeout, Errors: errorsOf(method),
		Security: securityOf(id), Middlewares: huma.Middlewares{a.checkQuery},
	}
	if !anonymous[id] {
		operation.Middlewares = huma.Middlewares{requireCredentials, a.checkQuery}
	}
	return operation
}

// add registers an operation.
func add[I, O any](
	a *api, method, path, id, summary string, status int,
	act func(ctx context.Context, caller identity.Caller, in *I) (O, error),
) {
	operation := a.operation(method, path, id, summary, status)
	document := reflect.TypeFor[interface{ read() error }]()
	if body, has := reflect.TypeFor[I]().FieldByName("Body"); has && !body.Anonymous &&
		reflect.PointerTo(body.Type).Implements(document) {
		panic(id + ": Body must be embedded, because it is not read otherwise")
	}
	huma.Register(a.API, operation, func(ctx context.Context, in *I) (*output[O], error) {
		caller, ok := identity.FromContext(ctx)
		if !ok {
			return nil, huma.Error500InternalServerError("the request has no caller")
		}
		var body O
		var err error
		if document, has := any(in).(interface{ read() error }); has {
			err = document.read()
		}
		if err == nil {
			body, err = act(ctx, caller, in)
		}
		if err != nil {
			return nil, a.failed(ctx, id, err)
		}
		return &output[O]{status, pauseOf(body), body}, nil
	})
}

// errorsOf returns the possible error statuses of operations.
func errorsOf(method string) []int {
	errors := []int{
		http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict,
		http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusServiceUnavailable,
	}
	if method != http.MethodGet {
		errors = append(errors, http.StatusBadRequest, http.StatusRequestTimeout,
			http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	return errors
}
