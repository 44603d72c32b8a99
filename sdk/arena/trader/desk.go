package trader

import (
	"maps"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

// Desk is the trader's view of a market. Decisions receive copies.
type Desk struct {
	// Self is the trader's id.
	Self   string
	Limits Limits
	// At is the time of the latest event.
	At time.Time
	// View is public, with the side chats of all agents.
	View arena.View
	// Said lists the latest messages on the floor, oldest first.
	Said []arena.Said
	// Holding is the trader's money and tokens, and Pending lists the trader's tentative agreements.
	Holding arena.Holding
	Pending []arena.Agreement
	// Chats lists the trader's side chats, including chats not yet begun.
	Chats []Chat
	// promised holds the legs from chats that ended with an agreement, until the agreement arrives.
	promised map[int][]arena.Leg
}

// Chat is a side chat of the trader.
type Chat struct {
	Number  int
	Mode    arena.Mode
	Members []string
	// Invited is the number of agents that have not replied.
	Invited int
	Begun   bool
	// Offers lists the proposals since the trader came or connected, oldest first, and Stands reports whether
	// the latest one can be agreed to. Agreed reports whether the trader has agreed to it.
	Offers         []arena.Proposed
	Stands, Agreed bool
	// Texts lists the latest messages, oldest first.
	Texts []arena.ChatSaid
}

// kept is the number of messages stored per chat and for the floor.
const kept = 20

// Standing returns the standing proposal. The zero value has no legs.
func (c *Chat) Standing() arena.Proposed {
	if !c.Stands {
		return arena.Proposed{}
	}
	return c.Offers[len(c.Offers)-1]
}

// desk is a Desk that follows events.
type desk struct {
	Desk
	// review is the number of the latest review.
	review int
	// executed holds agreements with holdings that have not arrived yet.
	executed []int
	// ahead is when an own action changed the holding before the event arrived.
	ahead time.Time
}

// newDesk returns a desk for the standing. Earlier texts are not included.
func newDesk(self string, limits Limits, s arena.Standing) *desk {
	d := &desk{Desk: Desk{Self: self, Limits: limits, View: s.View.Copy(), promised: map[int][]arena.Leg{}}}
	if s.Review != nil {
		d.Holding, d.review = s.Review.Holding, s.Review.Number
		for _, pending := range s.Review.Pending {
			d.Pending = append(d.Pending, pending.Agreement)
		}
	}
	for _, own := range s.Chats {
		c := Chat{
			Number: own.Chat, Mode: own.Mode, Members: own.Members, Invited: len(own.Invited), Begun: !own.Began.IsZero(),
		}
		if own.Proposal != nil {
			c.Offers, c.Stands = []arena.Proposed{*own.Proposal}, true
			c.Agreed = slices.Contains(own.Agreed, self)
		}
		d.Chats = append(d.Chats, c)
	}
	return d
}

// copied returns a copy for decisions to read while the desk changes.
func (d *desk) copied() Desk {
	c := d.Desk
	c.View, c.promised = d.View.Copy(), maps.Clone(d.promised)
	c.Said, c.Pending, c.Chats = slices.Clone(d.Said), slices.Clone(d.Pending), slices.Clone(d.Chats)
	for i := range c.Chats {
		c.Chats[i] = c.Chats[i].copied()
	}
	return c
}

func (c Chat) copied() Chat {
	c.Members, c.Offers, c.Texts = slices.Clone(c.Members), slices.Clone(c.Offers), slices.Clone(c.Texts)
	return c
}

// chat returns a side chat; nil if the trader is in no such chat.
func (d *desk) chat(number int) *Chat {
	at := slices.IndexFunc(d.Chats, func(c Chat) bool { return c.Number == number })
	if at < 0 {
		return nil
	}
	return &d.Chats[at]
}

// observe changes the desk by an event.
func (d *desk) observe(event arena.Shown) {
	d.At = event.At
	d.View.Observe(event.At, event.Fact)
	switch f := event.Fact.(type) {
	case arena.Joined:
		if f.Agent == d.Self {
			d.Holding.Money = f.Grant
		}
	case arena.Said:
		d.Said = latest(append(d.Said, f))
	case arena.Changed:
		d.hold(event.At, f.Holding)
	case arena.Reviewed:
		d.review = f.Review.Number
		d.hold(event.At, f.Review.Holding)
	case arena.Tentative:
		d.Pending = append(d.Pending, f.Agreement)
		delete(d.promised, f.Agreement.Chat)
	case arena.Voided:
		d.drop(f.Agreement)
	case arena.Traded:
		if slices.ContainsFunc(d.Pending, func(a arena.Agreement) bool { return a.Number == f.Agreement }) {
			d.executed = append(d.executed, f.Agreement)
		}
	default:
		d.observeChat(f)
	}
}

func latest[T any](texts []T) []T { return texts[max(len(texts)-kept, 0):] }

// hold sets the holding, unless an own action was later. The holding includes executed agreements.
func (d *desk) hold(at time.Time, holding arena.Holding) {
	if at.Before(d.ahead) {
		return
	}
	d.Holding = holding
	for _, number := range d.executed {
		d.drop(number)
	}
	d.executed = nil
}

func (d *desk) drop(agreement int) {
	d.Pending = slices.DeleteFunc(d.Pending, func(a arena.Agreement) bool { return a.Number == agreement })
}

// observeChat changes the side chats.
func (d *desk) observeChat(fact arena.Fact) {
	switch f := fact.(type) {
	case arena.Invited:
		if f.By == d.Self {
			d.Chats = append(d.Chats, Chat{
				Number: f.Chat, Mode: f.Mode, Members: []string{d.Self}, Invited: len(f.Agents),
			})
		}
	case arena.InvitationEnded:
		if c := d.chat(f.Chat); c != nil {
			c.Invited--
		}
	case arena.ChatBegan:
		if slices.Contains(f.Agents, d.Self) {
			d.enter(f.Chat)
		}
	case arena.ChatJoined:
		switch c := d.chat(f.Chat); {
		case c != nil:
			c.Members, c.Invited = append(c.Members, f.Agent), c.Invited-1
		case f.Agent == d.Self:
			d.enter(f.Chat)
		}
	case arena.ChatLeft:
		d.leave(f.Chat, f.Agent)
	case arena.ChatEnded:
		if c := d.chat(f.Chat); c != nil && f.Cause == arena.CauseAgreed && c.Agreed {
			d.promised[f.Chat] = c.Standing().Legs
		}
		d.Chats = slices.DeleteFunc(d.Chats, func(c Chat) bool { return c.Number == f.Chat })
	case arena.ChatSaid:
		if c := d.chat(f.Chat); c != nil {
			c.Texts = latest(append(c.Texts, f))
		}
	case arena.Proposed:
		if c := d.chat(f.Chat); c != nil {
			if n := len(c.Offers); n > 0 && c.Offers[n-1].Proposal == 0 {
				c.Offers = c.Offers[:n-1] // it is the trader's own; the event follows
			}
			c.Offers, c.Stands, c.Agreed = append(c.Offers, f), true, f.Agent == d.Self
		}
	case arena.AgreedTo:
		if c := d.chat(f.Chat); c != nil && f.Agent == d.Self {
			c.Agreed = true
		}
	case arena.Rejected:
		if c := d.chat(f.Chat); c != nil {
			c.Stands, c.Agreed = false, false
		}
	}
}

// await adds a chat whose invitation the trader has accepted. A packages chat begins once all agents have
// replied.
func (d *desk) await(invited arena.Invited) {
	if d.chat(invited.Chat) == nil {
		d.Chats = append(d.Chats, Chat{
			Number: invited.Chat, Mode: invited.Mode, Members: []string{invited.By, d.Self}, Invited: len(invited.Agents) - 1,
		})
	}
}

// enter adds a chat entered by the trader, or updates a chat that has begun. The view contains the members.
func (d *desk) enter(number int) {
	at := slices.IndexFunc(d.View.Chats, func(c arena.ChatView) bool { return c.Chat == number })
	public := d.View.Chats[at]
	c := d.chat(number)
	if c == nil {
		d.Chats = append(d.Chats, Chat{Number: number, Mode: public.Mode})
		c = &d.Chats[len(d.Chats)-1]
	}
	if !c.Begun {
		c.Invited -= min(c.Invited, len(public.Members)-len(c.Members))
	}
	c.Members, c.Begun = slices.Clone(public.Members), true
}

// leave removes a member. Proposals involving the member are gone.
func (d *desk) leave(number int, agent string) {
	c := d.chat(number)
	if c == nil {
		return
	}
	if agent == d.Self {
		d.Chats = slices.DeleteFunc(d.Chats, func(c Chat) bool { return c.Number == number })
		return
	}
	c.Members = slices.DeleteFunc(c.Members, func(id string) bool { return id == agent })
	for _, leg := range c.Standing().Legs {
		if leg.Seller == agent || leg.Buyer == agent {
			c.Stands, c.Agreed = false, false
		}
	}
}
