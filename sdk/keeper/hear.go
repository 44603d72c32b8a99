package keeper

import (
	"context"
	"errors"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	// heardAtOnce is how many transactions that have been heard of wait to be looked at. Of more, a list tells sooner.
	heardAtOnce = 1024
	// lookers is how many of them are looked at at once.
	lookers = 4
	// A stream that ends is opened again after a pause that doubles.
	firstHearAgain = time.Second
	lastHearAgain  = 30 * time.Second
)

// ears hear what happens between two lists. They may miss something: the next list has it.
type ears struct {
	// heard are transactions of the program's.
	heard chan solana.Signature
	// news has an element when something is known that was not: Run is to look again what is next.
	news chan struct{}
}

func newEars() ears {
	return ears{heard: make(chan solana.Signature, heardAtOnce), news: make(chan struct{}, 1)}
}

// wake has Run look again.
func (k *Keeper) wake() {
	select {
	case k.ears.news <- struct{}{}:
	default:
	}
}

// listen hears of transactions until the context or the client ends.
func (k *Keeper) listen(ctx context.Context) {
	again := firstHearAgain
	for ctx.Err() == nil {
		began := time.Now()
		// What has happened before that is in the next list.
		err := k.client.Hear(ctx, protocol.ProgramID, func() { k.setHearing(true) }, k.hear)
		k.setHearing(false)
		if ctx.Err() != nil || errors.Is(err, haggle.ErrClientClosed) {
			return
		}
		k.config.Logger.Warn("events cannot be heard for now; the negotiations are listed more often", "error", err)
		if time.Since(began) > lastHearAgain {
			again = firstHearAgain
		}
		sleep(ctx, again)
		again = min(2*again, lastHearAgain)
	}
}

// setHearing notes whether events are heard. When that begins, the negotiations are listed.
func (k *Keeper) setHearing(hearing bool) {
	k.telling.Lock()
	k.hearing = hearing
	k.telling.Unlock()
	if hearing {
		k.askForList()
	} else {
		k.wake()
	}
}

// askForList has the negotiations listed soon.
func (k *Keeper) askForList() {
	k.telling.Lock()
	k.listAsked = true
	k.telling.Unlock()
	k.wake()
}

// hear is told of a transaction.
func (k *Keeper) hear(notice haggle.Notice) {
	if notice.Signature.IsZero() {
		k.askForList()
		return
	}
	select {
	case k.ears.heard <- notice.Signature:
	default:
		k.askForList()
	}
}

// follow looks at what has been heard of until the context ends.
func (k *Keeper) follow(ctx context.Context) {
	for {
		select {
		case signature := <-k.ears.heard:
			k.look(ctx, signature)
		case <-ctx.Done():
			return
		}
	}
}

// look reads the negotiations that a transaction has changed.
func (k *Keeper) look(ctx context.Context, signature solana.Signature) {
	events, err := k.client.Events(ctx, signature)
	seen := make(map[solana.PublicKey]bool)
	for _, event := range events {
		address, about := event.NegotiationAddress()
		if !about || seen[address] {
			continue
		}
		seen[address] = true
		if failed := k.read(ctx, address); failed != nil {
			err = failed
		}
	}
	if err != nil && ctx.Err() == nil {
		k.config.Logger.Debug("a transaction cannot be looked at", "signature", signature, "error", err)
		k.askForList()
	}
}

// read reads a negotiation again.
func (k *Keeper) read(ctx context.Context, address solana.PublicKey) error {
	n, err := k.client.GetNegotiation(ctx, address)
	switch {
	case errors.Is(err, haggle.ErrAccountNotFound):
		k.forget(address)
	case err != nil:
		return err
	default:
		k.note(n)
	}
	k.wake()
	return nil
}

// forget removes a negotiation that has been closed.
func (k *Keeper) forget(address solana.PublicKey) {
	k.telling.Lock()
	defer k.telling.Unlock()
	if r := k.known[address]; r != nil && !r.busy {
		delete(k.known, address)
	}
}
