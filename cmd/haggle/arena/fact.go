package arena

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

// nameOf returns an agent's name as quoted text, or the id if the view lacks the name.
func nameOf(view *arena.View, id string) string {
	if a, known := view.Agent(id); known {
		return fmt.Sprintf("%q", a.Name)
	}
	return id
}

func namesOf(view *arena.View, ids []string) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = nameOf(view, id)
	}
	return strings.Join(names, ", ")
}

// describe returns an event as a line; empty if the event is of no interest to people.
func describe(view *arena.View, fact arena.Fact) string {
	name := func(id string) string { return nameOf(view, id) }
	switch f := fact.(type) {
	case arena.Joined:
		return fmt.Sprintf("joined      %q", f.Name)
	case arena.Left:
		if f.Unresponsive {
			return fmt.Sprintf("silent      %s", name(f.Agent))
		}
		return fmt.Sprintf("left        %s", name(f.Agent))
	case arena.Stated:
		if f.Interest.Want == nil {
			return fmt.Sprintf("interest    %s: none", name(f.Agent))
		}
		return fmt.Sprintf("interest    %s: %s  %q", name(f.Agent), f.Interest.Want, f.Interest.Message)
	case arena.Said:
		if f.Want == nil {
			return fmt.Sprintf("floor       %s: %q", name(f.Agent), f.Text)
		}
		return fmt.Sprintf("floor       %s: %q  (looks for: %s)", name(f.Agent), f.Text, f.Want)
	case arena.Traded:
		return fmt.Sprintf("traded      %s; YES at %s", legsText(view, f.Legs), f.Price)
	case arena.Closed:
		return "closed"
	case arena.Resolved:
		return fmt.Sprintf("resolved    %s", f.Outcome)
	case arena.Changed:
		return fmt.Sprintf("holding     %s, %d YES, %d NO", f.Holding.Money, f.Holding.Yes, f.Holding.No)
	case arena.Reviewed:
		return reviewText(view, f.Review)
	}
	return describeChat(view, fact)
}

// describeChat returns events of side chats and agreements.
func describeChat(view *arena.View, fact arena.Fact) string {
	name := func(id string) string { return nameOf(view, id) }
	switch f := fact.(type) {
	case arena.Invited:
		return fmt.Sprintf("invited     to chat %d by %s: %s", f.Chat, name(f.By), namesOf(view, f.Agents))
	case arena.ChatBegan:
		return fmt.Sprintf("chat %-6d began: %s", f.Chat, namesOf(view, f.Agents))
	case arena.ChatJoined:
		return fmt.Sprintf("chat %-6d joined by %s", f.Chat, name(f.Agent))
	case arena.ChatLeft:
		return fmt.Sprintf("chat %-6d left by %s", f.Chat, name(f.Agent))
	case arena.ChatEnded:
		took := (time.Duration(f.Duration) * time.Millisecond).Round(time.Second)
		return fmt.Sprintf("chat %-6d ended after %s: %s", f.Chat, took, f.Cause)
	case arena.ChatSaid:
		return fmt.Sprintf("chat %-6d %s: %q", f.Chat, name(f.Agent), f.Text)
	case arena.Proposed:
		verb := "proposes"
		if f.Counter {
			verb = "counters"
		}
		return fmt.Sprintf("chat %-6d %s %s: %s", f.Chat, name(f.Agent), verb, legsText(view, f.Legs))
	case arena.AgreedTo:
		return fmt.Sprintf("chat %-6d %s agrees", f.Chat, name(f.Agent))
	case arena.Rejected:
		return fmt.Sprintf("chat %-6d %s rejects", f.Chat, name(f.Agent))
	case arena.Update:
		return fmt.Sprintf("chat %-6d %s was %s, is %s; %d trades", f.Chat, f.Token, f.Was, f.Now, f.Trades)
	case arena.Tentative:
		return fmt.Sprintf("agreed      %d until %s: %s", f.Agreement.Number, f.Agreement.Expires.Local().Format(time.TimeOnly),
			legsText(view, f.Agreement.Legs))
	case arena.Countdown:
		return fmt.Sprintf("countdown   agreement %d of %s until %s", f.Agreement, namesOf(view, f.Parties),
			f.Until.Local().Format(time.TimeOnly))
	case arena.CountdownEnded:
		return fmt.Sprintf("countdown   agreement %d ended: %s", f.Agreement, f.Cause)
	case arena.Voided:
		return fmt.Sprintf("void        agreement %d: %s", f.Agreement, f.Cause)
	}
	return ""
}

func legsText(view *arena.View, legs []arena.Leg) string {
	named := slices.Clone(legs)
	for i, leg := range legs {
		named[i].Seller, named[i].Buyer = nameOf(view, leg.Seller), nameOf(view, leg.Buyer)
	}
	return arena.LegsText(named)
}

func reviewText(view *arena.View, r arena.Review) string {
	warning := ""
	if r.Insufficient {
		warning = "  INSUFFICIENT"
	}
	text := fmt.Sprintf("review      %s required of %s%s", r.Required, r.Holding.Money, warning)
	for _, pending := range r.Pending {
		left := (time.Duration(pending.Left) * time.Millisecond).Round(time.Second)
		text += fmt.Sprintf("\n                      %d. %s, %s left", pending.Agreement.Number,
			cmp.Or(legsText(view, pending.Agreement.Legs), "nothing"), left)
	}
	return text
}
