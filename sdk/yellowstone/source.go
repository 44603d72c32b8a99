package yellowstone

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/yellowstone/internal/geyser"
)

const (
	// defaultMaxAddresses is a common service limit for addresses per filter.
	defaultMaxAddresses = 1000
	// messageLimit exceeds the length of any transaction with logs and token balances.
	messageLimit = 16 << 20
	// keepAlive detects dead connections.
	keepAlive        = 15 * time.Second
	keepAliveTimeout = 20 * time.Second
)

// Config identifies the service.
type Config struct {
	// Endpoint is the service's URL, http or https. https is TLS. It is required.
	Endpoint string
	// Token is sent as x-token, used by most services to identify their customers. Over http it is not
	// encrypted.
	Token string
	// MaxAddresses limits the addresses in a filter. Beyond it the stream requests all transactions of the
	// program and filters them here; every negotiation transaction involves the program. If zero, 1,000 is
	// used; services may allow more or less.
	MaxAddresses int
	// TLS configures the verification of an https endpoint. If nil, the system's defaults are used.
	TLS *tls.Config
}

// Source implements [events.Source].
type Source struct {
	config Config
	target string
	// withoutReplay is set when a stream ended because the service could not repeat the requested slots.
	withoutReplay atomic.Bool
}

// New returns a source. It does not connect.
func New(config Config) (*Source, error) {
	// No error quotes the endpoint: it may contain a key.
	endpoint, err := url.Parse(config.Endpoint)
	if err != nil || endpoint.Scheme != "http" && endpoint.Scheme != "https" || endpoint.Hostname() == "" {
		return nil, errors.New("yellowstone: Endpoint: not an http or https URL")
	}
	if endpoint.Path != "" && endpoint.Path != "/" {
		return nil, errors.New("yellowstone: Endpoint: gRPC has no path; a key belongs into Token")
	}
	if config.MaxAddresses < 0 {
		return nil, errors.New("yellowstone: MaxAddresses is negative")
	}
	if config.MaxAddresses == 0 {
		config.MaxAddresses = defaultMaxAddresses
	}
	port := endpoint.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[endpoint.Scheme]
	}
	if endpoint.Scheme == "http" {
		config.TLS = nil
	} else if config.TLS == nil {
		config.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return &Source{config: config, target: "dns:///" + net.JoinHostPort(endpoint.Hostname(), port)}, nil
}

// Open starts a stream. If the service cannot repeat the transactions since options.FromSlot, the stream
// ends, and the next stream starts without repetition; the client then reads the history itself.
func (s *Source) Open(ctx context.Context, options events.Options) (events.Stream, error) {
	if options.Notify == nil || options.Program.IsZero() {
		return nil, errors.New("yellowstone: Notify or Program not set")
	}
	level, err := commitment(options.Commitment)
	if err != nil {
		return nil, err
	}
	if s.withoutReplay.Swap(false) {
		options.FromSlot = 0
	}
	security := insecure.NewCredentials()
	if s.config.TLS != nil {
		security = credentials.NewTLS(s.config.TLS)
	}
	connection, err := grpc.NewClient(s.target,
		grpc.WithTransportCredentials(security),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepAlive, Timeout: keepAliveTimeout, PermitWithoutStream: true}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageLimit)),
	)
	if err != nil {
		return nil, fmt.Errorf("yellowstone: %w", err)
	}
	opened := &stream{
		source: s, connection: connection, notify: options.Notify, program: options.Program, level: level,
		fromSlot:  options.FromSlot,
		addresses: make(map[address]struct{}), awaited: make(map[uint64]chan struct{}), done: make(chan struct{}),
	}
	// The stream outlives this call.
	var live context.Context
	live, opened.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if s.config.Token != "" {
		live = metadata.AppendToOutgoingContext(live, "x-token", s.config.Token)
	}
	stop := context.AfterFunc(ctx, opened.cancel)
	opened.updates, err = geyser.NewGeyserClient(connection).Subscribe(live)
	if err != nil {
		stop()
		opened.cancel()
		return nil, errors.Join(streamError(err), connection.Close())
	}
	opened.running.Go(opened.read)
	err = opened.request(ctx)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	return opened, nil
}

func commitment(level rpc.CommitmentType) (geyser.CommitmentLevel, error) {
	switch level {
	case rpc.CommitmentConfirmed:
		return geyser.CommitmentLevel_CONFIRMED, nil
	case rpc.CommitmentFinalized:
		return geyser.CommitmentLevel_FINALIZED, nil
	}
	return 0, fmt.Errorf("yellowstone: commitment %q: use %q or %q", level, rpc.CommitmentConfirmed, rpc.CommitmentFinalized)
}

// cannotReplay reports whether a service ended a stream because it does not have, or does not keep, the
// requested slots.
func cannotReplay(err error) bool {
	switch status.Code(err) {
	case codes.OutOfRange, codes.Internal, codes.InvalidArgument, codes.Unimplemented:
		return true
	}
	return false
}

func streamError(err error) error { return fmt.Errorf("yellowstone: the stream has ended: %w", err) }
