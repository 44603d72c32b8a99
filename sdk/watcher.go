package haggle

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/gagliardetto/solana-go"
)

const (
	// A connection that fails is made again after a pause that doubles, and varies so that not everyone comes back at once.
	firstReconnect = 100 * time.Millisecond
	lastReconnect  = 15 * time.Second
	// catchUpEvery is how often the node is asked whether it has kept something to itself: some drop notifications silently. The
	// more addresses there are to ask for, the longer it takes: catchUpPerAddress.
	catchUpEvery      = 20 * time.Second
	catchUpPerAddress = 100 * time.Millisecond
	// hintLimit is how long one transaction that the connection tells of may hold up the next ones until the node has it, and
	// doubtLimit how long it is looked for after that, every recheckEvery: longer than a blockhash lives.
	hintLimit    = 3 * time.Second
	recheckEvery = time.Second
	doubtLimit   = 2 * time.Minute
	// lateSlots is how much later than another a subscription may tell of the same transaction: some minutes.
	lateSlots = 512
)

// watcher keeps a subscription going. One goroutine uses it.
type watcher struct {
	client       *Client
	subscription *Subscription
	start        watchStart
	// Either fixed is the negotiation to watch, or agent is the one whose negotiations are watched.
	fixed solana.PublicKey
	agent solana.PublicKey

	// watched are the addresses whose transactions are listened to.
	watched []*watchedAddress
	// fresh are those of them that have just been added, and whose history is still to be fetched.
	fresh []*watchedAddress
	// incomplete says that some of the agent's negotiations may not be watched, because logs did not tell of them.
	incomplete bool
	// seen are the transactions that have been handled since the oldest mark, with their slots.
	seen map[solana.Signature]uint64
	// doubtful are transactions that the connection has told of and that the node did not have in a block, and until when to look
	// for them.
	doubtful map[solana.Signature]time.Time
	// stream is the connection; nil between two.
	stream *logStream
}

// run watches until the context ends or the subscription fails for good. It says on connected whether it could begin.
func (w *watcher) run(ctx context.Context, connected chan<- error) {
	w.seen = make(map[solana.Signature]uint64)
	w.doubtful = make(map[solana.Signature]time.Time)
	err := w.begin(ctx)
	if err == nil {
		err = w.connect(ctx)
	}
	connected <- err
	if err == nil {
		err = w.keepListening(ctx)
	}
	w.disconnect()
	w.subscription.end(err)
}

func (w *watcher) keepListening(ctx context.Context) error {
	pause := firstReconnect
	for {
		began := time.Now()
		err := w.listen(ctx)
		for {
			w.disconnect()
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if isPermanent(err) {
				return err
			}
			if time.Since(began) > lastReconnect {
				pause = firstReconnect
			}
			if err := sleep(ctx, pause/2+rand.N(pause)); err != nil {
				return err
			}
			pause = min(2*pause, lastReconnect)
			if err = w.connect(ctx); err == nil {
				break
			}
		}
	}
}

func isPermanent(err error) bool {
	var refused *NodeError
	if errors.As(err, &refused) {
		return refused.Method == subscribeMethod && (refused.Code == methodNotFound || refused.Code == invalidParams)
	}
	return errors.Is(err, ErrHistoryTooLong)
}

// begin finds out what is to be watched, and from where.
func (w *watcher) begin(ctx context.Context) error {
	address := w.fixed
	if address.IsZero() {
		address = w.agent
	}
	// The agent's mark comes before the list of its negotiations: what is created in between is in both.
	from, err := w.startMark(ctx, address)
	if err != nil {
		return err
	}
	w.watched = append(w.watched, &watchedAddress{address: address, known: from})
	if w.agent.IsZero() {
		return nil
	}
	return w.discover(ctx, w.startMark)
}

func (w *watcher) connect(ctx context.Context) (err error) {
	if w.stream, err = dialLogs(ctx, w.client.wsEndpoint, w.client.commitment); err != nil {
		return err
	}
	for _, watched := range w.watched {
		if watched.subscription, err = w.stream.subscribe(ctx, watched.address); err != nil {
			return err
		}
	}
	return nil
}

func (w *watcher) disconnect() {
	if w.stream != nil {
		w.stream.close()
		w.stream = nil
	}
}

// listen handles what the connection tells, after what has happened before it was made, until it ends.
func (w *watcher) listen(ctx context.Context) error {
	if err := w.catchUp(ctx); err != nil {
		return err
	}
	again, recheck := time.NewTimer(w.untilCatchUp()), time.NewTicker(recheckEvery)
	defer again.Stop()
	defer recheck.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-w.stream.done:
			return w.stream.failure()
		case <-w.stream.wake:
			err = w.hear(ctx, w.stream.take())
		case <-recheck.C:
			err = w.resolveDoubts(ctx)
		case <-again.C:
			err = w.catchUp(ctx)
			again.Reset(w.untilCatchUp())
		}
		if err != nil {
			return err
		}
	}
}

func (w *watcher) untilCatchUp() time.Duration {
	return catchUpEvery + time.Duration(len(w.watched))*catchUpPerAddress
}
