package arena

import (
	"maps"
	"slices"
	"time"
)

// timer is something that time does.
type timer struct {
	at   time.Time
	fire func()
}

// advance fires the timers that are due, ordered by time, and simultaneous timers in [Market.timers] order.
func (m *Market) advance(to time.Time) {
	for {
		first := m.first()
		if first.at.IsZero() || first.at.After(to) {
			return
		}
		m.now = first.at
		first.fire()
		m.announce()
		m.sendReviews()
	}
}

// first returns the timer that is due first. If there is none, the returned timer's time is unset.
func (m *Market) first() (first timer) {
	m.timers(func(t timer) {
		if !t.at.IsZero() && (first.at.IsZero() || t.at.Before(first.at)) {
			first = t
		}
	})
	return first
}

// Due returns when the market changes with no input, if ever.
func (m *Market) Due() time.Time { return m.first().at }

// timers calls a function with each timer. Every state has a timed way out.
func (m *Market) timers(call func(timer)) {
	switch m.phase {
	case PhaseClosed:
		call(timer{m.config.ResolveWithin.after(m.config.Closes), func() { m.payOut(OutcomeVoid) }})
		return
	case PhaseResolved:
		return
	}
	call(timer{m.config.Closes, m.close})
	for _, a := range m.open {
		call(timer{a.Expires, func() { m.expire(a) }})
	}
	for _, number := range slices.Sorted(maps.Keys(m.chats)) {
		m.chatTimers(m.chats[number], call)
	}
	call(timer{m.floor.due(), m.turnFloor})
}

func (m *Market) expire(a *Agreement) {
	for _, id := range a.Parties {
		m.agents[id].record.Expired++
	}
	m.void(a, CauseExpired, "")
}

func (m *Market) chatTimers(c *chat, call func(timer)) {
	if len(c.invited) > 0 {
		call(timer{c.inviteUntil, func() {
			for _, id := range slices.Clone(c.invited) {
				m.endInvitation(c, id)
			}
		}})
	}
	if c.began.IsZero() {
		return
	}
	call(timer{m.config.ChatTime.after(c.began), func() { m.endChat(c, CauseTime) }})
	speaker := c.members[c.turn]
	if !c.turnShown {
		call(timer{c.turnFrom, func() {
			c.turnShown = true
			m.emit(Turn{Agent: speaker, Chat: c.id, Until: c.turnUntil}, c.members...)
		}})
		return
	}
	call(timer{c.turnUntil, func() {
		m.agents[speaker].record.Silent++
		m.leave(m.agents[speaker], AvailabilityUnresponsive)
	}})
}
