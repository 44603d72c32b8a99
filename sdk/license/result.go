package license

// Outcome is a purchase's final state for one publisher.
type Outcome string

// The outcomes.
const (
	// Deal: the publisher agreed.
	Deal Outcome = "deal"
	// Pending: the terms are agreed, and the publisher must approve them.
	Pending Outcome = "awaiting_approval"
	// Refused: the publisher ended the negotiation.
	Refused Outcome = "refused"
	// NoDeal: the request's limits, the strategy or an interruption ended the bargaining.
	NoDeal Outcome = "no_deal"
	// Failed: an error ended the purchase. A repetition of the request continues it.
	Failed Outcome = "failed"
)

// Move is a move of the buyer.
type Move string

// The moves.
const (
	MovePropose Move = "propose"
	MoveAccept  Move = "accept"
	MoveEnd     Move = "end"
)

// Step is a buyer's move, and the publisher's answer.
type Step struct {
	// Round is the number of the move, from 1.
	Round int  `json:"round"`
	Move  Move `json:"move"`
	// Terms holds the proposed or accepted terms. For [MoveEnd] it is nil.
	Terms *Terms `json:"terms,omitempty"`
	// Why is the reason of the move.
	Why string `json:"why"`
	// Answer is the publisher's action, if any.
	Answer Action `json:"answer,omitempty"`
	// Offer holds the answer's terms: agreed terms, or a counter offer.
	Offer *Terms `json:"offer,omitempty"`
	// Reason is the publisher's reason.
	Reason string `json:"reason,omitempty"`
}

// Purchase is the outcome with one publisher.
type Purchase struct {
	Publisher string  `json:"publisher"`
	Outcome   Outcome `json:"outcome"`
	// Reason is the reason of the outcome: the publisher's for [Refused].
	Reason string `json:"reason"`
	// Negotiation is the ID, if a negotiation was opened.
	Negotiation string `json:"negotiation,omitempty"`
	// Left reports whether the buyer ended the negotiation. Negotiations left open count against the
	// gateway's limits until they time out, by default when inactive for an hour.
	Left bool `json:"left,omitempty"`
	// Terms holds the agreed terms, and CostMicro is the price of their fetches in micro units.
	Terms     *Terms `json:"terms,omitempty"`
	CostMicro uint64 `json:"cost_micro"`
	// License is nil if there is no deal or the client is anonymous.
	License *License `json:"license,omitempty"`
	Steps   []Step   `json:"steps,omitempty"`
	// Err is the error of [Failed], such as a [*Problem] that matches [ErrLimited].
	Err error `json:"-"`
}

// Result is returned by [Client.Buy].
type Result struct {
	ID string `json:"id"`
	// Purchases follows [Request.Publishers] order. If interrupted, the last purchases are missing, and the
	// interrupted purchase contains the outcome.
	Purchases []Purchase `json:"purchases"`
}

// CostMicro returns the cost of all agreed licenses in micro units, including licenses awaiting approval.
func (r Result) CostMicro() (sum uint64) {
	for _, p := range r.Purchases {
		sum += p.CostMicro
	}
	return sum
}

// Err returns the error of the first failed purchase; nil if none failed.
func (r Result) Err() error {
	for _, p := range r.Purchases {
		if p.Err != nil {
			return p.Err
		}
	}
	return nil
}
