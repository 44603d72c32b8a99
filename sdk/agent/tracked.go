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
	// counterpart is the other party; zero before the first snapshot.
	counterpart solana.PublicKey
	// exists reports that the negotiation exists or has existed.
	exists bool
	// created is created_at of the account, which differs between deals at the same address; zero before the
	// first snapshot.
	created int64
	// mint is the mint of the payment; zero before the first snapshot.
	mint solana.PublicKey
	// state and position are fingerprints of the latest snapshot, and slot is its slot: see fingerprint and
	// positionOf.
	state, position uint64
	slot            uint64
	// notBefore is the minimum slot of the next snapshot: the slot of the agent's own latest action.
	notBefore uint64
	// eventSlot is the slot of the latest event.
	eventSlot uint64

	participation participation
	// open reports that there is neither a deal nor an end yet, and waiting that an invitation waits for a place.
	open, waiting bool
	// positionState is that of this position, and earlier the latest one of another position: see
	// switchPosition.
	positionState
	earlier positionState
	// unpayable reports that a claim failed in this state.
	unpayable bool
	// revealOnly reports that a reveal with the acceptance of the midpoint was refused.
	revealOnly bool
	// result is nil while the negotiation is open, or if its result is not known.
	result *Result
	// closed reports that an event has announced the close.
	closed bool
	// live reports that the agent tracked the negotiation before its end, or had something left to do after
	// it; only then Config.Ended is called.
	live bool
	// offers are the known offers, in the order of their rounds.
	offers []PastOffer

	// reading reports a snapshot in progress, and readAgain that another one is due after it.
	reading, readAgain bool
	// acting reports an action in progress, and changed that an observation arrived meanwhile.
	acting, changed bool
	// call is the pending call of one of the agent's functions; nil if there is none.
	call *call
	// overdueCalls counts the calls that have not returned although their contexts have ended.
	overdueCalls int
	// hinted reports that a hint waits for a refresh, and pausing that the rate limit of hints delays it.
	hinted, pausing bool
	// failures counts failures in a row. retry is the timer of the next attempt, which is not before retryAt.
	failures int
	retry    *time.Timer
	retryAt  time.Time
	// refusals counts Admit's errors in a row.
	refusals int

	// escrowed is the verified escrow of a seller's milestones.
	escrowed haggle.Settlement
	// unverified is a settlement whose verification has failed, refutations times in a row. It is repeated at
	// verifyAt.
	unverified  haggle.Settlement
	refutations int
	verifyAt    time.Time

	progress progress

	// wakeAt is the time of the next refresh, in Unix seconds of the chain's clock; zero for none.
	wakeAt int64
}

// positionState has the agent's answer, decision and number of fallbacks at a position; zero before them.
type positionState struct {
	answer answer
	// decided is a decision that is being carried out, or is retried after a transient error.
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
