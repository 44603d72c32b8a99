package feed

import (
	"context"
	"iter"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// History yields every event of an account that the node still returns, the oldest first. It ends with the
// first error.
func (f *Feed) History(ctx context.Context, account solana.PublicKey) iter.Seq2[Delivery, error] {
	return func(yield func(Delivery, error) bool) {
		entries, err := f.since(ctx, account, position{}, 0)
		if err != nil {
			yield(Delivery{}, err)
			return
		}
		for _, item := range entries {
			if item.Failed {
				continue
			}
			deliveries, err := f.deliveriesOf(ctx, account, item)
			if err != nil {
				yield(Delivery{}, err)
				return
			}
			for _, delivery := range deliveries {
				if !yield(delivery, nil) {
					return
				}
			}
		}
	}
}

// deliveriesOf returns a transaction's events about an account.
func (f *Feed) deliveriesOf(
	ctx context.Context, account solana.PublicKey, item transaction.Listed,
) (deliveries []Delivery, err error) {
	details, err := f.Transaction(ctx, item.Signature, true)
	if err != nil {
		return nil, err
	}
	truncated := details == nil
	if details != nil {
		var events []Event
		events, truncated = f.decode(details)
		for _, event := range events {
			if event.Account == account {
				deliveries = append(deliveries, Delivery{
					Signature: item.Signature, Slot: item.Slot, Account: account, Event: event.Value})
			}
		}
	}
	if truncated {
		deliveries = append(deliveries, Delivery{
			Signature: item.Signature, Slot: item.Slot, Account: account, Truncated: true})
	}
	return deliveries, nil
}

// decode returns a transaction's events about an account; none if it failed.
func (f *Feed) decode(details *rpc.GetTransactionResult) (events []Event, truncated bool) {
	if details.Meta.Err != nil {
		return nil, false
	}
	events, truncated = f.Decode(details)
	return slices.DeleteFunc(events, func(event Event) bool { return event.Account.IsZero() }), truncated
}
