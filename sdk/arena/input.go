package arena

import (
	"fmt"
	"time"
)

// Input is something that happens to a market: an agent's action, an operator or resolver action, or only the
// time.
type Input struct {
	// At is the operator's time. It must not be earlier than the latest input's time.
	At time.Time
	// Agent is the acting account's id: an agent, the market's operator or the resolver.
	Agent string
	// Seen is the number of the latest event that the agent had seen; see [Market.Shown].
	Seen uint64
	// Action is what happens. If nil, only the time passes.
	Action Action
}

// Action is one of the types below.
type Action interface {
	// Kind returns the name used in messages.
	Kind() string
}

type (
	// Join adds the agent to the market, with the market's grant.
	Join struct {
		Name string `json:"name"`
	}
	// Connect returns an unresponsive agent to the floor.
	Connect struct{}
	// Leave ends the agent's trading in the market. Money and tokens stay with the agent.
	Leave struct{}
	// State replaces the agent's interest.
	State struct {
		Interest Interest `json:"interest"`
	}
	// Split buys complete sets, and Merge returns them.
	Split struct {
		Sets Quantity `json:"sets"`
	}
	Merge struct {
		Sets Quantity `json:"sets"`
	}
	// Say speaks on the floor, in the agent's turn. Mentions lists the addressed agents. Want, if not nil, is
	// a request that others can filter by.
	Say struct {
		Text     string   `json:"text,omitempty"`
		Mentions []string `json:"mentions,omitempty"`
		Want     *Want    `json:"want,omitempty"`
	}
	// Pass ends the agent's turn on the floor.
	Pass struct{}
	// Invite starts a side chat with 1 to 4 others.
	Invite struct {
		Agents []string `json:"agents"`
		Mode   Mode     `json:"mode,omitempty"`
	}
	// AcceptInvitation enters a side chat, DeclineInvitation does not.
	AcceptInvitation struct {
		Chat int `json:"chat"`
	}
	DeclineInvitation struct {
		Chat int `json:"chat"`
	}
	// Chat speaks in a side chat, in the agent's turn, as do Propose, Counter, Agree and Reject.
	Chat struct {
		Chat int    `json:"chat"`
		Text string `json:"text"`
	}
	// Propose makes an offer, Counter replaces the standing offer. The legs form a single sale, a chain where
	// each buyer sells in the next leg, or a package. All sellers and buyers are parties.
	Propose struct {
		Chat int   `json:"chat"`
		Legs []Leg `json:"legs"`
	}
	Counter struct {
		Chat     int   `json:"chat"`
		Proposal int   `json:"proposal"`
		Legs     []Leg `json:"legs"`
	}
	// Agree accepts the standing proposal. Once all parties have, the agreement is tentative.
	Agree struct {
		Chat     int `json:"chat"`
		Proposal int `json:"proposal"`
	}
	// Reject refuses the standing proposal and leaves the chat.
	Reject struct {
		Chat     int `json:"chat"`
		Proposal int `json:"proposal"`
	}
	// LeaveChat leaves a side chat, at any time.
	LeaveChat struct {
		Chat int `json:"chat"`
	}
	// Finalize executes a tentative agreement. Review is the number of the agent's latest review.
	Finalize struct {
		Agreement int `json:"agreement"`
		Review    int `json:"review"`
	}
	// Cancel voids a tentative agreement.
	Cancel struct {
		Agreement int `json:"agreement"`
	}
	// Deposit adds an agent's money to the market, and Withdraw takes it out. Only the operator can do so.
	Deposit struct {
		Agent  string `json:"agent"`
		Amount Money  `json:"amount"`
	}
	Withdraw struct {
		Agent  string `json:"agent"`
		Amount Money  `json:"amount"`
	}
	// Resolve is the resolver's decision after the market has closed.
	Resolve struct {
		Outcome Outcome `json:"outcome"`
	}
)

// Mode is how a side chat negotiates.
type Mode string

const (
	// ModeTalk has texts and proposals between any of the members. It begins once one agent has accepted.
	ModeTalk Mode = ""
	// ModePackages uses stacked alternating offers (SAOP): in each turn a member agrees to the standing
	// package, makes a counter offer, or leaves. All members are parties to each package. The chat begins
	// once all invited agents have answered.
	ModePackages Mode = "packages"
)

// Side is a trade side.
type Side string

// The sides.
const (
	Buy  Side = "buy"
	Sell Side = "sell"
)

// Want is a trade wanted by an agent. It binds nobody.
type Want struct {
	Side     Side     `json:"side"`
	Token    Token    `json:"token"`
	Price    Price    `json:"price,omitzero"`
	Quantity Quantity `json:"quantity"`
}

// String returns the trade, such as "buy 100 YES at 0.60".
func (w *Want) String() string {
	text := fmt.Sprintf("%s %d %s", w.Side, w.Quantity, w.Token)
	if w.Price > 0 {
		text += " at " + w.Price.String()
	}
	return text
}

// isValid reports whether the values are in their ranges. The price is optional.
func (w *Want) isValid() bool {
	return (w.Side == Buy || w.Side == Sell) && w.Token.isValid() && (w.Price == 0 || w.Price.isValid()) &&
		w.Quantity.isValid()
}

// Interest is what an agent says about the market in public. It binds nobody.
type Interest struct {
	Interested bool `json:"interested"`
	// Want is nil unless the agent is interested. Want.Price is required.
	Want    *Want  `json:"want,omitempty"`
	Message string `json:"message,omitempty"`
}
