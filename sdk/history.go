package haggle

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	// historyPage is the most signatures that a node lists at once.
	historyPage = 1000
	// historyLimit is the most signatures of one address that are fetched at once.
	historyLimit = 100_000
	// settledSlots is how far behind the newest slot a node has certainly listed everything: it writes its list a little later
	// than it tells of a transaction.
	settledSlots = 32
)

// ErrHistoryTooLong: more has happened at an address than can be made up for.
var ErrHistoryTooLong = errors.New("haggle: the address has too long a history")

// mark is a point in the history of an address: everything up to it has been seen.
type position struct {
	// signature is the last transaction that has been seen; zero if that is none.
	signature solana.Signature
	// slot is the first one of which something may not have been seen.
	slot uint64
}

// entry is a transaction in the history of an address.
type entry struct {
	signature solana.Signature
	slot      uint64
	failed    bool
	// processed says that it is in a block that is not complete yet, in which its position may change. A validator lists none of these.
	processed bool
}

// signatures is a page of the transactions that mention an address, the newest first. None of its elements is nil.
func (c *Client) signatures(ctx context.Context, address solana.PublicKey, options *rpc.GetSignaturesForAddressOpts) ([]*rpc.TransactionSignature, error) {
	listed, err := c.rpc.GetSignaturesForAddressWithOpts(ctx, address, options)
	if err != nil {
		return nil, err
	}
	if slices.Contains(listed, nil) {
		return nil, malformed("the node lists a transaction without saying which")
	}
	return listed, nil
}

// newest is the mark at which an address is now. slot is one that the node had reached before.
func (c *Client) newest(ctx context.Context, address solana.PublicKey, slot uint64) (position, error) {
	one := 1
	listed, err := c.signatures(ctx, address, &rpc.GetSignaturesForAddressOpts{Limit: &one, Commitment: c.commitment, MinContextSlot: &slot})
	if err != nil {
		return position{}, err
	}
	if len(listed) == 0 {
		return position{slot: slot}, nil
	}
	return position{signature: listed[0].Signature, slot: listed[0].Slot}, nil
}

// markAt is the mark of a transaction.
func (c *Client) positionOf(ctx context.Context, signature solana.Signature) (position, error) {
	statuses, err := c.rpc.GetSignatureStatuses(ctx, true, signature)
	if err != nil {
		return position{}, err
	}
	if len(statuses.Value) != 1 || statuses.Value[0] == nil {
		return position{}, fmt.Errorf("haggle: the node does not know transaction %s", signature)
	}
	return position{signature: signature, slot: statuses.Value[0].Slot}, nil
}

// since lists what has happened at an address after a mark, the oldest first. A node that has not reached the slot head, unless that
// is zero, must not answer: another one may have.
func (c *Client) since(ctx context.Context, address solana.PublicKey, from position, head uint64) ([]entry, error) {
	var entries []entry
	page := historyPage
	options := &rpc.GetSignaturesForAddressOpts{Limit: &page, Until: from.signature, Commitment: c.commitment, MinContextSlot: &head}
	for {
		listed, err := c.signatures(ctx, address, options)
		if err != nil {
			return nil, err
		}
		for _, item := range listed {
			// A node that has thrown the mark's transaction away goes on beyond it. A mark in a slot that there has not been yet is
			// from a node that was wrong about that, and must not hide what happens until then.
			if item.Slot < from.slot && (head == 0 || from.slot <= head) || item.Signature == from.signature {
				slices.Reverse(entries)
				return entries, nil
			}
			entries = append(entries, entry{
				signature: item.Signature, slot: item.Slot, failed: item.Err != nil,
				processed: item.ConfirmationStatus == rpc.ConfirmationStatusProcessed,
			})
		}
		if len(listed) < historyPage {
			slices.Reverse(entries)
			return entries, nil
		}
		if len(entries) >= historyLimit {
			return nil, fmt.Errorf("%w: %s", ErrHistoryTooLong, address)
		}
		options.Before = listed[len(listed)-1].Signature
	}
}

// blockPositions is where the transactions of a slot are in its block; nil if the node does not say.
func (c *Client) blockPositions(ctx context.Context, slot uint64) (map[solana.Signature]int, error) {
	newest, none := uint64(math.MaxUint8), false
	block, err := c.rpc.GetBlockWithOpts(ctx, slot, &rpc.GetBlockOpts{
		TransactionDetails: rpc.TransactionDetailsSignatures, Rewards: &none, Commitment: c.commitment, MaxSupportedTransactionVersion: &newest,
	})
	var refused *NodeError
	if errors.Is(err, rpc.ErrNotFound) || errors.As(err, &refused) && !refused.busy() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	positions := make(map[solana.Signature]int, len(block.Signatures))
	for i, signature := range block.Signatures {
		positions[signature] = i
	}
	return positions, nil
}

// History yields every event of a negotiation that the node remembers, the oldest first, also of one that has been closed. It ends
// with the first error; [ErrHistoryTooLong] is one. What happens meanwhile may not be in it: see Watch with [FromBeginning].
//
//	for seen, err := range client.History(ctx, negotiation) {
func (c *Client) History(ctx context.Context, negotiation solana.PublicKey) iter.Seq2[EventEnvelope, error] {
	return func(yield func(EventEnvelope, error) bool) {
		entries, err := c.since(ctx, negotiation, position{}, 0)
		if err != nil {
			yield(EventEnvelope{}, err)
			return
		}
		for _, item := range entries {
			if item.failed {
				continue
			}
			observations, err := c.observe(ctx, negotiation, item)
			if err != nil {
				yield(EventEnvelope{}, err)
				return
			}
			for _, seen := range observations {
				if !yield(seen, nil) {
					return
				}
			}
		}
	}
}

// observe fetches what one transaction has to tell of a negotiation.
func (c *Client) observe(ctx context.Context, negotiation solana.PublicKey, item entry) ([]EventEnvelope, error) {
	unclear := EventEnvelope{Signature: item.signature, Slot: item.slot, Negotiation: negotiation, Truncated: true}
	details, err := c.executed(ctx, item.signature, detailsLimit)
	if errors.Is(err, errNoDetails) {
		return []EventEnvelope{unclear}, nil
	}
	if err != nil {
		return nil, err
	}
	if details.Meta.Err != nil {
		return nil, nil
	}
	var observations []EventEnvelope
	events, failed := protocol.ParseLogs(details.Meta.LogMessages)
	for _, event := range events {
		if about, ok := event.NegotiationAddress(); ok && about == negotiation {
			observations = append(observations, EventEnvelope{Signature: item.signature, Slot: item.slot, Negotiation: negotiation, Event: event})
		}
	}
	if failed != nil && mentionsProgram(details) {
		observations = append(observations, unclear)
	}
	return observations, nil
}

// advance moves a mark to the newest entry that the node has certainly listed together with everything before it. head is a slot
// that the node had reached when it was asked for the entries.
func (m position) advance(entries []entry, head uint64) position {
	certain := head - min(head, settledSlots)
	if m.slot > head {
		m.slot = certain
	}
	for _, item := range slices.Backward(entries) {
		if item.slot <= certain {
			m.signature = item.signature
			break
		}
	}
	m.slot = max(m.slot, certain)
	return m
}
