package haggle

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Listen receives a hint for every transaction that mentions address, until the context ends or the client is
// closed. It returns the reason. With [protocol.ProgramID] these are all transactions of the program;
// [Client.Events] returns their events.
//
// Listen uses the stream of the client's subscriptions, which reconnects. connected reports each time whether
// hints arrive. A hint may come twice, late or never: a caller that must not miss anything lists the state
// when connected reports true, and from time to time. [Client.Watch] and [Client.WatchAgent] do that for
// their listeners. Both functions return at once and do not call the client; they may run in several
// goroutines, but not after Listen returned.
//
// It returns a [*transaction.NodeError] if the node refuses to subscribe.
func (c *Client) Listen(
	ctx context.Context, address solana.PublicKey, connected func(bool), received func(events.Hint),
) error {
	return c.sharedFeed().Listen(ctx, address, connected, received)
}

// Events returns the program's events in an executed transaction; none for a failed transaction. If the node
// does not return the transaction yet, it retries for up to 15 seconds and then returns
// [transaction.ErrNotFound]. That proves neither that the transaction was executed nor the contrary. If the
// logs are cut off or belong to a later version, it returns an error together with the readable events.
func (c *Client) Events(ctx context.Context, signature solana.Signature) ([]protocol.Event, error) {
	details, err := send.Executed(ctx, c.rpc, signature, c.commitment, send.DetailsLimit)
	if err != nil {
		return nil, transaction.WithOutcome(fmt.Errorf("transaction %s: %w", signature, err), transaction.Unknown)
	}
	if details.Meta.Err != nil {
		return nil, nil
	}
	return protocol.ParseLogs(details.Meta.LogMessages)
}
