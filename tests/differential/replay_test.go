package differential

import (
	"slices"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// sentInstruction is an instruction in the sequence, with the negotiation it was made for.
type sentInstruction struct {
	session *session
	name    string
	// generation is the number of negotiations that had existed at the session's address, including the
	// current negotiation.
	generation int
	call       model.Instruction
}

func (s *session) latest() generation { return s.history[len(s.history)-1] }

// isEarlier reports whether an earlier negotiation in this session was created at a time.
func (s *session) isEarlier(createdAt int64) bool {
	return len(s.history) > 1 && slices.ContainsFunc(s.history[:len(s.history)-1], func(g generation) bool {
		return g.createdAt == createdAt
	})
}

func (s *scenario) record(session *session, name string, call model.Instruction) {
	s.sent = append(s.sent, sentInstruction{session, name, len(session.history), call})
}

// replay plays an instruction's bytes again, often from an instruction made for an earlier negotiation in the
// session.
func (s *scenario) replay(session *session) error {
	if len(s.sent) == 0 {
		return nil
	}
	replayed := pick(s.random, s.sent...)
	if earlier := s.sentEarlier(session, ""); len(earlier) > 0 && s.percent(60) {
		replayed = pick(s.random, earlier...)
	}
	return s.play(step{instruction: &replayed.call, description: "replayed"})
}

// replayInstead sometimes replays an instruction with the same name, made for an earlier negotiation in the
// session.
func (s *scenario) replayInstead(name string, session *session) (bool, error) {
	if len(session.history) < 2 || !s.percent(8) {
		return false, nil
	}
	earlier := s.sentEarlier(session, name)
	if len(earlier) == 0 {
		return false, nil
	}
	replayed := pick(s.random, earlier...)
	return true, s.play(step{instruction: &replayed.call, description: "replayed from an earlier one"})
}

// sentEarlier returns the instructions that were made for an earlier negotiation of the session. An empty
// name stands for all instructions.
func (s *scenario) sentEarlier(session *session, name string) []sentInstruction {
	var earlier []sentInstruction
	for _, sent := range s.sent {
		isEarlier := sent.session == session && sent.generation < len(session.history)
		if isEarlier && (name == "" || name == sent.name) {
			earlier = append(earlier, sent)
		}
	}
	return earlier
}

// createdAt returns the created_at for an instruction: mostly the negotiation's, otherwise an earlier
// negotiation's from the same address or a neighboring second.
func (s *scenario) createdAt(session *session, n *model.Negotiation) int64 {
	if s.percent(95) {
		return n.CreatedAt
	}
	choices := []int64{n.CreatedAt - 1, addSeconds(n.CreatedAt, 1)}
	for _, g := range session.history {
		if g.createdAt != n.CreatedAt {
			choices = append(choices, g.createdAt, g.createdAt)
		}
	}
	return pick(s.random, choices...)
}
