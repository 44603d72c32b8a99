package differential

import "github.com/haggle-protocol/haggle/tests/differential/model"

// finish ends and closes a negotiation as cooperating parties would.
func (s *scenario) finish(session *session) error {
	for range 12 {
		n := s.negotiation(session)
		if n == nil {
			return nil
		}
		var err error
		switch {
		case n.IsOver() && s.environment.Now <= n.CreatedAt && s.percent(80):
			err = s.play(waitUntil(n.CreatedAt + 1))
		case n.IsOver():
			err = s.finishOver(session)
		case n.Status == model.StatusAccepted:
			err = s.finishMilestones(session, n)
		case s.environment.Now < n.TurnDeadline && s.percent(30):
			err = s.play(waitUntil(n.TurnDeadline))
		case s.environment.Now >= n.TurnDeadline:
			err = s.send("expire_negotiation", session, 8)
		case n.HasOffer():
			err = s.send(pick(s.random, "accept_offer", "accept_offer", "reject_negotiation"), session, 8)
		default:
			err = s.send("reject_negotiation", session, 8)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finishOver restores most token accounts and closes the negotiation.
func (s *scenario) finishOver(session *session) error {
	next := s.mutation(session)
	if s.percent(60) {
		next = s.restoreAll()
	}
	if err := s.play(next); err != nil {
		return err
	}
	if s.percent(50) {
		if err := s.play(s.reopenAll()); err != nil {
			return err
		}
	}
	return s.send("close_negotiation", session, 8)
}

func (s *scenario) finishMilestones(session *session, n *model.Negotiation) error {
	end := n.MilestoneDeadline
	if n.OpenDisputes() != 0 {
		end = n.ArbiterDeadline()
	}
	switch {
	case s.environment.Now >= end:
		return s.send("settle_deadline", session, 8)
	case s.percent(15):
		return s.play(waitUntil(pick(s.random, end, end, n.MilestoneDeadline)))
	case s.percent(4):
		return s.send("settle_by_agreement", session, 8)
	case n.UnderReview() != 0:
		name := pick(s.random, "release_milestone", "release_milestone", "dispute_milestone")
		return s.send(name, session, 8)
	case n.OpenDisputes() != 0 && s.percent(60):
		return s.send("resolve_dispute", session, 8)
	}
	return s.send("claim_milestone", session, 8)
}
