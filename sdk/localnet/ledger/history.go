package ledger

import "github.com/gagliardetto/solana-go"

// Status describes a transaction.
type Status struct {
	*Transaction
	// Commitment is the transaction's highest commitment.
	Commitment Commitment
	// Confirmations is the number of blocks since then. It is meaningless for a finalized transaction.
	Confirmations uint64
}

// Status returns a transaction's status, and false for unknown transactions.
func (l *Ledger) Status(signature solana.Signature) (Status, bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	transaction, known := l.transactions[signature]
	if !known || transaction.Slot > l.slot(Processed) {
		return Status{}, false
	}
	return l.status(transaction), true
}

func (l *Ledger) status(transaction *Transaction) Status {
	return Status{transaction, l.commitmentOf(transaction.Slot), l.slot(Processed) - transaction.Slot}
}

// Page selects part of an address history.
type Page struct {
	// Before excludes this transaction and newer ones, if it is set. Until excludes this transaction and
	// older ones.
	Before, Until solana.Signature
	// Limit is the maximum number of transactions, 1 to 1,000. If zero, 1,000 is used.
	Limit int
}

const pageLimit = 1000

// History returns the transactions mentioning the address, newest first, at the given commitment.
func (l *Ledger) History(address solana.PublicKey, commitment Commitment, page Page) []Status {
	l.lock.Lock()
	defer l.lock.Unlock()
	limit := page.Limit
	if limit <= 0 || limit > pageLimit {
		limit = pageLimit
	}
	newest := l.slot(commitment)
	mentions := l.mentions[address]
	from := len(mentions)
	if !page.Before.IsZero() {
		before, known := l.transactions[page.Before]
		if !known {
			return nil
		}
		// The Before transaction need not mention the address.
		for from > 0 && !precedes(mentions[from-1], before) {
			from--
		}
	}
	var found []Status
	for i := from - 1; i >= 0 && len(found) < limit; i-- {
		if mentions[i].Signature == page.Until {
			break
		}
		if mentions[i].Slot <= newest {
			found = append(found, l.status(mentions[i]))
		}
	}
	return found
}

// precedes reports whether transaction a was executed before b.
func precedes(a, b *Transaction) bool {
	return a.Slot < b.Slot || a.Slot == b.Slot && a.Index < b.Index
}

// TransactionCount returns the number of transactions since the ledger began.
func (l *Ledger) TransactionCount() uint64 {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.count
}
