package ledger

import (
	"errors"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// Simulation configures a simulation.
type Simulation struct {
	// VerifySignatures reports whether wrong signatures are an error.
	VerifySignatures bool
	// ReplaceBlockhash replaces the transaction's blockhash with the newest blockhash. It excludes
	// VerifySignatures.
	ReplaceBlockhash bool
}

// Simulate executes a transaction on the newest accounts and stores nothing. It returns the same errors as
// [Ledger.Send], except that a [TransactionError] is reported in Transaction.Result.
func (l *Ledger) Simulate(wire []byte, options Simulation) (*Transaction, error) {
	if options.VerifySignatures && options.ReplaceBlockhash {
		return nil, errors.New("ledger: sigVerify may not be used with replaceRecentBlockhash")
	}
	transaction, wire, err := decode(wire)
	if err != nil {
		return nil, err
	}
	if options.VerifySignatures {
		if err := verify(transaction); err != nil {
			return nil, err
		}
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	message := &transaction.Message
	if options.ReplaceBlockhash {
		message.RecentBlockhash = l.parent().Hash
		if wire, err = transaction.MarshalBinary(); err != nil {
			return nil, &DecodeError{err.Error()}
		}
	}
	simulated := &Transaction{
		Signature: transaction.Signatures[0], Slot: l.head().Slot, Time: l.head().Time, Wire: wire, Decoded: transaction,
		Keys: message.AccountKeys,
	}
	if refusal, err := l.refusal(simulated, options); refusal != nil || err != nil {
		simulated.Before = l.balances(simulated, nil)
		simulated.After = simulated.Before
		simulated.Result = &engine.Result{}
		if refusal != nil {
			simulated.Result.Err, simulated.Result.Logs = refusal.Err, refusal.Logs
		}
		return simulated, err
	}
	simulated.Before = l.balances(simulated, nil)
	if simulated.Result, err = l.engine.Simulate(wire); err != nil {
		return nil, invalid(err)
	}
	if simulated.Result.Charged {
		simulated.LoadedBytes = l.loadedBytes(message, simulated.Keys)
	}
	changed := map[solana.PublicKey]*engine.Account{}
	for _, change := range simulated.Result.Changes {
		changed[change.Address] = &change.Account
	}
	simulated.After = l.balances(simulated, changed)
	return simulated, nil
}

// refusal returns why blocks cannot contain a transaction; if they can, it resolves the lookup tables.
func (l *Ledger) refusal(t *Transaction, options Simulation) (*TransactionError, error) {
	message := &t.Decoded.Message
	if _, executed := l.transactions[t.Signature]; executed && !options.ReplaceBlockhash {
		return refused("AlreadyProcessed"), nil
	}
	if _, durable := l.durableNonce(message); !durable && !l.usable(message.RecentBlockhash) {
		return refused("BlockhashNotFound"), nil
	}
	writable, readonly, err := l.lookup(message)
	var refusal *TransactionError
	if errors.As(err, &refusal) {
		return refusal, nil
	}
	t.LoadedWritable, t.LoadedReadonly = writable, readonly
	t.Keys = append(append(append([]solana.PublicKey{}, message.AccountKeys...), writable...), readonly...)
	return nil, err
}
