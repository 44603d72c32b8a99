package haggle

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Receipt is the result of a confirmed transaction.
type Receipt struct {
	transaction.Receipt
	// Events are the program's events, in their order.
	Events []protocol.Event
}

// withEvents adds the program's events to a receipt, which may be nil.
func withEvents(executed *transaction.Receipt, err error) (*Receipt, error) {
	if executed == nil {
		return nil, err
	}
	receipt := &Receipt{Receipt: *executed}
	if err != nil {
		return receipt, err
	}
	if receipt.Events, err = protocol.ParseLogs(receipt.Logs); err != nil {
		return receipt, fmt.Errorf("%w: %s: %w", transaction.ErrDetailsUnavailable, receipt.Signature, err)
	}
	return receipt, nil
}

// executed returns an executed transaction, which a node may have a little later than its status. It returns
// errNoDetails if no node has it within the limit.
func (c *Client) executed(
	ctx context.Context, signature solana.Signature, limit time.Duration,
) (*rpc.GetTransactionResult, error) {
	return send.Executed(ctx, c.rpc, signature, c.commitment, limit)
}

// lookUp requests a transaction once. It returns nil if the node does not have it in a block of the client's
// commitment.
func (c *Client) lookUp(ctx context.Context, signature solana.Signature) (*rpc.GetTransactionResult, error) {
	return send.LookUp(ctx, c.rpc, signature, c.commitment)
}

var errNoDetails = send.ErrNoDetails

const (
	detailsLimit = send.DetailsLimit
	// firstPoll and lastPoll are the shortest and the longest pause between two equal requests.
	firstPoll, lastPoll = send.FirstPoll, send.LastPoll
)

// mentionsProgram reports whether a transaction may have called this program.
func mentionsProgram(details *rpc.GetTransactionResult) bool {
	tx, err := details.Transaction.GetTransaction()
	if err != nil {
		return true
	}
	loaded := details.Meta.LoadedAddresses
	return slices.Contains(tx.Message.AccountKeys, protocol.ProgramID) ||
		slices.Contains(loaded.ReadOnly, protocol.ProgramID) ||
		slices.Contains(loaded.Writable, protocol.ProgramID)
}
