package negmas

import (
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain"
)

// Replayed is a recorded session with the engine's result.
type Replayed struct {
	Session
	Answer Answer
	// IsSame reports whether NegMAS returned this result in some run.
	IsSame bool
}

// Replay lists recorded sessions, in order.
type Replay []Replayed

// tries is the number of seeds that the engine tries in a session with a random strategy.
const tries = 32

// Replay plays the set's recorded sessions with the engine, reading scenarios from a directory. In a session
// with a random strategy it takes the first result that NegMAS also returned.
func (s Set) Replay(recorded *Recorded, root string) (replay Replay, err error) {
	preferences, steps := map[string][2]*bargain.Preferences{}, map[string]int{}
	for _, setting := range s.Settings {
		if preferences[setting.Name], err = setting.Read(root); err != nil {
			return nil, err
		}
		steps[setting.Name] = setting.Steps
	}
	for _, session := range recorded.Sessions {
		played := Replayed{Session: session.Session}
		for seed := uint64(0); seed < tries && !played.IsSame && (seed == 0 || session.IsRandom()); seed++ {
			played.Answer, err = Play(Find(session.First), Find(session.Second),
				preferences[session.Scenario], steps[session.Scenario], seed)
			if err != nil {
				return nil, err
			}
			played.IsSame = slices.ContainsFunc(session.Answers, played.Answer.Equals)
		}
		replay = append(replay, played)
	}
	return replay, nil
}

// In returns a scenario's sessions.
func (r Replay) In(scenario string) (sessions Replay) {
	for _, session := range r {
		if session.Scenario == scenario {
			sessions = append(sessions, session)
		}
	}
	return sessions
}

// Same counts the sessions where NegMAS returned the engine's result.
func (r Replay) Same() (count int) {
	for _, session := range r {
		if session.IsSame {
			count++
		}
	}
	return count
}

// Agreements counts the sessions with an agreement.
func (r Replay) Agreements() (count int) {
	for _, session := range r {
		if session.Answer.Agreement != nil {
			count++
		}
	}
	return count
}
