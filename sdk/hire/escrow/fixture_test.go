package escrow_test

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
	"github.com/haggle-protocol/haggle/sdk/token"
)

var (
	start     = time.Date(2026, 1, 30, 10, 0, 0, 0, time.UTC)
	seekerKey = keyOf("seeker")
	workerKey = keyOf("worker")
	arbiter   = solana.PrivateKey(keyOf("arbiter")).PublicKey()
)

// keyOf returns a party's test key.
func keyOf(name string) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, name)
	return ed25519.NewKeyFromSeed(seed)
}

func public(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

// conversation is a conversation of two parties.
type conversation struct {
	t              *testing.T
	seeker, worker ed25519.PrivateKey
	now            time.Time
	state          hire.State
}

// say sends a payload to the receiving party.
func (c *conversation) say(from, to ed25519.PrivateKey, payload hire.Payload) {
	c.t.Helper()
	message, err := hire.Sign(from, hire.Draft{
		From: hire.Address(public(from)), To: hire.Address(public(to)), At: c.now, Conversation: "conv_1",
		Payload: payload,
	})
	require.NoError(c.t, err)
	c.state, err = c.state.Next(message, c.now, hire.Rules{})
	require.NoError(c.t, err)
}

func (c *conversation) reply() hire.Reply { return hire.Reply{InReplyTo: c.state.Last} }

// propose lets the seeker propose terms.
func (c *conversation) propose(terms hire.Terms) {
	c.t.Helper()
	c.say(c.seeker, c.worker, &hire.Proposal{Reply: c.reply(), Task: hire.NewText("Design a logo"),
		Budget: terms.Price, Deadline: terms.Deadline, Arbiter: terms.Arbiter})
}

func (c *conversation) workerAccepts() {
	c.t.Helper()
	c.say(c.worker, c.seeker, &hire.Accept{Reply: c.reply(), Terms: c.state.Terms})
}

func (c *conversation) seekerAccepts() {
	c.t.Helper()
	c.say(c.seeker, c.worker, &hire.Accept{Reply: c.reply(), Terms: c.state.Terms})
}

// agreed returns a conversation at a time with accepted terms.
func agreed(t *testing.T, at time.Time, seeker, worker ed25519.PrivateKey, terms hire.Terms) hire.State {
	t.Helper()
	c := &conversation{t: t, seeker: seeker, worker: worker, now: at}
	c.propose(terms)
	c.workerAccepts()
	c.seekerAccepts()
	return c.state
}

// fiveUSDC are terms of devnet, due a day after start.
func fiveUSDC() hire.Terms {
	return hire.Terms{Price: "5 USDC", Deadline: hire.NewTime(start.Add(24 * time.Hour)),
		Arbiter: hire.Base58(arbiter.String())}
}

// termsOf returns terms for an agreement about fiveUSDC.
func termsOf(t *testing.T) (hire.State, escrow.Terms) {
	t.Helper()
	state := agreed(t, start, seekerKey, workerKey, fiveUSDC())
	terms, err := escrow.Of(state, public(seekerKey), public(workerKey), escrow.Assets("devnet"))
	require.NoError(t, err)
	require.Equal(t, token.USDCDevnet, terms.Mint)
	return state, terms
}
