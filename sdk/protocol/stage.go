package protocol

// Stage is the coarse state of a negotiation.
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

// Stage returns the coarse state of the negotiation.
func (v *Negotiation) Stage() Stage {
	switch {
	case v.IsOpen():
		return StageOpen
	case v.IsAgreed():
		return StageAgreed
	}
	return StageOver
}
