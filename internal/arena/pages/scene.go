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
	// shownWho is the number of agents, chats or countdowns in a list; a market has up to 1,000 agents.
	shownWho = 100
	// addressLength is the length to which agent ids are shortened.
	addressLength = 4
)

// line is a line of the floor.
type line struct {
	At   time.Time
	Who  string
	Text string
	// Quoted reports whether Text is the agent's own words.
	Quoted bool
	// Want is what the agent looks for; "" if nothing.
	Want string
}

// trade is an executed agreement.
type trade struct {
	At   time.Time
	Legs []leg
}

// leg is a sale. The names are separate fields, to keep a name from looking like a part of the sale.
type leg struct{ Seller, Sells, Buyer, At string }

// point is a price of YES.
type point struct {
	At    time.Time
	Price arena.Price
}

// scene is what spectators see in a market at a given event.
type scene struct {
	arena.View
	// Number is the latest event's number, and At the event time.
	Number uint64
	At     time.Time
	// Floor and Executed have the latest ones first.
	Floor    []line
	Executed []trade
	Prices   []point
	Outcome  arena.Outcome
	// Replayed reports whether the scene is a moment in a replay.
	Replayed bool

	// names holds the agents' clean names, and bearers counts the agents with each name.
	names   map[string]string
	bearers map[string]int
}

func newScene(config arena.Config) *scene {
	return &scene{
		View: arena.View{Config: config, Phase: arena.PhaseOpen, Price: arena.FirstPrice}, At: config.Opens,
		Prices: []point{{config.Opens, arena.FirstPrice}}, names: map[string]string{}, bearers: map[string]int{},
	}
}

// observe adds the next event.
func (s *scene) observe(event arena.Shown) {
	s.Observe(event.At, event.Fact)
	s.Number, s.At = event.Number, event.At
	switch f := event.Fact.(type) {
	case arena.Joined:
		s.names[f.Agent] = clean(f.Name)
		s.bearers[s.names[f.Agent]]++
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
		s.Executed = latest(s.Executed, trade{event.At, s.legs(f.Legs)}, shownTrades)
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

// latest prepends an element to a list, and keeps at most the given number of elements from the start.
func latest[T any](list []T, first T, most int) []T {
	return append([]T{first}, list[:min(len(list), most-1)]...)
}

// name returns an agent's name; if another agent uses the same name, a part of the id is added.
func (s *scene) name(id string) string {
	name, short := s.names[id], id[:min(len(id), addressLength)]
	switch {
	case name == "":
		return short
	case s.bearers[name] > 1:
		return fmt.Sprintf("%s (%s)", name, short)
	}
	return name
}

func (s *scene) legs(legs []arena.Leg) (named []leg) {
	for _, l := range legs {
		named = append(named, leg{
			s.name(l.Seller), fmt.Sprintf("sells %d %s to", l.Quantity, l.Token), s.name(l.Buyer), "at " + l.Price.String(),
		})
	}
	return named
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

// blank lists letters that have no glyph.
const blank = "\u115f\u1160\u2800\u3164\uffa0"

// clean returns a stranger's text with single spaces, and with U+FFFD in place of characters lacking a glyph:
// some reorder the texts around them, others make two names look the same. The emoji joiner stays if inside a
// text.
func clean(text string) string {
	mapped := strings.Map(func(r rune) rune {
		switch {
		case r == '\u200d':
			return r
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r), strings.ContainsRune(blank, r):
			return '\ufffd'
		}
		return r
	}, text)
	return strings.Trim(strings.Join(strings.Fields(mapped), " "), "\u200d")
}
