package yellowstone

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"google.golang.org/grpc"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/yellowstone/internal/geyser"
)

const (
	// answerLimit limits the time for applying a filter.
	answerLimit = 15 * time.Second
	// silentLimit is the longest time without a message: the service sends a ping every 10 s.
	silentLimit = 45 * time.Second
	// filterName prefixes filter names, which end with their number.
	filterName = "haggle-"
)

type address = solana.PublicKey

// stream represents a Subscribe call.
type stream struct {
	source     *Source
	connection *grpc.ClientConn
	updates    grpc.BidiStreamingClient[geyser.SubscribeRequest, geyser.SubscribeUpdate]
	notify     func(events.Hint)
	program    solana.PublicKey
	level      geyser.CommitmentLevel
	cancel     context.CancelFunc
	running    sync.WaitGroup
	// done is closed when the stream ended; err is the reason.
	done chan struct{}

	// sending is held while a request is sent: a gRPC stream does not allow concurrent sends.
	sending sync.Mutex

	lock      sync.Mutex
	addresses map[address]struct{}
	// fromSlot is the first slot to repeat, until it was requested; then replays is set.
	fromSlot uint64
	replays  bool
	// sent is the newest filter's number; awaited holds a channel for each filter that is not applied yet.
	sent    uint64
	awaited map[uint64]chan struct{}
	err     error
}

// Subscribe replaces the filter by a filter with these addresses added.
func (s *stream) Subscribe(ctx context.Context, addresses []solana.PublicKey) error {
	s.lock.Lock()
	for _, added := range addresses {
		s.addresses[added] = struct{}{}
	}
	s.lock.Unlock()
	return s.request(ctx)
}

// Unsubscribe replaces the filter by a filter without these addresses.
func (s *stream) Unsubscribe(addresses []solana.PublicKey) error {
	s.lock.Lock()
	for _, removed := range addresses {
		delete(s.addresses, removed)
	}
	s.lock.Unlock()
	_, err := s.sendFilter()
	return err
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

// request sends the filter and returns when the service applies it. The service does not confirm that, and a
// ping response shows only that it read the preceding messages: it may apply the old filter for a while, and
// skips all but the newest of several new filters, including their repetition. But every update names the
// filters that it passed, and each filter includes all slots.
func (s *stream) request(ctx context.Context) error {
	taken, err := s.sendFilter()
	if err != nil {
		return err
	}
	timer := time.NewTimer(answerLimit)
	defer timer.Stop()
	select {
	case <-taken:
		return nil
	case <-s.done:
		return s.Err()
	case <-timer.C:
		return fmt.Errorf("yellowstone: server did not apply the filter within %s", answerLimit)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sendFilter requests the transactions that mention any of the addresses, or all transactions of the program
// if there are too many addresses. The returned channel is closed when the service applies the filter.
func (s *stream) sendFilter() (taken <-chan struct{}, err error) {
	s.sending.Lock()
	defer s.sending.Unlock()
	request, taken := s.filter()
	return taken, s.sendLocked(request)
}

func (s *stream) filter() (*geyser.SubscribeRequest, <-chan struct{}) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.sent++
	taken := make(chan struct{})
	s.awaited[s.sent] = taken
	name := filterName + strconv.FormatUint(s.sent, 10)
	request := &geyser.SubscribeRequest{
		Commitment: &s.level,
		Slots:      map[string]*geyser.SubscribeRequestFilterSlots{name: {}},
	}
	if len(s.addresses) == 0 {
		return request, taken
	}
	wanted := []string{s.program.String()}
	if len(s.addresses) <= s.source.config.MaxAddresses {
		wanted = wanted[:0]
		for subscribed := range maps.Keys(s.addresses) {
			wanted = append(wanted, subscribed.String())
		}
	}
	no := false
	request.Transactions = map[string]*geyser.SubscribeRequestFilterTransactions{name: {Vote: &no, Failed: &no, AccountInclude: wanted}}
	// Missed transactions are repeated once, for the first addresses: the client subscribes to all of its
	// addresses at once.
	if s.fromSlot > 0 {
		from := s.fromSlot
		request.FromSlot, s.fromSlot, s.replays = &from, 0, true
	}
	return request, taken
}

// passed records that the service applies the named filters, and so none of the filters before them.
func (s *stream) passed(names []string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if len(s.awaited) == 0 {
		return
	}
	for _, name := range names {
		number, err := strconv.ParseUint(strings.TrimPrefix(name, filterName), 10, 64)
		if err != nil {
			continue
		}
		for awaited, taken := range s.awaited {
			if awaited <= number {
				delete(s.awaited, awaited)
				close(taken)
			}
		}
	}
}

func (s *stream) send(request *geyser.SubscribeRequest) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	return s.sendLocked(request)
}

func (s *stream) sendLocked(request *geyser.SubscribeRequest) error {
	if err := s.updates.Send(request); err != nil {
		// The reason of the error is in the received status.
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
	s.passed(update.GetFilters())
	switch {
	case update.GetPing() != nil:
		// Some proxies close connections without traffic in this direction.
		return s.send(&geyser.SubscribeRequest{Ping: &geyser.SubscribeRequestPing{}})
	case update.GetTransaction() != nil:
		return s.hint(update.GetTransaction())
	}
	return nil
}

// hint sends a transaction's hint for each subscribed address that it mentions.
func (s *stream) hint(update *geyser.SubscribeUpdateTransaction) error {
	info := update.GetTransaction()
	if len(info.GetSignature()) != solana.SignatureLength {
		return errors.New("a transaction without a signature")
	}
	if info.GetMeta() == nil || info.GetMeta().GetErr() != nil {
		return nil
	}
	hint := events.Hint{Signature: solana.SignatureFromBytes(info.GetSignature()), Slot: update.GetSlot()}
	hint.Unrelated = !info.GetMeta().GetLogMessagesNone() && !events.CallsProgram(info.GetMeta().GetLogMessages(), s.program)
	for _, keys := range [][][]byte{
		info.GetTransaction().GetMessage().GetAccountKeys(),
		info.GetMeta().GetLoadedWritableAddresses(), info.GetMeta().GetLoadedReadonlyAddresses(),
	} {
		for _, key := range keys {
			if len(key) == solana.PublicKeyLength && s.isSubscribed(address(key)) {
				hint.Address = address(key)
				s.notify(hint)
			}
		}
	}
	return nil
}

func (s *stream) isSubscribed(key address) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	_, wanted := s.addresses[key]
	return wanted
}
