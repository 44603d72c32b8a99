package keeper

import (
	"context"
	"errors"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	// hintsHeld limits the transactions waiting to be read. If more arrive, a scan finds their effects.
	hintsHeld = 1024
	// readers is the number of transactions that are read at once.
	readers = 4
)

// listen receives hints from the client's stream until the context or the client ends.
func (k *Keeper) listen(ctx context.Context) {
	err := k.client.Listen(ctx, protocol.ProgramID, k.setConnected, k.receive)
	k.setConnected(false)
	if ctx.Err() == nil && !errors.Is(err, haggle.ErrClientClosed) {
		k.config.Logger.Warn("event subscription failed: finding negotiations by scans only", "error", err)
	}
}

// setConnected records whether hints arrive. When they start to arrive, it requests a scan.
func (k *Keeper) setConnected(connected bool) {
	k.lock.Lock()
	lost := k.connected && !connected
	k.connected = connected
	k.scanRequested = k.scanRequested || connected
	k.lock.Unlock()
	if lost {
		k.config.Logger.Warn("event subscription lost: scanning more often until it is back")
	}
	if connected || lost {
		k.wake()
	}
}

// requestScan requests a scan of the negotiations soon.
func (k *Keeper) requestScan() {
	k.lock.Lock()
	k.scanRequested = true
	k.lock.Unlock()
	k.wake()
}

// wake makes Run compute the next step again.
func (k *Keeper) wake() {
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

// receive queues a hint.
func (k *Keeper) receive(hint events.Hint) {
	if hint.Signature.IsZero() {
		k.requestScan()
		return
	}
	select {
	case k.hints <- hint.Signature:
	default:
		k.requestScan()
	}
}

// readHinted reads the negotiations of hinted transactions until the context ends.
func (k *Keeper) readHinted(ctx context.Context) {
	for {
		select {
		case signature := <-k.hints:
			k.readChanged(ctx, signature)
		case <-ctx.Done():
			return
		}
	}
}

// readChanged reads the negotiations changed by a transaction.
func (k *Keeper) readChanged(ctx context.Context, signature solana.Signature) {
	events, err := k.client.Events(ctx, signature)
	done := make(map[solana.PublicKey]bool)
	for _, event := range events {
		address, about := event.NegotiationAddress()
		if !about || done[address] {
			continue
		}
		done[address] = true
		if failed := k.read(ctx, address); failed != nil {
			err = failed
		}
	}
	if err != nil && ctx.Err() == nil {
		k.config.Logger.Debug("reading a transaction failed", "signature", signature, "error", err)
		k.requestScan()
	}
}

// read updates a negotiation's record.
func (k *Keeper) read(ctx context.Context, address solana.PublicKey) error {
	n, err := k.client.Negotiation(address).Snapshot(ctx)
	switch {
	case errors.Is(err, protocol.ErrAccountNotFound):
		k.forget(address)
	case err != nil:
		return err
	default:
		k.update(n, 0)
	}
	k.wake()
	return nil
}

// forget deletes a closed negotiation's record.
func (k *Keeper) forget(address solana.PublicKey) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if r := k.records[address]; r != nil && !r.busy {
		delete(k.records, address)
	}
}
