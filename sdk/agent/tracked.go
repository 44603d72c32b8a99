package agent

import (
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// tracked is the runtime's record of a negotiation. Only the loop's goroutine uses it.
type tracked struct {
	address solana.PublicKey
	side    protocol.OfferSide
	// counterpart is the counterparty; zero until the first snapshot.
	counterpart solana.PublicKey
	// exists reports whether the negotiation exists or existed.
	exists bool
	// created is created_at of the account, which differs between deals with the same address; zero until the
	// first snapshot.
	created int64
	// mint is the payment mint; zero until the first snapshot.
	mint solana.PublicKey
	// state and position are fingerprints of the latest snapshot, and slot is the snapshot's slot: see
	// fingerprint and positionOf.
	state, position uint64
	slot            uint64
	// notBefore is the next snapshot's minimum slot: the slot of the agent's own latest action.
	notBefore uint64
	// eventSlot is the slot of the latest event.
	eventSlot uint64

	participation participation
	// open reports whether there is neither a deal nor an end yet, and waiting whether an invitation waits
	// for a place.
	open, waiting bool
	// positionState belongs to this position, and earlier to the latest different position: see
	// switchPosition.
	positionState
	earlier positionState
	// unpayable reports whether a claim failed in this state.
	unpayable bool
	// revealOnly reports whether a reveal with the acceptance of the midpoint was refused.
	revealOnly bool
	// result is nil while the negotiation is open, or if the result is not known.
	result *Result
	// closed reports whether an event announced the close.
	closed bool
	// live reports whether the agent tracked the negotiation before the end, or still had something to do
	// then; only then Config.Ended is called.
	live bool
	// offers holds the known offers, in round order.
	offers []PastOffer

	// reading reports whether a snapshot is in progress, and readAgain whether another snapshot is due then.
	reading, readAgain bool
	// acting reports whether an action is in progress, and changed whether an observation arrived meanwhile.
	acting, changed bool
	// call is the pending call of an agent function; nil if there is none.
	call *call
	// overdueCalls counts the calls that still run although their contexts ended.
	overdueCalls int
	// hinted reports whether a hint waits for a refresh, and pausing whether the rate limit of hints delays
	// it.
	hinted, pausing bool
	// failures counts failures in a row. retry is the timer for the next attempt, which is not before
	// retryAt.
	failures int
	retry    *time.Timer
	retryAt  time.Time
	// refusals counts Admit's errors in a row.
	refusals int

	// escrowed is the verified escrow for a seller's milestones.
	escrowed haggle.Settlement
	// unverified is a settlement whose verification failed, refutations times in a row. It is repeated at
	// verifyAt.
	unverified  haggle.Settlement
	refutations int
	verifyAt    time.Time

	progress progress

	// wakeAt is when to refresh next, in Unix seconds of the chain's clock; zero for none.
	wakeAt int64
}

// positionState holds the agent's answer, decision and number of fallbacks for a position; initially zero.
type positionState struct {
	answer answer
	// decided is a decision that is being carried out, or is retried because of a transient error.
	decided *decided
	// fallbacks counts the fallbacks tried.
	fallbacks int
	// about is the position of an earlier state.
	about uint64
}

// decided is a decision, or a milestone move, and the turn that it was made on.
type decided struct {
	turn     Turn
	decision any
}
