package verify

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
)

var (
	start   = time.Date(2026, 1, 30, 12, 0, 0, 0, time.UTC)
	genesis = solana.Hash{1}
	usdc    = []hire.Asset{{Symbol: "USDC", Mint: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", Decimals: 6}}
)

// log is a conversation log as written by a home.
type log struct {
	t          *testing.T
	talk       *hiretest.Talk
	settlement hiretest.Agent
	state      hire.State
	now        time.Time
	head       audit.Head
	links      []audit.Link
}

func newLog(t *testing.T) *log {
	talk := hiretest.NewTalk(hiretest.NewAgent(), hiretest.NewAgent())
	return &log{t: t, talk: talk, settlement: hiretest.NewAgent(), now: start, head: audit.Head{Chain: "c"}}
}

// add appends m unchecked.
func (l *log) add(m *hire.Message) {
	l.t.Helper()
	links, head, err := audit.Append(l.head, audit.Entry{Kind: "message", Time: l.now, Data: m.Text()})
	require.NoError(l.t, err)
	l.links, l.head = append(l.links, links...), head
}

// says appends an allowed message.
func (l *log) says(role hire.Role, of hire.Type) {
	l.t.Helper()
	l.now = l.now.Add(time.Second)
	l.stored(l.talk.Message(l.t, role, of, l.now))
}

func (l *log) stored(m *hire.Message) {
	l.t.Helper()
	var err error
	l.state, err = l.state.Next(m, l.now, l.options().Rules)
	require.NoError(l.t, err)
	l.talk.Stored(m)
	l.add(m)
}

// agree reaches an agreement with both copies of the contract.
func (l *log) agree() {
	l.t.Helper()
	l.says(hire.RoleSeeker, hire.TypeProposal)
	l.says(hire.RoleWorker, hire.TypeCounter)
	l.says(hire.RoleSeeker, hire.TypeAccept)
	l.says(hire.RoleWorker, hire.TypeAccept)
	for _, to := range []string{l.talk.Seeker.ID, l.talk.Worker.ID} {
		l.stored(l.contract(to, genesis))
	}
}

func (l *log) contract(to string, genesis solana.Hash) *hire.Message {
	l.t.Helper()
	terms, err := escrow.Of(l.state, l.talk.Seeker.Public(), l.talk.Worker.Public(), usdc)
	require.NoError(l.t, err)
	contract, err := escrow.Contract(l.state, terms, genesis)
	require.NoError(l.t, err)
	return hiretest.Sign(l.t, l.settlement, hire.Draft{
		From: l.settlement.ID, To: to, At: l.now, Conversation: l.talk.Conversation, Payload: contract,
	})
}

func (l *log) options() Options {
	return Options{
		Rules: hire.Rules{System: l.settlement.ID}, Assets: usdc, Genesis: genesis,
		Key: func(_ context.Context, id string) (ed25519.PublicKey, error) { return hire.KeyOf(id) },
	}
}

func (l *log) verify() *Report {
	l.t.Helper()
	report, err := Log(l.t.Context(), l.links, l.options())
	require.NoError(l.t, err)
	return report
}

func TestLogOfAnAgreementIsValid(t *testing.T) {
	l := newLog(t)
	l.agree()
	report := l.verify()
	require.Empty(t, report.Findings)
	require.Equal(t, 6, report.Messages)
	require.Equal(t, hire.PhaseContracted, report.Phase)
	require.Equal(t, l.links[5].Hash, report.Head)
	require.Len(t, report.Deals, 1)
	require.Equal(t, 2, report.Deals[0].Contracts)
	require.Equal(t, hire.Price("5 USDC"), report.Deals[0].Terms.Price)
	require.NotEmpty(t, report.Deals[0].Negotiation)
}

// Each case changes a valid log, and computes all hashes again, as the home itself could.
func TestFaultyLogHasAFinding(t *testing.T) {
	for name, test := range map[string]struct {
		change func(l *log)
		entry  int64
		code   string
	}{
		"changed text":  {func(l *log) { l.links[1].Text = strings.Replace(l.links[1].Text, "5 USDC", "6 USDC", 1) }, 2, "changed"},
		"missing entry": {func(l *log) { l.links = append(l.links[:1:1], l.links[2:]...) }, 2, "missing"},
		"changed message with new hashes": {func(l *log) {
			l.rewrite(1, func(e *audit.Entry) {
				e.Data = json.RawMessage(strings.Replace(string(e.Data), "5 USDC", "6 USDC", 1))
			})
		}, 2, "bad_signature"},
		"late arrival": {func(l *log) {
			l.rewrite(1, func(e *audit.Entry) { e.Time = e.Time.Add(time.Minute) })
		}, 2, "clock_skew"},
		"dropped message with new hashes": {func(l *log) {
			l.links = append(l.links[:1:1], l.links[2:]...)
			l.rewrite(0, func(*audit.Entry) {})
		}, 2, "out_of_order"},
		"no message": {func(l *log) { l.rewrite(1, func(e *audit.Entry) { e.Data = json.RawMessage(`[]`) }) }, 2, "malformed"},
		"no entries": {func(l *log) { l.links = nil }, 0, "deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			l.agree()
			test.change(l)
			report := l.verify()
			require.Len(t, report.Findings, 1)
			require.Equal(t, test.code, report.Findings[0].Code, report.Findings[0].Detail)
			require.Equal(t, test.entry, report.Findings[0].Entry)
		})
	}
}

// rewrite changes an entry, and computes all hashes again.
func (l *log) rewrite(at int, change func(*audit.Entry)) {
	old := l.links
	l.links, l.head = nil, audit.Head{Chain: "c"}
	for i, link := range old {
		var e audit.Entry
		require.NoError(l.t, json.Unmarshal([]byte(link.Text), &e))
		if i == at {
			change(&e)
		}
		links, head, err := audit.Append(l.head, e)
		require.NoError(l.t, err)
		l.links, l.head = append(l.links, links...), head
	}
}

func TestContractOfAnotherSettlementIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		change func(l *log)
		code   string
	}{
		"another key":     {func(l *log) { l.settlement = hiretest.NewAgent() }, "wrong_party"},
		"another cluster": {func(l *log) {}, "other_terms"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLog(t)
			l.says(hire.RoleSeeker, hire.TypeProposal)
			l.says(hire.RoleWorker, hire.TypeAccept)
			l.says(hire.RoleSeeker, hire.TypeAccept)
			trusted := l.settlement
			test.change(l)
			l.add(l.contract(l.talk.Seeker.ID, solana.Hash{2}))
			l.settlement = trusted
			report := l.verify()
			require.Len(t, report.Findings, 1)
			require.Equal(t, test.code, report.Findings[0].Code)
			require.EqualValues(t, 4, report.Findings[0].Entry)
		})
	}
}
