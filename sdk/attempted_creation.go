package haggle

import (
	"context"
	"errors"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/fifocache"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// attemptedCreations holds the latest creations that were signed and not known to be executed, by their
// intents. A repeated creation uses the same session id, so the chain executes just one, whatever the nodes
// reported about the earlier creation.
type attemptedCreations struct {
	byIntent *fifocache.Map[solana.Hash, attemptedCreation]
}

// attemptedCreation is an unconfirmed creation. The zero value is none.
type attemptedCreation struct {
	sessionID   uint64
	negotiation solana.PublicKey
}

// attemptedWithin is the age limit for creations in the journal. Later, the same terms are a new purchase, so
// a negotiation does not prevent it for ever if a node wrongly called the creation expired.
const attemptedWithin = 24 * time.Hour

// maxAttempts is the number of creations that are kept.
const maxAttempts = 1024

func newAttemptedCreations() attemptedCreations {
	return attemptedCreations{fifocache.NewMap[solana.Hash, attemptedCreation](maxAttempts)}
}

// record keeps a signed creation, or drops it if it was executed. A failed creation is in the session's
// history, and the session cannot be used again.
func (a attemptedCreations) record(sent *preparedTx, outcome transaction.Outcome) {
	switch {
	case sent.action != (*protocol.CreateNegotiation)(nil).InstructionName() || sent.intent.IsZero():
	case outcome == transaction.Confirmed || outcome == transaction.Failed:
		a.drop(sent.intent)
	default:
		a.byIntent.Put(sent.intent, attemptedCreation{sent.sessionID, sent.negotiation})
	}
}

func (a attemptedCreations) drop(intent solana.Hash) {
	if _, known := a.byIntent.Get(intent); known {
		a.byIntent.Put(intent, attemptedCreation{})
	}
}

// attempted returns the session id of an earlier creation that shares the intent and was signed and not
// confirmed, by this client or according to the journal. If the negotiation exists, it returns [*AlreadyDone]
// once; the next creation is new.
func (c *Client) attempted(
	ctx context.Context, buyer solana.PublicKey, intent solana.Hash,
) (sessionID uint64, ok bool, err error) {
	earlier, known := c.attempts.byIntent.Get(intent)
	if !known && c.inFlight != nil {
		// An earlier process may have attempted it.
		entry, err := c.inFlight.journal.Attempted(ctx, buyer, intent, time.Now().Add(-attemptedWithin))
		if err != nil {
			return 0, false, &JournalError{Op: journalAttempted, Outcome: transaction.NotSent, Err: err}
		}
		if entry != nil {
			earlier = attemptedCreation{entry.SessionID, entry.Negotiation}
			c.attempts.byIntent.Put(intent, earlier)
		}
	}
	if earlier == (attemptedCreation{}) {
		return 0, false, nil
	}
	if c.inFlight != nil {
		// A recovery confirmed it, and a caller received the outcome.
		entry, err := c.inFlight.confirmed(ctx, buyer, creationKey(buyer, earlier.negotiation), solana.Hash{})
		if err != nil {
			return 0, false, err
		}
		if entry != nil {
			c.attempts.drop(intent)
			return 0, false, nil
		}
	}
	switch now, err := c.snapshot(ctx, earlier.negotiation); {
	case err == nil:
		c.attempts.drop(intent)
		return 0, false, &AlreadyDone{Action: (*protocol.CreateNegotiation)(nil).InstructionName(),
			Negotiation: earlier.negotiation, Now: now}
	case !errors.Is(err, protocol.ErrAccountNotFound):
		return 0, false, err
	}
	return earlier.sessionID, true, nil
}
