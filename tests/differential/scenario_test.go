package differential

import (
	"slices"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// scenario generates a sequence while the fixture plays it: each step depends on the state left by earlier
// steps.
type scenario struct {
	random
	participants *participants
	environment  *model.Environment // The fixture's, at the current step.
	fixture      *fixture
	focus        focus
	steps        []step
	sent         []sentInstruction
}

// focus is a feature used by most negotiations in a sequence.
type focus int

const (
	noFocus focus = iota
	milestoneFocus
	zopaFocus
)

// runScenario generates and plays a seed's sequence. It returns the failure that ends the sequence, if there
// is one.
func runScenario(f *fixture, seed uint64) (*scenario, error) {
	r := newRandom(seed)
	p, environment := newEnvironment(r, f.rent)
	s := &scenario{random: r, participants: p, environment: environment, fixture: f}
	s.focus = pick(r, noFocus, milestoneFocus, milestoneFocus, milestoneFocus, zopaFocus)
	if err := f.begin(p, environment); err != nil {
		return s, err
	}
	if err := s.run(); err != nil {
		return s, err
	}
	f.stats.sequences++
	return s, nil
}

func (s *scenario) run() error {
	if err := s.configure(); err != nil {
		return err
	}
	if err := s.negotiate(40 + s.IntN(60)); err != nil {
		return err
	}
	if s.percent(35) {
		// Another round of negotiations at the same addresses.
		return s.negotiate(20 + s.IntN(40))
	}
	return nil
}

// configure plays initialize_config until successful.
func (s *scenario) configure() error {
	if s.percent(3) {
		deployer := s.participants.authorities[0]
		initialize := model.Encode(s.initializeConfig())
		for _, next := range []step{s.moveFunds(deployer), {instruction: &initialize},
			s.moveFunds(deployer)} {
			if err := s.play(next); err != nil {
				return err
			}
		}
	}
	for s.config() == nil {
		if err := s.send("initialize_config", s.participants.sessions[0], 15); err != nil {
			return err
		}
	}
	return nil
}

// negotiate plays random steps, and then ends most negotiations.
func (s *scenario) negotiate(steps int) error {
	for range steps {
		if err := s.step(); err != nil {
			return err
		}
	}
	for _, session := range s.participants.sessions {
		if s.percent(85) {
			if err := s.finish(session); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *scenario) step() error {
	session := s.participants.sessions[0]
	if len(s.participants.sessions) > 1 && s.percent(35) {
		session = s.participants.sessions[1]
	}
	switch next := pickWeighted(s.random, s.likelySteps(session)); next {
	case "mutation":
		return s.play(s.mutation(session))
	case "approval":
		return s.play(s.approval(session))
	case "wait":
		return s.play(s.wait(session))
	case "replay":
		return s.replay(session)
	case "config":
		name := pick(s.random, "update_config", "set_paused", "set_paused", "propose_authority",
			"accept_authority")
		return s.send(name, session, 10)
	case "any":
		return s.send(pick(s.random, model.Names()...), session, 30)
	default:
		if replayed, err := s.replayInstead(next, session); replayed {
			return err
		}
		return s.send(next, session, 14)
	}
}

// send plays an instruction that fits the state. With a probability in percent it includes a defect.
func (s *scenario) send(name string, session *session, defects int) error {
	call, defect := model.Encode(s.instruction(name, session)), ""
	if s.percent(defects) {
		call, defect = s.malformed(call)
	}
	s.record(session, name, call)
	return s.play(step{instruction: &call, description: defect})
}

func (s *scenario) play(next step) error {
	s.steps = append(s.steps, next)
	err := s.fixture.play(next)
	for _, session := range s.participants.sessions {
		n := s.negotiation(session)
		if n != nil && (len(session.history) == 0 || session.latest().createdAt != n.CreatedAt) {
			session.history = append(session.history, generation{n.CreatedAt,
				n.TermsHash(session.negotiation)})
		}
	}
	return err
}

func (s *scenario) negotiation(session *session) *model.Negotiation {
	return readNegotiation(s.environment, session.negotiation)
}

func (s *scenario) config() *model.Config {
	config, _ := model.ReadConfig(s.environment.Accounts[s.participants.config].Data)
	return config
}

// nearEndOfTime reports whether times a few days later do not fit in an i64. There only bargaining is
// compared.
func (s *scenario) nearEndOfTime() bool { return s.environment.Now > 1<<62 }

// commonSteps are possible in every state.
var commonSteps = []weighted[string]{
	{6, "any"}, {10, "mutation"}, {5, "approval"}, {4, "wait"}, {4, "replay"}, {2, "config"},
}

// likelySteps returns the steps that fit a session's state, with their frequencies.
func (s *scenario) likelySteps(session *session) []weighted[string] {
	return slices.Concat(commonSteps, s.likelyInstructions(session))
}

func (s *scenario) likelyInstructions(session *session) []weighted[string] {
	n := s.negotiation(session)
	switch {
	case n == nil && s.config().IsPaused:
		return []weighted[string]{{20, "create_negotiation"}, {60, "set_paused"}}
	case n == nil:
		return []weighted[string]{{90, "create_negotiation"}}
	case n.IsOver() && s.environment.Now <= n.CreatedAt:
		return []weighted[string]{{30, "wait"}, {4, "close_negotiation"}, {4, "claim_payout"},
			{4, "submit_offer"}}
	case n.IsOver() && n.Claimable == [2]uint64{}:
		return []weighted[string]{{4, "claim_payout"}, {35, "close_negotiation"}, {4, "submit_offer"},
			{4, "accept_offer"}}
	case n.IsOver():
		return []weighted[string]{{40, "claim_payout"}, {12, "close_negotiation"}, {20, "mutation"}}
	case n.Status == model.StatusAccepted:
		return s.likelyMilestoneSteps(n)
	case s.environment.Now >= n.TurnDeadline:
		return likelyTooLate(n)
	case n.Status == model.StatusCreated:
		return []weighted[string]{{66, "accept_invitation"}, {4, "reject_negotiation"},
			{3, "expire_negotiation"}}
	case n.ZopaPending():
		next, other := "submit_zopa_commitment", "reveal_zopa_price"
		if n.ZopaPhase == model.ZopaBothCommitted {
			next, other = other, next
		}
		return []weighted[string]{{60, next}, {4, other}, {3, "submit_offer"}, {2, "accept_offer"},
			{6, "reject_negotiation"}, {2, "expire_negotiation"}, {5, "wait"}}
	case !n.HasOffer():
		return []weighted[string]{{66, "submit_offer"}, {4, "reject_negotiation"}, {3, "expire_negotiation"},
			{3, "accept_offer"}}
	case n.CurrentRound == 0:
		return []weighted[string]{{20, "submit_offer"}, {20, "accept_offer"}, {20, "reject_negotiation"},
			{3, "expire_negotiation"}, {20, "wait"}}
	case n.MilestoneCount() > 0:
		return []weighted[string]{{40, "submit_offer"}, {80, "accept_offer"}, {2, "reject_negotiation"},
			{2, "expire_negotiation"}}
	}
	return []weighted[string]{{54, "submit_offer"}, {14, "accept_offer"}, {4, "reject_negotiation"},
		{3, "expire_negotiation"}}
}

// likelyTooLate returns the steps after a turn's deadline: mostly an attempt to act, or the expiry.
func likelyTooLate(n *model.Negotiation) []weighted[string] {
	likely := []weighted[string]{{35, "expire_negotiation"}, {8, "reject_negotiation"}, {2, "submit_offer"},
		{2, "accept_offer"}, {2, "reveal_zopa_price"}, {2, "submit_zopa_commitment"},
		{2, "accept_invitation"}}
	switch {
	case n.Status == model.StatusCreated:
		return append(likely, weighted[string]{8, "accept_invitation"})
	case n.ZopaPhase < model.ZopaBothCommitted:
		return append(likely, weighted[string]{12, "submit_zopa_commitment"})
	case n.ZopaPending():
		return append(likely, weighted[string]{12, "reveal_zopa_price"})
	}
	return append(likely, weighted[string]{8, "submit_offer"}, weighted[string]{12, "accept_offer"})
}

func (s *scenario) likelyMilestoneSteps(n *model.Negotiation) []weighted[string] {
	likely := []weighted[string]{{3, "submit_offer"}, {2, "accept_offer"}, {2, "reject_negotiation"},
		{2, "expire_negotiation"}, {2, "close_negotiation"}, {5, "wait"}, {6, "mutation"},
		{3, "settle_deadline"}, {5, "settle_by_agreement"}}
	late := s.environment.Now >= n.MilestoneDeadline
	for _, candidate := range []struct {
		holds bool
		weighted[string]
	}{
		{n.UnderReview() == 0, weighted[string]{40, "claim_milestone"}},
		{n.UnderReview() != 0, weighted[string]{18, "release_milestone"}},
		{n.UnderReview() != 0, weighted[string]{24, "dispute_milestone"}},
		{n.UnderReview() != 0, weighted[string]{4, "claim_milestone"}},
		{n.UnderReview() != 0, weighted[string]{8, "wait"}},
		{n.OpenDisputes() != 0, weighted[string]{20, "resolve_dispute"}},
		{n.OpenDisputes() != 0 && late, weighted[string]{30, "resolve_dispute"}},
		{n.OpenDisputes() != 0 && late, weighted[string]{10, "settle_by_agreement"}},
		{n.Claimable != [2]uint64{}, weighted[string]{30, "claim_payout"}},
		{late, weighted[string]{25, "settle_deadline"}},
		{late, weighted[string]{5, "wait"}},
	} {
		if candidate.holds {
			likely = append(likely, candidate.weighted)
		}
	}
	return likely
}

// wait advances the clock: by seconds, or to a second around a deadline.
func (s *scenario) wait(session *session) step {
	now := s.environment.Now
	times := []int64{addSeconds(now, 1), addSeconds(now, 1), addSeconds(now, int64(s.between(1, 50))),
		addSeconds(now, int64(s.between(1, 50)))}
	if n := s.negotiation(session); n != nil {
		deadlines := []int64{n.TurnDeadline, n.TurnDeadline, n.GlobalDeadline,
			n.GlobalDeadline - n.ResponseWindow}
		if n.Status == model.StatusAccepted {
			deadlines = []int64{n.TurnDeadline, n.TurnDeadline, n.MilestoneDeadline,
				n.MilestoneDeadline - n.ReviewWindow(), n.ArbiterDeadline()}
		}
		at := pick(s.random, deadlines...)
		times = append(times, at-1, at-1, at, addSeconds(at, 1))
	}
	var later []int64
	for _, at := range times {
		if at >= now {
			later = append(later, at)
		}
	}
	return waitUntil(pick(s.random, later...))
}
