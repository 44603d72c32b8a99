package protocol

// Stage is a negotiation's coarse state.
type Stage string

// The stages.
const (
	// StageOpen: it accepts actions, or can expire.
	StageOpen Stage = "open"
	// StageAgreed: a price is agreed and is being paid by milestones.
	StageAgreed Stage = "agreed"
	// StageOver: only payouts and the closing remain.
	StageOver Stage = "over"
)

// Stage returns the negotiation's coarse state.
func (v *Negotiation) Stage() Stage {
	switch {
	case v.IsOpen():
		return StageOpen
	case v.IsAgreed():
		return StageAgreed
	}
	return StageOver
}
