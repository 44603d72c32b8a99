package ledger

// Commitment selects the newest block that a query takes into account.
type Commitment string

// The commitments, as nodes name them. The empty commitment is Finalized.
const (
	// Processed is the open block.
	Processed Commitment = "processed"
	// Confirmed is the newest closed block.
	Confirmed Commitment = "confirmed"
	// Finalized is the block 32 blocks before the newest closed one.
	Finalized Commitment = "finalized"
)

const finality = 32

// Slot returns the newest slot of a commitment.
func (l *Ledger) Slot(commitment Commitment) uint64 {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.slot(commitment)
}

func (l *Ledger) slot(commitment Commitment) uint64 {
	head := l.head().Slot
	switch commitment {
	case Processed:
		return head
	case Confirmed:
		return head - 1
	}
	return max(head-1, firstSlot+finality) - finality
}

// commitmentOf returns the highest commitment of a slot.
func (l *Ledger) commitmentOf(slot uint64) Commitment {
	switch {
	case slot <= l.slot(Finalized):
		return Finalized
	case slot <= l.slot(Confirmed):
		return Confirmed
	}
	return Processed
}
