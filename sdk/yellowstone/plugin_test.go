package yellowstone_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/haggle-protocol/haggle/sdk/yellowstone/internal/geyser"
)

// plugin serves Geyser as Yellowstone's plugin does. The first goroutine reads filters and pings, and answers
// the pings. The second goroutine applies the newest filter when it reaches it, repeats the stored
// transactions since a slot, and sends new transactions and slots.
type plugin struct {
	geyser.UnimplementedGeyserServer
	server  *grpc.Server
	address string
	// token is the required x-token, if not empty.
	token string

	lock    sync.Mutex
	sent    []*geyser.SubscribeUpdateTransaction
	streams []*session
	// oldest is the first slot that can be repeated; neverRepeats disables repetition.
	oldest       uint64
	neverRepeats bool
	requests     []*geyser.SubscribeRequest
	// away makes it refuse all connections.
	away bool
	// filterDelay delays applying a filter that was read.
	filterDelay time.Duration
}

type session struct {
	stream  grpc.BidiStreamingServer[geyser.SubscribeRequest, geyser.SubscribeUpdate]
	filters chan *geyser.SubscribeRequest
	happens chan *geyser.SubscribeUpdateTransaction
	hangUp  chan error

	lock  sync.Mutex
	pings int
}

// slotEvery is the slot duration.
const slotEvery = 5 * time.Millisecond

func servePlugin(t *testing.T, security *tls.Config) *plugin {
	t.Helper()
	p := &plugin{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var options []grpc.ServerOption
	if security != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(security)))
	}
	p.server = grpc.NewServer(options...)
	p.address = listener.Addr().String()
	geyser.RegisterGeyserServer(p.server, p)
	go func() { _ = p.server.Serve(listener) }()
	t.Cleanup(p.server.Stop)
	return p
}

func (p *plugin) setAway(away bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.away = away
}

func (p *plugin) Subscribe(stream grpc.BidiStreamingServer[geyser.SubscribeRequest, geyser.SubscribeUpdate]) error {
	if given, _ := metadata.FromIncomingContext(stream.Context()); p.token != "" && !slices.Equal(given.Get("x-token"), []string{p.token}) {
		return status.Error(codes.Unauthenticated, "No valid auth token")
	}
	s := &session{
		stream: stream, hangUp: make(chan error, 1),
		filters: make(chan *geyser.SubscribeRequest, 64), happens: make(chan *geyser.SubscribeUpdateTransaction, 1024),
	}
	p.lock.Lock()
	away := p.away
	if !away {
		p.streams = append(p.streams, s)
	}
	p.lock.Unlock()
	if away {
		return status.Error(codes.Unavailable, "maintenance")
	}
	defer func() {
		p.lock.Lock()
		defer p.lock.Unlock()
		p.streams = slices.DeleteFunc(p.streams, func(other *session) bool { return other == s })
	}()
	go p.read(s)
	return p.serve(s)
}

func (p *plugin) read(s *session) {
	defer close(s.filters)
	for {
		request, err := s.stream.Recv()
		if err != nil {
			return
		}
		if request.Ping != nil {
			s.lock.Lock()
			s.pings++
			s.lock.Unlock()
			s.send(&geyser.SubscribeUpdate{UpdateOneof: &geyser.SubscribeUpdate_Pong{Pong: &geyser.SubscribeUpdatePong{Id: request.Ping.Id}}})
			continue
		}
		p.lock.Lock()
		p.requests = append(p.requests, request)
		p.lock.Unlock()
		s.filters <- request
	}
}

func (p *plugin) serve(s *session) error {
	filter := &geyser.SubscribeRequest{}
	slots := time.NewTicker(slotEvery)
	defer slots.Stop()
	var newest *geyser.SubscribeRequest
	var turn <-chan time.Time
	for slot := uint64(1); ; {
		select {
		case err := <-s.hangUp:
			return err
		case <-s.stream.Context().Done():
			return nil
		case request, open := <-s.filters:
			if !open {
				return nil
			}
			newest, turn = request, time.After(p.distracted())
		case <-turn:
			filter, turn = newest, nil
			if err := p.repeat(s, filter); err != nil {
				return err
			}
		case update := <-s.happens:
			s.offer(filter, update)
		case <-slots.C:
			slot++
			for name := range filter.GetSlots() {
				s.send(&geyser.SubscribeUpdate{
					Filters: []string{name}, UpdateOneof: &geyser.SubscribeUpdate_Slot{Slot: &geyser.SubscribeUpdateSlot{Slot: slot}},
				})
			}
		}
	}
}

func (p *plugin) distracted() time.Duration {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.filterDelay
}

func (p *plugin) repeat(s *session, filter *geyser.SubscribeRequest) error {
	if filter.FromSlot == nil {
		return nil
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.neverRepeats {
		return status.Error(codes.Internal, "from_slot is not supported")
	}
	if *filter.FromSlot < p.oldest {
		return status.Error(codes.OutOfRange, fmt.Sprintf("broadcast from %d is not available, last available: %d", *filter.FromSlot, p.oldest))
	}
	for _, update := range p.sent {
		if update.Slot >= *filter.FromSlot {
			s.offer(filter, update)
		}
	}
	return nil
}

func (s *session) send(update *geyser.SubscribeUpdate) {
	s.lock.Lock()
	defer s.lock.Unlock()
	_ = s.stream.Send(update)
}

// offer sends a transaction if it passes the filter.
func (s *session) offer(filter *geyser.SubscribeRequest, update *geyser.SubscribeUpdateTransaction) {
	for name, wanted := range filter.GetTransactions() {
		message := update.GetTransaction().GetTransaction().GetMessage()
		meta := update.GetTransaction().GetMeta()
		keys := slices.Concat(message.GetAccountKeys(), meta.GetLoadedWritableAddresses(), meta.GetLoadedReadonlyAddresses())
		for _, key := range keys {
			if slices.Contains(wanted.GetAccountInclude(), solana.PublicKeyFromBytes(key).String()) {
				s.send(&geyser.SubscribeUpdate{Filters: []string{name}, UpdateOneof: &geyser.SubscribeUpdate_Transaction{Transaction: update}})
				break
			}
		}
	}
}

// publish sends a transaction to all sessions.
func (p *plugin) publish(update *geyser.SubscribeUpdateTransaction) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.sent = append(p.sent, update)
	for _, s := range p.streams {
		s.happens <- update
	}
}

func (p *plugin) ping() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, s := range p.streams {
		s.send(&geyser.SubscribeUpdate{UpdateOneof: &geyser.SubscribeUpdate_Ping{Ping: &geyser.SubscribeUpdatePing{}}})
	}
}

func (p *plugin) hangUp(err error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, s := range p.streams {
		s.hangUp <- err
	}
	p.streams = nil
}

func (p *plugin) asked() []*geyser.SubscribeRequest {
	p.lock.Lock()
	defer p.lock.Unlock()
	return slices.Clone(p.requests)
}

// transaction returns a transaction that mentions addresses.
func transaction(n byte, slot uint64, logs []string, addresses ...solana.PublicKey) *geyser.SubscribeUpdateTransaction {
	message := &geyser.Message{}
	for _, address := range addresses {
		message.AccountKeys = append(message.AccountKeys, address.Bytes())
	}
	signature := solana.Signature{n, 1}
	return &geyser.SubscribeUpdateTransaction{Slot: slot, Transaction: &geyser.SubscribeUpdateTransactionInfo{
		Signature: signature[:], Transaction: &geyser.Transaction{Message: message}, Meta: &geyser.TransactionStatusMeta{LogMessages: logs},
	}}
}
