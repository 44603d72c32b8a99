package model

type ClaimMilestone struct {
	Seller      Address `account:"signer"`
	Negotiation Address `account:"writable,negotiation"`

	CreatedAt int64
	Index     uint8
	Evidence  [32]byte
}

func (i *ClaimMilestone) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	bit := milestoneBit(i.Index)
	leavesReview := within(e.now(), n.MilestoneDeadline, uint64(n.ReviewWindow()), year)
	if err := firstError(
		failIf(i.Index >= n.MilestoneCount(), InvalidParams),
		failIf(n.Status != StatusAccepted || n.UnderReview() != 0 || n.MilestonesClaimed&bit != 0,
			InvalidState),
		failIf(e.now() >= n.MilestoneDeadline, Expired),
		failIf(!leavesReview, ResponseWindowExpired),
		failIf(i.Seller != n.Parties[Seller], Unauthorized),
		failIf(i.CreatedAt != n.CreatedAt, StaleState),
	); err != nil {
		return err
	}
	n.MilestonesClaimed |= bit
	n.TurnDeadline = e.now() + n.ReviewWindow()
	e.store(i.Negotiation, n)
	e.log("MilestoneClaimed", "negotiation_id", i.Negotiation, "index", i.Index,
		"review_deadline", n.TurnDeadline, "evidence", i.Evidence, "timestamp", e.now())
	e.note("milestone claimed")
	return nil
}

// milestoneBit returns a milestone's mask. For an index above 7 the mask is meaningless, so callers refuse
// such indexes first.
func milestoneBit(index uint8) uint8 { return 1 << (index & 7) }
