package yellowstone

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"google.golang.org/grpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/yellowstone/internal/geyser"
)

const (
	// answerLimit is how long the service may take to answer a ping.
	answerLimit = 15 * time.Second
	// silentLimit is how long it may send nothing at all: it sends a ping every ten seconds.
	silentLimit = 45 * time.Second
	// filterName is what the one filter is called.
	filterName = "haggle"
)

type address = solana.PublicKey

// stream is one Subscribe call.
type stream struct {
	source     *Source
	connection *grpc.ClientConn
	updates    grpc.BidiStreamingClient[geyser.SubscribeRequest, geyser.SubscribeUpdate]
	notify     func(haggle.Notice)
	level      geyser.CommitmentLevel
	cancel     context.CancelFunc
	running    sync.WaitGroup
	// done is closed when the stream has ended; err says why.
	done chan struct{}

	// sending is held while a request is sent: a stream takes one at a time.
	sending sync.Mutex

	lock      sync.Mutex
	addresses map[address]struct{}
	// fromSlot is where to begin, until the service has been asked for it; then replays says so.
	fromSlot uint64
	replays  bool
	lastPing int32
	pongs    map[int32]chan struct{}
	err      error
}

// Subscribe replaces the filter by one that has these addresses too.
func (s *stream) Subscribe(ctx context.Context, addresses []solana.PublicKey) error {
	s.lock.Lock()
	for _, added := range addresses {
		s.addresses[added] = struct{}{}
	}
	s.lock.Unlock()
	return s.request(ctx)
}

// Unsubscribe replaces the filter by one without these addresses.
func (s *stream) Unsubscribe(addresses []solana.PublicKey) error {
	s.lock.Lock()
	for _, removed := range addresses {
		delete(s.addresses, removed)
	}
	s.lock.Unlock()
	return s.send(s.filter())
}

func (s *stream) Done() <-chan struct{} { return s.done }

func (s *stream) Err() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.err
}

func (s *stream) Close() {
	s.cancel()
	s.running.Wait()
	_ = s.connection.Close()
}

// request sends the filter and returns when the service has taken it. It does not say so; but it answers a ping that comes after it
// only when it has read both.
func (s *stream) request(ctx context.Context) error {
	if err := s.send(s.filter()); err != nil {
		return err
	}
	pong := make(chan struct{})
	s.lock.Lock()
	s.lastPing++
	id := s.lastPing
	s.pongs[id] = pong
	s.lock.Unlock()
	if err := s.send(&geyser.SubscribeRequest{Ping: &geyser.SubscribeRequestPing{Id: id}}); err != nil {
		return err
	}
	timer := time.NewTimer(answerLimit)
	defer timer.Stop()
	select {
	case <-pong:
		return nil
	case <-s.done:
		return s.Err()
	case <-timer.C:
		return fmt.Errorf("yellowstone: the service does not answer within %s", answerLimit)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// filter asks for the transactions that mention any of the addresses, or for all of the program's if they are too many.
func (s *stream) filter() *geyser.SubscribeRequest {
	s.lock.Lock()
	defer s.lock.Unlock()
	no := false
	request := &geyser.SubscribeRequest{Commitment: &s.level, Transactions: map[string]*geyser.SubscribeRequestFilterTransactions{}}
	if len(s.addresses) == 0 {
		return request
	}
	wanted := []string{haggle.ProgramAddress}
	if len(s.addresses) <= s.source.config.MaxAddresses {
		wanted = wanted[:0]
		for listened := range maps.Keys(s.addresses) {
			wanted = append(wanted, listened.String())
		}
	}
	request.Transactions[filterName] = &geyser.SubscribeRequestFilterTransactions{Vote: &no, Failed: &no, AccountInclude: wanted}
	// What has been missed is repeated once, for the first addresses: the client subscribes to all it has right away.
	if s.fromSlot > 0 {
		from := s.fromSlot
		request.FromSlot, s.fromSlot, s.replays = &from, 0, true
	}
	return request
}

func (s *stream) send(request *geyser.SubscribeRequest) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	if err := s.updates.Send(request); err != nil {
		// What was wrong is in what is received.
		select {
		case <-s.done:
			return s.Err()
		case <-time.After(time.Second):
			return streamError(err)
		}
	}
	return nil
}

func (s *stream) read() {
	defer close(s.done)
	silent := time.AfterFunc(silentLimit, s.cancel)
	defer silent.Stop()
	for {
		update, err := s.updates.Recv()
		if err == nil {
			silent.Reset(silentLimit)
			err = s.receive(update)
		}
		if err != nil {
			s.end(err)
			return
		}
	}
}

func (s *stream) end(err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.err = streamError(err)
	if s.replays && cannotReplay(err) {
		s.source.withoutReplay.Store(true)
	}
	s.cancel()
}

func (s *stream) receive(update *geyser.SubscribeUpdate) error {
	switch {
	case update.GetPing() != nil:
		// Proxies on the way want to see traffic in this direction too.
		return s.send(&geyser.SubscribeRequest{Ping: &geyser.SubscribeRequestPing{}})
	case update.GetPong() != nil:
		s.lock.Lock()
		defer s.lock.Unlock()
		if pong := s.pongs[update.GetPong().GetId()]; pong != nil {
			delete(s.pongs, update.GetPong().GetId())
			close(pong)
		}
		return nil
	case update.GetTransaction() != nil:
		return s.tell(update.GetTransaction())
	}
	return nil
}

// tell tells of a transaction at each address that it mentions.
func (s *stream) tell(update *geyser.SubscribeUpdateTransaction) error {
	info := update.GetTransaction()
	if len(info.GetSignature()) != solana.SignatureLength {
		return errors.New("a transaction without a signature")
	}
	if info.GetMeta() == nil || info.GetMeta().GetErr() != nil {
		return nil
	}
	notice := haggle.Notice{Signature: solana.SignatureFromBytes(info.GetSignature()), Slot: update.GetSlot()}
	notice.Unrelated = !info.GetMeta().GetLogMessagesNone() && !haggle.CallsProgram(info.GetMeta().GetLogMessages())
	for _, keys := range [][][]byte{
		info.GetTransaction().GetMessage().GetAccountKeys(),
		info.GetMeta().GetLoadedWritableAddresses(), info.GetMeta().GetLoadedReadonlyAddresses(),
	} {
		for _, key := range keys {
			if len(key) == solana.PublicKeyLength && s.listensTo(address(key)) {
				notice.Address = address(key)
				s.notify(notice)
			}
		}
	}
	return nil
}

func (s *stream) listensTo(key address) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	_, wanted := s.addresses[key]
	return wanted
}
