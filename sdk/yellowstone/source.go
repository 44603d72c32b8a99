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

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/yellowstone/internal/geyser"
)

const (
	// defaultMaxAddresses is how many addresses one filter of a service commonly takes.
	defaultMaxAddresses = 1000
	// messageLimit is more than a transaction with all its logs and token balances takes.
	messageLimit = 16 << 20
	// keepAlive finds out that a connection is dead of which nobody has said so.
	keepAlive        = 15 * time.Second
	keepAliveTimeout = 20 * time.Second
)

// Config says where the service is.
type Config struct {
	// Endpoint is the service's URL, http or https. https is TLS. It is required.
	Endpoint string
	// Token is sent as x-token, with which most services recognise their customers. Over http it can be read on the way.
	Token string
	// MaxAddresses is how many addresses are asked for one by one; beyond it the stream asks for all of the program's transactions and
	// picks. An agent's negotiations are the program's too. By default 1,000; a service may allow more or less.
	MaxAddresses int
	// TLS is how an https endpoint is checked. By default as the system does.
	TLS *tls.Config
}

// Source is a [haggle.EventSource].
type Source struct {
	config Config
	target string
	// withoutReplay says that the last stream has ended because the service could not repeat what it was asked for.
	withoutReplay atomic.Bool
}

// New makes a source. It does not connect yet.
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

// Open begins a stream. If the service turns out not to have what has happened since options.FromSlot, the stream ends, and the next
// one begins without: the client looks for itself.
func (s *Source) Open(ctx context.Context, options haggle.StreamOptions) (haggle.EventStream, error) {
	if options.Notify == nil {
		return nil, errors.New("yellowstone: Notify is missing")
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
		source: s, connection: connection, notify: options.Notify, level: level, fromSlot: options.FromSlot,
		addresses: make(map[address]struct{}), awaited: make(map[uint64]chan struct{}), done: make(chan struct{}),
	}
	// The stream lives longer than this call.
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

// cannotReplay says whether a service that has ended a stream does not have, or does not keep, what has happened since a slot.
func cannotReplay(err error) bool {
	switch status.Code(err) {
	case codes.OutOfRange, codes.Internal, codes.InvalidArgument, codes.Unimplemented:
		return true
	}
	return false
}

func streamError(err error) error { return fmt.Errorf("yellowstone: the stream has ended: %w", err) }
