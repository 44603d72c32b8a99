package ledger

// Event is a change of the chain: exactly one field is set.
type Event struct {
	// Executed reports a new transaction in the open block.
	Executed *Transaction
	// Closed reports a newly confirmed block.
	Closed *Block
}

// watcher receives events.
type watcher struct{ receive func(Event) }

// Watch registers a function that receives every event in order, until stop is called. It runs while the
// ledger is locked: it must return at once and must not call the ledger. A node that is behind receives the
// events at once, too.
func (l *Ledger) Watch(receive func(Event)) (stop func()) {
	l.lock.Lock()
	defer l.lock.Unlock()
	added := &watcher{receive}
	l.watchers[added] = struct{}{}
	return func() {
		l.lock.Lock()
		defer l.lock.Unlock()
		delete(l.watchers, added)
	}
}

func (l *Ledger) emit(event Event) {
	for watcher := range l.watchers {
		watcher.receive(event)
	}
}
