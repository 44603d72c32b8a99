package model

type DisputeMilestone struct {
	Buyer       Address `account:"signer"`
	Negotiation Address `account:"writable,negotiation"`

	CreatedAt int64
	Index     uint8
	Evidence  [32]byte
}

func (i *DisputeMilestone) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	bit := milestoneBit(i.Index)
	if err := firstError(
		failIf(i.Index >= n.MilestoneCount(), InvalidParams),
		failIf(n.Status != StatusAccepted || n.UnderReview() != bit, InvalidState),
		failIf(e.now() >= n.TurnDeadline, ResponseWindowExpired),
		failIf(i.Buyer != n.Parties[Buyer], Unauthorized),
		failIf(i.CreatedAt != n.CreatedAt, StaleState),
	); err != nil {
		return err
	}
	n.MilestonesDisputed |= bit
	e.store(i.Negotiation, n)
	e.log("MilestoneDisputed", "negotiation_id", i.Negotiation, "index", i.Index, "evidence", i.Evidence,
		"timestamp", e.now())
	e.note("milestone disputed")
	return nil
}
