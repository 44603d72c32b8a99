package arena

import "time"

// Event is a market event.
type Event struct {
	At time.Time `json:"at"`
	// To lists the receiving agents, sorted. Public events leave it empty.
	To   []string `json:"to,omitempty"`
	Fact Fact     `json:"fact"`
}

// Fact is one of the types below.
type Fact interface {
	// Kind returns the name used in messages.
	Kind() string
}

type (
	// Joined, Connected and Left are about the market's agents. Unresponsive reports an agent removed from
	// the floor for silence.
	Joined struct {
		Agent string `json:"agent"`
		Name  string `json:"name"`
		Grant Money  `json:"grant"`
	}
	Connected struct {
		Agent string `json:"agent"`
	}
	Left struct {
		Agent        string `json:"agent"`
		Unresponsive bool   `json:"unresponsive"`
	}
	// Announced is an agent's availability and record, sent when either changes.
	Announced struct {
		Agent        string       `json:"agent"`
		Availability Availability `json:"availability"`
		Record       Record       `json:"record"`
	}
	// Stated is an agent's interest.
	Stated struct {
		Agent    string   `json:"agent"`
		Interest Interest `json:"interest"`
	}
	// Changed is an agent's own changed holding.
	Changed struct {
		Agent   string  `json:"agent"`
		Holding Holding `json:"holding"`
	}
	// Turn offers a turn on the floor, or in a side chat with the number Chat, until a time.
	Turn struct {
		Agent string    `json:"agent"`
		Chat  int       `json:"chat"`
		Until time.Time `json:"until"`
	}
	// Passed is an unused turn on the floor.
	Passed struct {
		Agent string `json:"agent"`
	}
	// Said is spoken on the floor.
	Said struct {
		Agent    string   `json:"agent"`
		Text     string   `json:"text"`
		Mentions []string `json:"mentions,omitempty"`
		Want     *Want    `json:"want,omitempty"`
	}
	// Invited goes to all agents in a chat before the chat begins.
	Invited struct {
		Chat   int       `json:"chat"`
		By     string    `json:"by"`
		Agents []string  `json:"agents,omitempty"`
		Mode   Mode      `json:"mode,omitempty"`
		Until  time.Time `json:"until"`
	}
	// InvitationEnded reports a declined or unanswered invitation.
	InvitationEnded struct {
		Chat  int    `json:"chat"`
		Agent string `json:"agent"`
	}
	// ChatBegan, ChatJoined, ChatLeft and ChatEnded are public: who talks with whom, and how long.
	ChatBegan struct {
		Chat   int      `json:"chat"`
		Agents []string `json:"agents,omitempty"`
		Mode   Mode     `json:"mode,omitempty"`
	}
	ChatJoined struct {
		Chat  int    `json:"chat"`
		Agent string `json:"agent"`
	}
	ChatLeft struct {
		Chat  int    `json:"chat"`
		Agent string `json:"agent"`
	}
	ChatEnded struct {
		Chat     int      `json:"chat"`
		Duration Duration `json:"duration"`
		Cause    Cause    `json:"cause"`
	}
	// ChatSaid, Proposed, AgreedTo and Rejected go to the chat's members.
	ChatSaid struct {
		Chat  int    `json:"chat"`
		Agent string `json:"agent"`
		Text  string `json:"text"`
	}
	Proposed struct {
		Chat     int    `json:"chat"`
		Proposal int    `json:"proposal"`
		Agent    string `json:"agent"`
		Counter  bool   `json:"counter"`
		Legs     []Leg  `json:"legs"`
	}
	AgreedTo struct {
		Chat     int    `json:"chat"`
		Proposal int    `json:"proposal"`
		Agent    string `json:"agent"`
	}
	Rejected struct {
		Chat     int    `json:"chat"`
		Proposal int    `json:"proposal"`
		Agent    string `json:"agent"`
	}
	// Update goes to the chat's members when a trade moves the price.
	Update struct {
		Chat   int   `json:"chat"`
		Token  Token `json:"token"`
		Was    Price `json:"was"`
		Now    Price `json:"now"`
		Trades int   `json:"trades"`
	}
	// Tentative and Voided go to the agreement's parties.
	Tentative struct {
		Agreement Agreement `json:"agreement"`
	}
	Voided struct {
		Agreement int    `json:"agreement"`
		Cause     Cause  `json:"cause"`
		By        string `json:"by"`
	}
	// Countdown is public: who has a tentative agreement, and until when, but not the terms. It ends with
	// Traded or CountdownEnded.
	Countdown struct {
		Agreement int       `json:"agreement"`
		Parties   []string  `json:"parties"`
		Until     time.Time `json:"until"`
	}
	CountdownEnded struct {
		Agreement int   `json:"agreement"`
		Cause     Cause `json:"cause"`
	}
	// Reviewed is an agent's state before finalizing.
	Reviewed struct {
		Review Review `json:"review"`
	}
	// Traded is public.
	Traded struct {
		Agreement int   `json:"agreement"`
		Legs      []Leg `json:"legs"`
		// Price is the price of YES after the trade.
		Price Price `json:"price"`
	}
	// Closed ends the trading. Resolved pays the tokens.
	Closed   struct{}
	Resolved struct {
		Outcome Outcome `json:"outcome"`
		// Seed is the seed of the speaking order, in lower-case hexadecimal digits.
		Seed string `json:"seed"`
	}
)

// Cause is why a chat or an agreement has ended.
type Cause string

// The causes.
const (
	CauseAgreed    Cause = "agreed"
	CauseRejected  Cause = "rejected"
	CauseLeft      Cause = "left"
	CauseTime      Cause = "time"
	CauseSilent    Cause = "failed"
	CauseNobody    Cause = "nobody joined"
	CauseClosed    Cause = "market closed"
	CauseCancelled Cause = "agreement cancelled by counterparty"
	CauseExpired   Cause = "expired"
	CauseCapacity  Cause = "counterparty no longer has capacity"
)
