package differential

import (
	"slices"

	"github.com/haggle-protocol/haggle/internal/model"
)

// story makes a sequence up while it is played: what happens next depends on what has come of it so far.
type story struct {
	chance
	cast  *cast
	world *model.World // As it is now; the stage changes it.
	stage *stage
	steps []step
	calls []*model.Instruction
}

// tell makes up and plays the sequence of a seed. A *difference ends it.
func tell(st *stage, seed uint64) (*story, error) {
	c := chanceOf(seed)
	people, world := begin(c, st.rent)
	s := &story{chance: c, cast: people, world: world, stage: st}
	if err := st.begin(people, world); err != nil {
		return s, err
	}
	if err := s.goOn(); err != nil {
		return s, err
	}
	st.tally.sequences++
	return s, nil
}

func (s *story) goOn() error {
	if s.percent(3) {
		deployer := s.cast.authorities[0]
		for _, next := range []step{s.impoverish(deployer), {call: instructionOf(s.initializeConfig())}, s.impoverish(deployer)} {
			if err := s.play(next); err != nil {
				return err
			}
		}
	}
	for s.config() == nil {
		if err := s.call("initialize_config", s.cast.deals[0], 15); err != nil {
			return err
		}
	}
	for range 20 + s.IntN(40) {
		if err := s.step(); err != nil {
			return err
		}
	}
	for _, d := range s.cast.deals {
		if s.percent(85) {
			if err := s.finish(d); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *story) step() error {
	d := s.cast.deals[0]
	if len(s.cast.deals) > 1 && s.percent(35) {
		d = s.cast.deals[1]
	}
	switch next := weigh(s.chance, s.likely(d)); next {
	case "trick":
		return s.play(s.trick(d))
	case "wait":
		return s.play(s.wait(d))
	case "replay":
		if len(s.calls) == 0 {
			return nil
		}
		return s.play(step{call: pick(s.chance, s.calls...), what: "once more"})
	case "administration":
		return s.call(pick(s.chance, "update_config", "set_paused", "set_paused", "propose_authority", "accept_authority"), d, 10)
	case "anything":
		return s.call(pick(s.chance, model.Names()...), d, 30)
	default:
		return s.call(next, d, 14)
	}
}

// call plays a call that makes sense, or in so many of a hundred cases one with a mistake.
func (s *story) call(name string, d *deal, mistakes int) error {
	call := instructionOf(s.sensible(name, d))
	what := ""
	if s.percent(mistakes) {
		call, what = s.mistake(call)
	}
	s.calls = append(s.calls, call)
	return s.play(step{call: call, what: what})
}

func (s *story) play(next step) error {
	s.steps = append(s.steps, next)
	err := s.stage.play(next)
	for _, d := range s.cast.deals {
		if n := s.negotiation(d); n != nil && d.firstTerms == [32]byte{} {
			d.firstTerms = n.TermsHash(d.negotiation)
		}
	}
	return err
}

func (s *story) negotiation(d *deal) *model.Negotiation {
	n, _ := model.ReadNegotiation(s.world.Accounts[d.negotiation].Data)
	return n
}

func (s *story) config() *model.Config {
	config, _ := model.ReadConfig(s.world.Accounts[s.cast.config].Data)
	return config
}

// always is what can happen at any point.
var always = []weighted[string]{{8, "anything"}, {11, "trick"}, {4, "wait"}, {3, "replay"}, {3, "administration"}}

// likely is what may happen next, and how often it does.
func (s *story) likely(d *deal) []weighted[string] {
	return slices.Concat(always, s.likelyCalls(d))
}

func (s *story) likelyCalls(d *deal) []weighted[string] {
	n := s.negotiation(d)
	switch {
	case n == nil && s.config().Paused:
		return []weighted[string]{{20, "create_negotiation"}, {60, "set_paused"}}
	case n == nil:
		return []weighted[string]{{90, "create_negotiation"}}
	case n.IsOver() && n.Claimable == [2]uint64{}:
		return []weighted[string]{{4, "claim_payout"}, {35, "close_negotiation"}, {4, "submit_offer"}, {4, "accept_offer"}}
	case n.IsOver():
		return []weighted[string]{{40, "claim_payout"}, {12, "close_negotiation"}, {20, "trick"}}
	case n.Status == model.Accepted:
		return s.likelyMilestones(n)
	case s.world.Now >= n.TurnDeadline:
		return []weighted[string]{{35, "expire_negotiation"}, {10, "submit_offer"}, {10, "reject_negotiation"}, {4, "accept_offer"},
			{4, "reveal_zopa_price"}, {4, "submit_zopa_commitment"}, {4, "accept_invitation"}}
	case n.Status == model.Created:
		return []weighted[string]{{66, "accept_invitation"}, {4, "reject_negotiation"}, {3, "expire_negotiation"}}
	case n.SealedPricesPending():
		next, other := "submit_zopa_commitment", "reveal_zopa_price"
		if n.ZopaPhase == model.ZopaBothCommitted {
			next, other = other, next
		}
		return []weighted[string]{{60, next}, {4, other}, {3, "submit_offer"}, {2, "accept_offer"}, {4, "reject_negotiation"},
			{2, "expire_negotiation"}, {5, "wait"}}
	case !n.HasOffer():
		return []weighted[string]{{66, "submit_offer"}, {4, "reject_negotiation"}, {3, "expire_negotiation"}, {3, "accept_offer"}}
	case n.MilestoneCount > 0:
		return []weighted[string]{{40, "submit_offer"}, {25, "accept_offer"}, {2, "reject_negotiation"}, {2, "expire_negotiation"}}
	}
	return []weighted[string]{{54, "submit_offer"}, {14, "accept_offer"}, {4, "reject_negotiation"}, {3, "expire_negotiation"}}
}

func (s *story) likelyMilestones(n *model.Negotiation) []weighted[string] {
	likely := []weighted[string]{{3, "submit_offer"}, {2, "accept_offer"}, {2, "reject_negotiation"}, {2, "expire_negotiation"},
		{2, "close_negotiation"}, {5, "wait"}, {10, "trick"}, {3, "settle_deadline"}}
	late := s.world.Now >= n.MilestoneDeadline
	for _, maybe := range []struct {
		when bool
		weighted[string]
	}{
		{n.Slot() == 0, weighted[string]{40, "claim_milestone"}},
		{n.Slot() != 0, weighted[string]{18, "release_milestone"}},
		{n.Slot() != 0, weighted[string]{18, "dispute_milestone"}},
		{n.Slot() != 0, weighted[string]{4, "claim_milestone"}},
		{n.Slot() != 0, weighted[string]{8, "wait"}},
		{n.OpenDisputes() != 0, weighted[string]{12, "resolve_dispute"}},
		{n.OpenDisputes() != 0 && late, weighted[string]{25, "resolve_dispute"}},
		{n.Claimable != [2]uint64{}, weighted[string]{30, "claim_payout"}},
		{late, weighted[string]{25, "settle_deadline"}},
		{late, weighted[string]{5, "wait"}},
	} {
		if maybe.when {
			likely = append(likely, maybe.weighted)
		}
	}
	return likely
}

// finish ends and closes a negotiation as its parties would in the end.
func (s *story) finish(d *deal) error {
	for range 12 {
		n := s.negotiation(d)
		if n == nil {
			return nil
		}
		var err error
		switch {
		case n.IsOver():
			if s.percent(60) {
				err = s.play(s.thawAll())
			} else {
				err = s.play(s.trick(d))
			}
			if err == nil && s.percent(50) {
				err = s.play(s.reopenAll())
			}
			if err == nil {
				err = s.call("close_negotiation", d, 8)
			}
		case n.Status == model.Accepted:
			err = s.finishMilestones(d, n)
		case s.world.Now < n.TurnDeadline && s.percent(50):
			err = s.play(until(n.TurnDeadline))
		case s.world.Now >= n.TurnDeadline:
			err = s.call("expire_negotiation", d, 8)
		case n.HasOffer():
			err = s.call(pick(s.chance, "accept_offer", "reject_negotiation"), d, 8)
		default:
			err = s.call("reject_negotiation", d, 8)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *story) finishMilestones(d *deal, n *model.Negotiation) error {
	end := n.MilestoneDeadline
	if n.OpenDisputes() != 0 {
		end = add(end, n.Review())
	}
	switch {
	case s.world.Now >= end:
		return s.call("settle_deadline", d, 8)
	case s.percent(25):
		return s.play(until(pick(s.chance, end, end, n.MilestoneDeadline)))
	case n.Slot() != 0:
		return s.call(pick(s.chance, "release_milestone", "release_milestone", "dispute_milestone"), d, 8)
	case n.OpenDisputes() != 0 && s.percent(60):
		return s.call("resolve_dispute", d, 8)
	}
	return s.call("claim_milestone", d, 8)
}
