package arena

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Config describes a market. Zero durations and numbers have defaults.
type Config struct {
	// Market is the market's id, and Question the subject. Both are required.
	Market   string `json:"market"`
	Question string `json:"question"`
	// Opens and Closes bound the trading. Both are required.
	Opens  time.Time `json:"opens"`
	Closes time.Time `json:"closes"`
	// ResolveWithin is how long after Closes an unresolved market becomes void: 7 days by default.
	ResolveWithin Duration `json:"resolve_within"`
	// Operator is the market operator's address: it deposits and withdraws agents' money, and signs receipts.
	// Resolver is the address of the account that decides the outcome. Both are required.
	Operator string `json:"operator"`
	Resolver string `json:"resolver"`
	// Seed orders the speakers. Until the market is resolved, only the seed's hash is public.
	Seed [32]byte `json:"-"`
	// Grant is the money that each agent receives when joining.
	Grant Money `json:"grant"`

	// Speakers is the number of agents that speak in a round of the floor: 3 by default.
	Speakers int `json:"speakers"`
	// Pace is the pause after a turn: 1 second by default.
	Pace Duration `json:"pace"`
	// FloorTurn is the time to use a turn on the floor: 5 seconds by default.
	FloorTurn Duration `json:"floor_turn"`
	// Invitation is the time to accept an invitation: 30 seconds by default.
	Invitation Duration `json:"invitation"`
	// ChatTurn is the time to use a turn in a side chat: 30 seconds by default.
	ChatTurn Duration `json:"chat_turn"`
	// ChatTime is the longest side chat duration: 2 minutes by default.
	ChatTime Duration `json:"chat_time"`
	// Tentative is how long an agreement stays tentative: 30 seconds by default.
	Tentative Duration `json:"tentative"`
	// Move is the smallest price change reported to side chats, in ticks: 1 by default.
	Move Price `json:"move"`
	// MaxAgents limits the agents: 1,000 by default.
	MaxAgents int `json:"max_agents"`
}

// SeedHash returns the SHA-256 of the seed, in lower-case hexadecimal digits. It commits the operator to the
// speaking order.
func (c Config) SeedHash() string {
	hash := sha256.Sum256(c.Seed[:])
	return hex.EncodeToString(hash[:])
}

// Market limits.
const (
	// MaxChats is the maximum number of simultaneous side chats and invitations per agent.
	MaxChats = 5
	// MaxMembers is the largest number of agents in a side chat.
	MaxMembers = 5
	// MaxLegs is the largest number of sales in a package.
	MaxLegs = 10
	// MaxText is the maximum text size in bytes.
	MaxText = 1000
	// MaxDuration is the longest duration in a [Config].
	MaxDuration = 366 * Day
	// MaxName is the maximum size in bytes for names and ids.
	MaxName = 64
)

func (c Config) withDefaults() (Config, error) {
	if !isName(c.Market) || c.Question == "" || len(c.Question) > MaxText {
		return c, refuse(CodeMalformed, "market, question: empty or too long")
	}
	if !isName(c.Operator) || !isName(c.Resolver) {
		return c, refuse(CodeMalformed, "operator, resolver: must have 1 to %d bytes", MaxName)
	}
	if !c.Opens.Before(c.Closes) {
		return c, refuse(CodeMalformed, "closes: must be after opens")
	}
	c.ResolveWithin = cmp.Or(c.ResolveWithin, 7*Day)
	c.Speakers = cmp.Or(c.Speakers, 3)
	c.Pace = cmp.Or(c.Pace, Second)
	c.FloorTurn = cmp.Or(c.FloorTurn, 5*Second)
	c.Invitation = cmp.Or(c.Invitation, 30*Second)
	c.ChatTurn = cmp.Or(c.ChatTurn, 30*Second)
	c.ChatTime = cmp.Or(c.ChatTime, 2*Minute)
	c.Tentative = cmp.Or(c.Tentative, 30*Second)
	c.Move = cmp.Or(c.Move, 1)
	c.MaxAgents = cmp.Or(c.MaxAgents, 1000)
	longest := max(c.ResolveWithin, c.Pace, c.FloorTurn, c.Invitation, c.ChatTurn, c.ChatTime, c.Tentative)
	shortest := min(c.ResolveWithin, c.Pace, c.FloorTurn, c.Invitation, c.ChatTurn, c.ChatTime, c.Tentative)
	if longest > MaxDuration || shortest < 0 ||
		c.Speakers < 0 || c.MaxAgents < 0 || c.Move > MaxPrice || c.Grant > MaxMoney {
		return c, refuse(CodeMalformed, "durations, speakers, max_agents, grant: out of range")
	}
	return c, nil
}

// isName reports whether the size is allowed for names and ids.
func isName(s string) bool { return s != "" && len(s) <= MaxName }
