package load

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
)

// record is an attempted action or transfer, with any outcome.
type record struct {
	// stage is the stage at the start of the attempt.
	stage stageID
	// action is the instruction's name, or plainTransfer.
	action string
	// negotiation is nil for a plain transfer.
	negotiation *negotiation
	outcome     string
	// done reports whether the action is confirmed.
	done bool
	// signature is zero if no transaction was executed.
	signature solana.Signature
	slot      uint64
	units     uint64
	// confirmation is the time from the first broadcast to the confirmation, measured by the SDK. whole is
	// the time from reading the state for the action to the confirmation.
	confirmation, whole time.Duration
}

const plainTransfer = "SPL transfer"

func (m *record) isTransfer() bool { return m.action == plainTransfer }

// recorder keeps all parties' records. The methods are safe for concurrent use.
type recorder struct {
	mutex   sync.Mutex
	stage   stageID
	lasted  [stageCount]time.Duration
	records []record
}

func (r *recorder) enter(stage stageID) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.stage = stage
}

func (r *recorder) leave(stage stageID, lasted time.Duration) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.stage = none
	r.lasted[stage] = lasted
}

func (r *recorder) now() stageID {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.stage
}

func (r *recorder) add(entry record) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.records = append(r.records, entry)
}

// measured returns a value from each selected record that is done, sorted.
func measured[T cmp.Ordered](records []record, value func(*record) T,
	selected func(*record) bool) (values []T) {
	for i := range records {
		if entry := &records[i]; entry.done && selected(entry) {
			values = append(values, value(entry))
		}
	}
	slices.Sort(values)
	return values
}

func confirmation(m *record) time.Duration { return m.confirmation }

func whole(m *record) time.Duration { return m.whole }

func units(m *record) uint64 { return m.units }
