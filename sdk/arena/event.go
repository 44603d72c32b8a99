package arena

import "time"

// Event is something that has happened.
type Event struct {
	At time.Time `json:"at"`
	// To are the agents that learn of it, sorted. It is empty for a public event.
	To   []string `json:"to,omitempty"`
	Fact Fact     `json:"fact"`
}

// Fact is one of the types below.
type Fact interface{ isFact() }

type (
	// Joined, Connected and Left are about the agents of the market. Unresponsive reports that one left the floor
	// because it was silent.
	Joined struct {
		Agent, Name string
		Grant       Money
	}
	Connected struct{ Agent string }
	Left      struct {
		Agent        string
		Unresponsive bool
	}
	// Stated is an agent's interest.
	Stated struct {
		Agent    string
		Interest Interest
	}
	// Changed is the agent's own holding after it has split or merged sets.
	Changed struct {
		Agent   string
		Holding Holding
	}
	// Turn offers a turn on the floor, or in a side chat with the number Chat, until a time.
	Turn struct {
		Agent string
		Chat  int
		Until time.Time
	}
	// Passed is a turn on the floor that was not used.
	Passed struct{ Agent string }
	// Said is a message on the floor.
	Said struct {
		Agent, Text string
		Mentions    []string
		Want        *Want
	}
	// Invited goes to all agents of a chat that has not begun.
	Invited struct {
		Chat   int
		By     string
		Agents []string
		Until  time.Time
	}
	// InvitationEnded reports that an agent has declined, or not answered.
	InvitationEnded struct {
		Chat  int
		Agent string
	}
	// ChatBegan, ChatJoined, ChatLeft and ChatEnded are public: who talks with whom, and for how long.
	ChatBegan struct {
		Chat   int
		Agents []string
	}
	ChatJoined struct {
		Chat  int
		Agent string
	}
	ChatLeft struct {
		Chat  int
		Agent string
	}
	ChatEnded struct {
		Chat     int
		Duration time.Duration
		Cause    Cause
	}
	// ChatSaid, Proposed, AgreedTo and Rejected go to the members of a chat.
	ChatSaid struct {
		Chat        int
		Agent, Text string
	}
	Proposed struct {
		Chat, Proposal int
		Agent          string
		Counter        bool
		Legs           []Leg
	}
	AgreedTo struct {
		Chat, Proposal int
		Agent          string
	}
	Rejected struct {
		Chat, Proposal int
		Agent          string
	}
	// Update goes to the members of a chat after a trade that moved the price.
	Update struct {
		Chat   int
		Token  Token
		Was    Price
		Now    Price
		Trades int
	}
	// Tentative and Voided go to the parties of an agreement.
	Tentative struct {
		Agreement Agreement
	}
	Voided struct {
		Agreement int
		Cause     Cause
		By        string
	}
	// Reviewed is an agent's state before it finalizes.
	Reviewed struct{ Review Review }
	// Traded is public.
	Traded struct {
		Agreement int
		Legs      []Leg
		// Price is the price of YES after the trade.
		Price Price
	}
	// Closed ends the trading. Resolved pays the tokens.
	Closed   struct{}
	Resolved struct{ Outcome Outcome }
)

func (Joined) isFact()          {}
func (Connected) isFact()       {}
func (Left) isFact()            {}
func (Stated) isFact()          {}
func (Changed) isFact()         {}
func (Turn) isFact()            {}
func (Passed) isFact()          {}
func (Said) isFact()            {}
func (Invited) isFact()         {}
func (InvitationEnded) isFact() {}
func (ChatBegan) isFact()       {}
func (ChatJoined) isFact()      {}
func (ChatLeft) isFact()        {}
func (ChatEnded) isFact()       {}
func (ChatSaid) isFact()        {}
func (Proposed) isFact()        {}
func (AgreedTo) isFact()        {}
func (Rejected) isFact()        {}
func (Update) isFact()          {}
func (Tentative) isFact()       {}
func (Voided) isFact()          {}
func (Reviewed) isFact()        {}
func (Traded) isFact()          {}
func (Closed) isFact()          {}
func (Resolved) isFact()        {}

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
