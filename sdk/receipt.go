package haggle

import (
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Receipt is the result of a confirmed transaction.
type Receipt struct {
	transaction.Receipt
	// Events holds the program's events, in their order.
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
