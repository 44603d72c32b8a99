package yellowstone_test

import (
	"context"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/events"
)

// recorder is a source that records another source's hints.
type recorder struct {
	events.Source

	lock    sync.Mutex
	notices []events.Hint
	// opened counts the opened streams, and resumed those that started from a slot.
	opened, resumed int
	// ended contains the errors from streams that ended by themselves.
	ended []error
}

func (r *recorder) Open(ctx context.Context, options events.Options) (events.Stream, error) {
	notify := options.Notify
	options.Notify = func(n events.Hint) {
		r.lock.Lock()
		r.notices = append(r.notices, n)
		r.lock.Unlock()
		notify(n)
	}
	stream, err := r.Source.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.opened++
	if options.FromSlot > 0 {
		r.resumed++
	}
	return &recordedStream{stream, r}, nil
}

type recordedStream struct {
	events.Stream
	recorder *recorder
}

func (s *recordedStream) Err() error {
	err := s.Stream.Err()
	s.recorder.lock.Lock()
	defer s.recorder.lock.Unlock()
	s.recorder.ended = append(s.recorder.ended, err)
	return err
}

func (s *recordedStream) Subscribe(ctx context.Context, addresses []solana.PublicKey) error {
	err := s.Stream.Subscribe(ctx, addresses)
	if err != nil {
		s.recorder.lock.Lock()
		defer s.recorder.lock.Unlock()
		s.recorder.ended = append(s.recorder.ended, err)
	}
	return err
}

// hinted returns the transactions hinted by the streams for an address, in order of the first hints.
func (r *recorder) hinted(address solana.PublicKey) (signatures []solana.Signature) {
	r.lock.Lock()
	defer r.lock.Unlock()
	known := make(map[solana.Signature]bool)
	for _, notice := range r.notices {
		if notice.Address == address && !known[notice.Signature] {
			known[notice.Signature] = true
			signatures = append(signatures, notice.Signature)
		}
	}
	return signatures
}

// reasons returns the errors from ended streams as text.
func (r *recorder) reasons() (texts []string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, err := range r.ended {
		texts = append(texts, err.Error())
	}
	return texts
}

func (r *recorder) counts() (opened, resumed int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.opened, r.resumed
}
