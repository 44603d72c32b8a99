package protocol

// Stage is how far a negotiation has come, in the coarsest terms.
type Stage string

// The stages.
const (
	// StageOpen: it can still be acted on, or expire.
	StageOpen Stage = "open"
	// StageAgreed: a price is agreed on and is being paid by milestones.
	StageAgreed Stage = "agreed"
	// StageOver: nothing but paying out and closing is left.
	StageOver Stage = "over"
)

// Stage is how far the negotiation has come.
func (v *Negotiation) Stage() Stage {
	switch {
	case v.IsOpen():
		return StageOpen
	case v.IsAgreed():
		return StageAgreed
	}
	return StageOver
}
