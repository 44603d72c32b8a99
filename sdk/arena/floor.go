package arena

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"
)

// floor manages floor turns.
type floor struct {
	round int
	// queue lists the round's next speakers.
	queue []string
	// speaker may speak until the given time. If speaker is empty, the next turn begins at next, or never if
	// next is unset.
	speaker     string
	until, next time.Time
}

// wake schedules the next turn if none is.
func (f *floor) wake(now time.Time, config Config) {
	if f.speaker == "" && f.next.IsZero() {
		f.next = config.Pace.after(now)
	}
}

// due returns when the floor changes next, if ever.
func (f *floor) due() time.Time {
	if f.speaker != "" {
		return f.until
	}
	return f.next
}

// turnFloor ends an unused turn, or begins a new turn.
func (m *Market) turnFloor() {
	f := &m.floor
	if f.speaker != "" {
		m.emit(Passed{f.speaker})
		m.endFloorTurn()
		return
	}
	for skip := true; skip; {
		if len(f.queue) == 0 {
			if f.queue = m.chooseSpeakers(); len(f.queue) == 0 {
				f.next = time.Time{}
				return
			}
		}
		f.speaker, f.queue = f.queue[0], f.queue[1:]
		skip = m.agents[f.speaker].absence != ""
	}
	m.agents[f.speaker].mentioned = false
	f.until = m.config.FloorTurn.after(m.now)
	m.emit(Turn{Agent: f.speaker, Until: f.until})
}

func (m *Market) endFloorTurn() {
	m.floor.speaker, m.floor.next = "", m.config.Pace.after(m.now)
}

// The weights of the speaking order.
const (
	weight          = 1
	weightMentioned = 3
	weightPending   = 3
)

// chooseSpeakers draws the next round's speakers, without repetition. The n-th draw in a round is the first 8
// bytes of SHA-256("haggle/arena/speakers/v1" ‖ seed ‖ round ‖ n), modulo the sum of the weights, among the
// agents on the floor in joining order.
func (m *Market) chooseSpeakers() (speakers []string) {
	m.floor.round++
	type candidate struct {
		id     string
		weight uint64
	}
	var candidates []candidate
	var total uint64
	for _, a := range m.order {
		if a.absence != "" {
			continue
		}
		c := candidate{a.id, weight}
		if a.mentioned {
			c.weight += weightMentioned
		}
		if a.pending > 0 || m.isInvited(a.id) {
			c.weight += weightPending
		}
		candidates = append(candidates, c)
		total += c.weight
	}
	for n := 0; n < m.config.Speakers && len(candidates) > 0; n++ {
		drawn := m.draw(uint64(m.floor.round), uint64(n)) % total
		at := 0
		for drawn >= candidates[at].weight {
			drawn -= candidates[at].weight
			at++
		}
		speakers = append(speakers, candidates[at].id)
		total -= candidates[at].weight
		candidates = slices.Delete(candidates, at, at+1)
	}
	return speakers
}

func (m *Market) draw(round, n uint64) uint64 {
	text := append([]byte("haggle/arena/speakers/v1"), m.config.Seed[:]...)
	text = binary.BigEndian.AppendUint64(text, round)
	text = binary.BigEndian.AppendUint64(text, n)
	sum := sha256.Sum256(text)
	return binary.BigEndian.Uint64(sum[:])
}

func (m *Market) say(a *agent, action Say) error {
	switch {
	case action.Text == "" && action.Want == nil || len(action.Text) > MaxText:
		return refuse(CodeMalformed, "text: must have 1 to %d bytes", MaxText)
	case len(action.Mentions) > MaxMembers:
		return refuse(CodeMalformed, "mentions: more than %d", MaxMembers)
	case action.Want != nil && !action.Want.isValid():
		return refuse(CodeMalformed, "want: side, token, price or quantity out of range")
	case m.floor.speaker != a.id:
		return refuse(CodeTurn, "it is not the agent's turn")
	}
	for _, id := range action.Mentions {
		if m.agents[id] == nil {
			return refuse(CodeUnknown, "mentions: no such agent")
		}
	}
	for _, id := range action.Mentions {
		m.agents[id].mentioned = true
	}
	m.emit(Said{Agent: a.id, Text: action.Text, Mentions: action.Mentions, Want: action.Want})
	m.endFloorTurn()
	return nil
}

func (m *Market) pass(a *agent) error {
	if m.floor.speaker != a.id {
		return refuse(CodeTurn, "it is not the agent's turn")
	}
	m.emit(Passed{a.id})
	m.endFloorTurn()
	return nil
}
