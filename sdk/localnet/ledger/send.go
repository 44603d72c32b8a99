package ledger

import (
	"errors"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// Send verifies and executes a transaction in the open block. The transaction may have failed there: see
// Transaction.Result. It returns a [DecodeError], [SanitizeError] or [ErrSignature] for an invalid
// transaction, or a [TransactionError] if blocks cannot contain the transaction: the blockhash has expired,
// the transaction was executed already, or the fee cannot be paid.
func (l *Ledger) Send(wire []byte) (*Transaction, error) {
	transaction, wire, err := decode(wire)
	if err != nil {
		return nil, err
	}
	if err := verify(transaction); err != nil {
		return nil, err
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.execute(wire, transaction)
}

func (l *Ledger) execute(wire []byte, transaction *solana.Transaction) (*Transaction, error) {
	message := &transaction.Message
	if _, executed := l.transactions[transaction.Signatures[0]]; executed {
		return nil, refused("AlreadyProcessed")
	}
	nonce, durable := l.durableNonce(message)
	if l.usable(message.RecentBlockhash) {
		durable = false
	} else if !durable {
		return nil, refused("BlockhashNotFound")
	}
	writable, readonly, err := l.lookup(message)
	if err != nil {
		return nil, err
	}
	head := l.head()
	executed := &Transaction{
		Signature: transaction.Signatures[0], Slot: head.Slot, Index: len(head.Transactions), Time: head.Time,
		Wire: wire, Decoded: transaction, LoadedWritable: writable, LoadedReadonly: readonly,
	}
	executed.Keys = append(append(append(executed.Keys, message.AccountKeys...), writable...), readonly...)
	executed.Before = l.balances(executed, nil)
	executed.LoadedBytes = l.loadedBytes(message, executed.Keys)
	executed.Result, err = l.engine.Execute(wire)
	if err != nil {
		return nil, invalid(err)
	}
	if !executed.Result.Charged {
		return nil, &TransactionError{executed.Result.Err, executed.Result.Logs}
	}
	for _, change := range executed.Result.Changes {
		l.mirror(change.Address, change.Account)
	}
	if durable && executed.Result.Err != nil {
		if err := l.advance(nonce); err != nil {
			return nil, err
		}
	}
	executed.After = l.balances(executed, nil)
	l.record(executed)
	return executed, nil
}

func (l *Ledger) record(executed *Transaction) {
	head := l.head()
	head.Transactions = append(head.Transactions, executed)
	l.transactions[executed.Signature] = executed
	for _, key := range executed.unique() {
		l.mentions[key] = append(l.mentions[key], executed)
	}
	l.count++
	l.emit(Event{Executed: executed})
}

// invalid turns the engine's request error into an invalid transaction error.
func invalid(err error) error {
	var rejected *engine.RequestError
	if errors.As(err, &rejected) {
		return &DecodeError{rejected.Message}
	}
	return err
}
