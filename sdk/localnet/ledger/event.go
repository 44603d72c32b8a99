package ledger

// Event is a change of the chain: exactly one field is set.
type Event struct {
	// Executed is a transaction that the open block contains now.
	Executed *Transaction
	// Closed is a block that is confirmed now.
	Closed *Block
}

// Watch registers a function that receives every event in order. It runs while the ledger is locked: it must
// return at once and must not call the ledger. A ledger has at most one such function; nil removes it.
func (l *Ledger) Watch(receive func(Event)) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.watch = receive
}

func (l *Ledger) emit(event Event) {
	if l.watch != nil {
		l.watch(event)
	}
}
