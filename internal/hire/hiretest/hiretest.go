// Package hiretest provides signing agents and empty databases for the tests of homes.
package hiretest

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/databases"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/store/database"
	"github.com/haggle-protocol/haggle/sdk/store/postgres"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// Connect opens a database beside the store, with all rights, until the test ends.
func Connect(t *testing.T, address string) *sql.DB {
	t.Helper()
	connect := sqlite.Connect
	if databases.IsPostgres(address) {
		connect = postgres.Connect
	}
	opened, err := connect(address, database.Schema{Kind: "home database"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, opened.Close()) })
	return opened.DB
}

// Agent can sign.
type Agent struct {
	ID  string
	Key ed25519.PrivateKey
}

// NewAgent returns an agent with a new key. The key's address serves as id.
func NewAgent() Agent {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		panic(err) // the random source never fails
	}
	return Agent{hire.Address(public), private}
}

// Named derives an agent from a name, for several processes.
func Named(name string) Agent {
	seed := sha256.Sum256([]byte(name))
	key := ed25519.NewKeyFromSeed(seed[:])
	return Agent{hire.Address(key.Public().(ed25519.PublicKey)), key}
}

// At returns an agent with an origin as id.
func At(origin string) Agent { return Agent{origin, NewAgent().Key} }

// Public returns the agent's public key.
func (a Agent) Public() ed25519.PublicKey { return a.Key.Public().(ed25519.PublicKey) }

// Talk signs a conversation's messages.
type Talk struct {
	Seeker, Worker Agent
	Conversation   string
	// Last and Terms belong to the latest stored messages.
	Last  hire.Hash
	Terms hire.Terms
}

// NewTalk returns a conversation with a new id.
func NewTalk(seeker, worker Agent) *Talk {
	return &Talk{Seeker: seeker, Worker: worker, Conversation: "conv_" + rand.Text()}
}

// Arbiter decides disputes in all terms.
const Arbiter = "So11111111111111111111111111111111111111112"

// Message signs a reply to the latest message. The protocol may forbid it.
func (k *Talk) Message(t testing.TB, role hire.Role, of hire.Type, at time.Time) *hire.Message {
	t.Helper()
	from, to := k.Seeker, k.Worker
	if role == hire.RoleWorker {
		from, to = to, from
	}
	return Sign(t, from, hire.Draft{
		From: from.ID, To: to.ID, At: at, Conversation: k.Conversation, Payload: k.Payload(of, at),
	})
}

// Sign returns a draft signed by an agent.
func Sign(t testing.TB, by Agent, draft hire.Draft) *hire.Message {
	t.Helper()
	m, err := hire.Sign(by.Key, draft)
	require.NoError(t, err)
	return m
}

// Stored records that the home has stored a message.
func (k *Talk) Stored(m *hire.Message) {
	switch content := m.Payload().(type) {
	case *hire.Contract:
		return
	case *hire.Proposal:
		k.Terms = hire.Terms{Price: content.Budget, Deadline: content.Deadline, Arbiter: content.Arbiter}
	case *hire.Counter:
		k.Terms = hire.Terms{Price: content.Price, Deadline: content.EstimatedDelivery, Arbiter: k.Terms.Arbiter}
	}
	k.Last = m.Hash()
}

// Payload returns a payload that replies to the latest message.
func (k *Talk) Payload(of hire.Type, at time.Time) hire.Payload {
	reply, deadline := hire.Reply{InReplyTo: k.Last}, hire.NewTime(at.Add(24*time.Hour))
	// Some JSON encoders escape these bytes.
	text := hire.NewText("a <logo> & \u2028 é")
	switch of {
	case hire.TypeInquiry:
		return &hire.Inquiry{Reply: reply, Need: text}
	case hire.TypeCapability:
		return &hire.Capability{Reply: reply, Skills: []string{"logo"}}
	case hire.TypeProposal:
		return &hire.Proposal{Reply: reply, Task: text, Budget: "4 USDC", Deadline: deadline, Arbiter: Arbiter}
	case hire.TypeClarification:
		return &hire.Clarification{Reply: reply, Questions: []hire.Text{text}}
	case hire.TypeCounter:
		return &hire.Counter{Reply: reply, Price: "5 USDC", EstimatedDelivery: deadline}
	case hire.TypeReject:
		return &hire.Reject{Reply: reply, Code: "price"}
	}
	return &hire.Accept{Reply: reply, Terms: cmp.Or(k.Terms, hire.Terms{Price: "5 USDC", Deadline: deadline})}
}
