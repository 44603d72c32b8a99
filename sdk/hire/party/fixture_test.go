package party

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

var (
	usdc = hire.Asset{Symbol: "USDC", Mint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", Decimals: 6}
	noon = time.Date(2026, 1, 30, 12, 0, 0, 0, time.UTC)
	// Ids are Solana addresses.
	seekerKey, workerKey, arbiterKey = keyOf(1), keyOf(2), keyOf(3)
	arbiter                          = hire.Base58(idOf(arbiterKey))
)

func keyOf(seed byte) ed25519.PrivateKey {
	bytes := make([]byte, ed25519.SeedSize)
	bytes[0] = seed
	return ed25519.NewKeyFromSeed(bytes)
}

func idOf(key ed25519.PrivateKey) string { return hire.Address(key.Public().(ed25519.PublicKey)) }

// limitsOf returns limits for either role: 3 to 6 USDC, an hour to a week.
func limitsOf() Limits {
	return Limits{
		Prices:   map[string]PriceLimits{"USDC": {Least: 3e6, Most: 6e6}},
		Arbiters: []hire.Base58{arbiter}, Shortest: time.Hour, Longest: 7 * 24 * time.Hour,
	}
}

// table is a conversation with both sides.
type table struct {
	t              *testing.T
	now            time.Time
	seeker, worker conversation
}

func newTable(t *testing.T) *table {
	return &table{
		t: t, now: noon,
		seeker: conversation{id: "c", counterpart: idOf(workerKey), role: hire.RoleSeeker, assets: []hire.Asset{usdc}},
		worker: conversation{id: "c", counterpart: idOf(seekerKey), role: hire.RoleWorker, assets: []hire.Asset{usdc}},
	}
}

// says signs a payload, and applies it to both sides.
func (b *table) says(role hire.Role, payload hire.Payload) {
	b.t.Helper()
	from, to := seekerKey, workerKey
	if role == hire.RoleWorker {
		from, to = workerKey, seekerKey
	}
	b.now = b.now.Add(time.Second)
	m, err := hire.Sign(from, hire.Draft{From: idOf(from), To: idOf(to), At: b.now, Conversation: "c", Payload: payload})
	require.NoError(b.t, err)
	require.NoError(b.t, b.seeker.apply(m, b.now))
	require.NoError(b.t, b.worker.apply(m, b.now))
}

func (b *table) side(role hire.Role) *conversation {
	if role == hire.RoleWorker {
		return &b.worker
	}
	return &b.seeker
}

// plays makes a move for a role.
func (b *table) plays(role hire.Role, move Move) {
	b.t.Helper()
	payload, err := payloadOf(b.side(role), b.turn(role), move, b.now)
	require.NoError(b.t, err)
	b.says(role, payload)
}

func (b *table) turn(role hire.Role) Turn { return b.side(role).turn(limitsOf(), b.now, nil) }

func (b *table) proposes(price hire.Price) {
	b.t.Helper()
	b.says(hire.RoleSeeker, &hire.Proposal{
		Reply: b.seeker.reply(), Task: hire.NewText("logo"), Requirements: []hire.Text{hire.NewText("SVG")}, Budget: price,
		Deadline: hire.NewTime(noon.Add(24 * time.Hour)), Arbiter: arbiter,
	})
}
