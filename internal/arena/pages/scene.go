package pages

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

// The sizes of lists on a page.
const (
	shownLines  = 40
	shownTrades = 20
	shownPrices = 2000
	// shownWho is the number of agents in a list; a market has up to 1,000.
	shownWho = 100
	// addressLength is the shown part of an agent's id.
	addressLength = 4
)

// line is a line of the floor.
type line struct {
	At   time.Time
	Who  string
	Text string
	// Quoted reports whether Text is the agent's own words.
	Quoted bool
	// Want is what the agent looks for; empty if nothing.
	Want string
}

// trade is an executed agreement.
type trade struct {
	At    time.Time
	Legs  string
	Price arena.Price
}

// point is a price of YES.
type point struct {
	At    time.Time
	Price arena.Price
}

// scene is what spectators see of a market after some of its events.
type scene struct {
	arena.View
	// Number is that of the latest event, and At its time.
	Number uint64
	At     time.Time
	// Floor and Trades have the latest ones first.
	Floor   []line
	Done    []trade
	Prices  []point
	Outcome arena.Outcome
	// Replayed reports whether it is a moment of a replay.
	Replayed bool
}

func newScene(config arena.Config) *scene {
	return &scene{
		View: arena.View{Config: config, Phase: arena.PhaseOpen, Price: arena.FirstPrice}, At: config.Opens,
		Prices: []point{{config.Opens, arena.FirstPrice}},
	}
}

// observe adds the next event.
func (s *scene) observe(event arena.Shown) {
	s.Observe(event.At, event.Fact)
	s.Number, s.At = event.Number, event.At
	switch f := event.Fact.(type) {
	case arena.Joined:
		s.say(line{Who: f.Agent, Text: "joined"})
	case arena.Left:
		text := "left the market"
		if f.Unresponsive {
			text = "does not respond, and left the floor"
		}
		s.say(line{Who: f.Agent, Text: text})
	case arena.Connected:
		s.say(line{Who: f.Agent, Text: "is back on the floor"})
	case arena.Stated:
		l := line{Who: f.Agent, Text: f.Interest.Message, Quoted: true}
		switch {
		case f.Interest.Want != nil:
			l.Want = f.Interest.Want.String()
		case l.Text == "":
			l.Text, l.Quoted = "is not interested", false
		}
		s.say(l)
	case arena.Said:
		l := line{Who: f.Agent, Text: f.Text, Quoted: true}
		if f.Want != nil {
			l.Want = f.Want.String()
		}
		s.say(l)
	case arena.Traded:
		s.Done = latest(s.Done, trade{event.At, s.legs(f.Legs), f.Price}, shownTrades)
		s.Prices = append(s.Prices, point{event.At, f.Price})
		if len(s.Prices) > shownPrices {
			s.Prices = append([]point(nil), s.Prices[shownPrices/2:]...)
		}
	case arena.Resolved:
		s.Outcome = f.Outcome
	}
}

func (s *scene) say(l line) {
	l.At, l.Who = s.At, s.name(l.Who)
	l.Text, l.Want = clean(l.Text), clean(l.Want)
	s.Floor = latest(s.Floor, l, shownLines)
}

// latest adds an element before the others, of which it keeps the first ones.
func latest[T any](list []T, first T, most int) []T {
	return append([]T{first}, list[:min(len(list), most-1)]...)
}

// name returns the name of an agent; with a part of its id if another agent has the same name.
func (s *scene) name(id string) string {
	own, known := s.Agent(id)
	if !known {
		return id[:min(len(id), addressLength)]
	}
	name := clean(own.Name)
	for _, other := range s.Agents {
		if other.ID != id && clean(other.Name) == name {
			return fmt.Sprintf("%s (%s)", name, id[:min(len(id), addressLength)])
		}
	}
	return name
}

func (s *scene) names(ids []string) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = s.name(id)
	}
	return strings.Join(names, ", ")
}

func (s *scene) legs(legs []arena.Leg) string {
	named := append([]arena.Leg(nil), legs...)
	for i, leg := range legs {
		named[i].Seller, named[i].Buyer = s.name(leg.Seller), s.name(leg.Buyer)
	}
	return arena.LegsText(named)
}

// present returns the agents that have not left, up to shownWho.
func (s *scene) present() (agents []arena.AgentView) {
	for _, a := range s.Agents {
		if a.Availability != arena.AvailabilityLeft && len(agents) < shownWho {
			agents = append(agents, a)
		}
	}
	return agents
}

// clean returns a text of a stranger without characters that have no glyph: they could reorder the texts around it.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u200d': // it joins emoji
			return r
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return '\ufffd'
		}
		return r
	}, text)
}
