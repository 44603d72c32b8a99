package arena

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Rules 22 and 23.
func TestSideChatsTakeTurns(t *testing.T) {
	p := newPit(t, "a", "b", "c")
	chat := p.talk("a", "b", "c")
	p.refused(CodeTurn, "b", Chat{chat, "me first"})
	for _, agent := range []string{"a", "b", "c", "a"} {
		p.do(agent, Chat{chat, "hi"})
		p.refused(CodeTurn, agent, Chat{chat, "again"})
		p.pass(time.Second)
	}
	p.refused(CodeUnknown, "d", Chat{})
	p.refused(CodeTurn, "c", Agree{chat, 1})
	require.Equal(t, CauseTime, last[ChatEnded](t, func() (events []Event) {
		for _, agent := range []string{"b", "c", "a", "b", "c"} {
			events = append(events, p.pass(25*time.Second)...)
			if p.m.chats[chat] == nil {
				break
			}
			p.do(agent, Chat{chat, "still here"})
		}
		return events
	}()).Cause)
}

// Rules 19, 20 and 21.
func TestChatNeedsAnInvitationThatIsAccepted(t *testing.T) {
	p := newPit(t, "a", "b", "c")
	invited := p.do("a", Invite{Agents: []string{"b"}})
	require.Empty(t, seenBy("c", invited), "nobody else learns of it")
	p.refused(CodeUnknown, "c", AcceptInvitation{1})
	ended := p.do("b", DeclineInvitation{1})
	require.Equal(t, CauseNobody, last[ChatEnded](t, ended).Cause)
	require.Empty(t, seenBy("c", ended))
	p.do("a", Invite{Agents: []string{"b"}})
	require.Equal(t, CauseNobody, last[ChatEnded](t, p.pass(30*time.Second)).Cause)
	p.refused(CodeUnknown, "b", AcceptInvitation{2})
	p.refused(CodeParty, "a", Invite{Agents: []string{"a"}})
	p.refused(CodeParty, "a", Invite{Agents: []string{"b", "b"}})
	p.refused(CodeUnknown, "a", Invite{Agents: []string{"x"}})
	for range MaxChats {
		p.do("a", Invite{Agents: []string{"b"}})
	}
	p.refused(CodeLimit, "a", Invite{Agents: []string{"b"}})
	p.do("b", Leave{})
	p.refused(CodeAbsent, "c", Invite{Agents: []string{"b"}})
}

// Rules 26, 27 and 39.
func TestProposalThatChangedIsNotAgreedTo(t *testing.T) {
	p := newPit(t, "a", "b")
	p.do("a", Split{Sets: 50})
	chat := p.talk("a", "b")
	legs := func(price Price) []Leg {
		return []Leg{{Seller: "a", Buyer: "b", Token: Yes, Price: price, Quantity: 10}}
	}
	p.refused(CodeChanged, "a", Counter{chat, 1, legs(60)})
	p.do("a", Propose{chat, legs(60)})
	p.pass(time.Second)
	p.refused(CodeChanged, "b", Propose{chat, legs(50)})
	p.do("b", Counter{chat, 1, legs(50)})
	p.pass(time.Second)
	p.refused(CodeChanged, "a", Agree{chat, 1})
	p.do("a", Agree{chat, 2})
	require.Equal(t, Price(50), p.m.agreements[1].Legs[0].Price)
	p.refused(CodeUnknown, "a", Agree{chat, 2})
}

// Rules 25, 27 and 36.
func TestChainOfThreeExecutesAsAWhole(t *testing.T) {
	p := newPit(t, "a", "b", "c", "d")
	p.do("a", Split{Sets: 100})
	chat := p.talk("a", "b", "c", "d")
	legs := []Leg{
		{Seller: "a", Buyer: "b", Token: Yes, Price: 50, Quantity: 100},
		{Seller: "b", Buyer: "c", Token: Yes, Price: 60, Quantity: 100},
	}
	p.refused(CodeParty, "a", Propose{chat, []Leg{legs[1]}})
	p.refused(CodeMalformed, "a", Propose{chat, []Leg{legs[0], legs[0]}})
	p.do("a", Propose{chat, legs})
	p.pass(time.Second)
	p.do("b", Agree{chat, 1})
	p.pass(time.Second)
	require.Empty(t, p.m.agreements, "c has not agreed")
	p.do("c", Agree{chat, 1})
	p.refused(CodeUnknown, "d", Finalize{Agreement: 1})
	p.finalize("c", 1)
	require.Equal(t, Holding{Money: 110 * SetPrice}, p.m.ledger.Holding("b"))
	require.Equal(t, Holding{Money: 40 * SetPrice, Yes: 100}, p.m.ledger.Holding("c"))
}

// Rule 28.
func TestRejectingWalksAway(t *testing.T) {
	p := newPit(t, "a", "b", "c")
	p.do("a", Split{Sets: 50})
	chat := p.talk("a", "b", "c")
	p.do("a", Propose{chat, []Leg{{Seller: "a", Buyer: "b", Token: Yes, Price: 60, Quantity: 10}}})
	p.pass(time.Second)
	events := p.do("b", Reject{chat, 1})
	require.Equal(t, ChatLeft{Chat: chat, Agent: "b"}, last[ChatLeft](t, events))
	require.Nil(t, p.m.chats[chat].standing)
	p.pass(time.Second)
	require.Equal(t, CauseLeft, last[ChatEnded](t, p.do("a", LeaveChat{chat})).Cause)
}

// Rules 13, 15 and 17.
func TestFloorGivesTurnsToAll(t *testing.T) {
	p := newPit(t, crowd...)
	spoke := map[string]int{}
	for range 300 {
		events := p.pass(time.Second)
		for _, turn := range factsOf[Turn](events) {
			spoke[turn.Agent]++
			if turn.Agent == "a" {
				p.do("a", Say{Text: "@b sells?", Mentions: []string{"b"}})
				p.refused(CodeTurn, "a", Say{Text: "again"})
			}
		}
	}
	for _, agent := range crowd {
		require.Greater(t, spoke[agent], 5, agent)
	}
	require.Greater(t, spoke["b"], spoke["c"], "who is mentioned comes first")
	p.refused(CodeMalformed, "a", Say{})
	p.refused(CodeMalformed, "a", Say{Text: string(make([]byte, MaxText+1))})
}

// Rule 14. An unused turn passes after 5 seconds, and a new turn begins a second later.
func TestFloorPassesASilentSpeaker(t *testing.T) {
	p := newPit(t, "a")
	require.Empty(t, factsOf[Turn](p.pass(time.Second-1)))
	require.Len(t, factsOf[Turn](p.pass(1)), 1)
	require.Empty(t, factsOf[Passed](p.pass(5*time.Second-1)))
	require.Len(t, factsOf[Passed](p.pass(1)), 1)
	require.Len(t, factsOf[Turn](p.pass(time.Second)), 1)
	p.do("a", Leave{})
	require.Empty(t, p.pass(time.Minute), "nobody is there")
	p.do("b", Join{Name: "b"})
	require.Equal(t, "b", last[Turn](t, p.pass(time.Second)).Agent)
}

// Rule 12.
func TestInterestsAreASoftOrderBook(t *testing.T) {
	p := newPit(t, "a")
	interest := Interest{
		Interested: true, Want: &Want{Side: Buy, Token: Yes, Price: 60, Quantity: 100}, Message: "definitely",
	}
	p.do("a", State{interest})
	require.Equal(t, interest, p.m.View().Agents[0].Interest)
	p.refused(CodeMalformed, "a", State{Interest{Interested: true}})
	p.refused(CodeMalformed, "a", State{Interest{Interested: true, Want: &Want{Side: Buy, Token: Yes, Price: 100, Quantity: 1}}})
	require.Equal(t, interest, p.m.View().Agents[0].Interest)
	p.do("a", State{})
	require.Nil(t, p.m.View().Agents[0].Interest.Want)
}

// Rules 2, 9 and 18.
func TestAgentsJoinOnceAndInTime(t *testing.T) {
	p := newPit(t, "a")
	p.refused(CodeParty, "a", Join{Name: "a"})
	p.refused(CodeMalformed, "b", Join{})
	p.refused(CodeUnknown, "b", Leave{})
	p.do("a", Leave{})
	p.refused(CodeAbsent, "a", Connect{})
	p.now = p.now.Add(-1)
	p.refused(CodeTime, "b", Join{Name: "b"})
	p.now = p.now.Add(time.Hour + 1)
	p.refused(CodeClosed, "b", Join{Name: "b"})
}

// Rules 9 and 10.
func TestOnlyOperatorMovesMoneyAndOnlyResolverResolves(t *testing.T) {
	p := newPit(t, "a")
	p.refused(CodeParty, "a", Deposit{"a", 1})
	p.refused(CodeParty, "a", Withdraw{"a", 1})
	p.refused(CodeUnknown, "operator", Deposit{"b", 1})
	p.refused(CodeMalformed, "operator", Deposit{"a", 0})
	p.refused(CodeFunds, "operator", Withdraw{"a", 100*SetPrice + 1})
	p.refused(CodeLimit, "operator", Deposit{"a", MaxMoney})
	p.do("operator", Deposit{"a", 20 * SetPrice})
	p.do("operator", Withdraw{"a", 50 * SetPrice})
	require.Equal(t, Changed{"a", Holding{Money: 70 * SetPrice}}, last[Changed](t, seenBy("a", p.events)))
	p.pass(time.Hour)
	for _, other := range []string{"", "a", "operator"} {
		p.refused(CodeParty, other, Resolve{OutcomeYes})
	}
	p.do("resolver", Resolve{OutcomeYes})
	p.do("operator", Withdraw{"a", 70 * SetPrice})
}

// Rules 26 and 33.
func TestActionOnEventsThatTheAgentHasNotSeen(t *testing.T) {
	p := newPit(t, "a", "b")
	p.do("a", Split{Sets: 50})
	chat := p.talk("a", "b")
	before := p.m.Shown("b")
	p.do("a", Propose{chat, []Leg{{Seller: "a", Buyer: "b", Token: Yes, Price: 50, Quantity: 10}}})
	p.pass(time.Second)
	as := func(seen uint64, action Action) error {
		_, err := p.m.Apply(Input{At: p.now, Agent: "b", Seen: seen, Action: action})
		return err
	}
	require.ErrorContains(t, as(before, Agree{chat, 1}), string(CodeChanged), "the proposal came later")
	require.ErrorContains(t, as(p.m.Shown("b")+1, Agree{chat, 1}), string(CodeChanged), "no such event")
	require.NoError(t, as(before+1, Agree{chat, 1}))
	seen := p.m.Shown("b")
	require.ErrorContains(t, as(seen-1, Finalize{1, 1}), string(CodeChanged), "the review is the latest event")
	require.NoError(t, as(seen, Finalize{1, 1}))
}

// Rule 29.
func TestMemberThatJoinsLaterGetsTheChatSoFar(t *testing.T) {
	p := newPit(t, "a", "b", "c")
	p.do("a", Split{Sets: 50})
	p.do("a", Invite{Agents: []string{"b", "c"}})
	p.do("b", AcceptInvitation{1})
	p.pass(time.Second)
	p.do("a", Chat{1, "0.50 for ten?"})
	p.pass(time.Second)
	offer := []Leg{{Seller: "a", Buyer: "c", Token: Yes, Price: 50, Quantity: 10}, {Seller: "c", Buyer: "b", Token: Yes, Price: 55, Quantity: 10}}
	p.refused(CodeParty, "b", Propose{1, offer})
	offer = offer[:1]
	offer[0].Buyer = "b"
	p.do("b", Propose{1, offer})
	events := seenBy("c", p.do("c", AcceptInvitation{1}))
	require.Equal(t, []ChatSaid{{1, "a", "0.50 for ten?"}}, factsOf[ChatSaid](events))
	require.Equal(t, []Proposed{{Chat: 1, Proposal: 1, Agent: "b", Legs: offer}}, factsOf[Proposed](events))
	require.Empty(t, factsOf[ChatSaid](seenBy("a", p.do("", nil))))
}

// Rule 31.
func TestPackagesAreStackedAlternatingOffers(t *testing.T) {
	p := newPit(t, "a", "b", "c")
	p.do("a", Split{Sets: 50})
	p.refused(CodeMalformed, "a", Invite{Agents: []string{"b"}, Mode: "shouting"})
	p.do("a", Invite{Agents: []string{"b", "c"}, Mode: ModePackages})
	require.Empty(t, factsOf[ChatBegan](p.do("b", AcceptInvitation{1})), "c has not answered")
	began := last[ChatBegan](t, p.do("c", AcceptInvitation{1}))
	require.Equal(t, ChatBegan{Chat: 1, Agents: []string{"a", "b", "c"}, Mode: ModePackages}, began)
	p.pass(time.Second)
	first := []Leg{
		{Seller: "a", Buyer: "b", Token: Yes, Price: 60, Quantity: 20}, {Seller: "a", Buyer: "c", Token: No, Price: 45, Quantity: 20},
	}
	p.refused(CodeMalformed, "a", Chat{1, "hi"})
	p.refused(CodeParty, "a", Propose{1, first[:1]})
	p.refused(CodeParty, "a", Propose{1, []Leg{{Seller: "a", Buyer: "a", Token: Yes, Price: 1, Quantity: 1}}})
	p.refused(CodeMalformed, "a", Propose{1, slices.Repeat(first, 6)})
	p.do("a", Propose{1, first})
	p.pass(time.Second)
	second := slices.Clone(first)
	second[0].Price = 55
	p.do("b", Counter{1, 1, second})
	p.pass(time.Second)
	p.do("c", Agree{1, 2})
	p.pass(time.Second)
	p.do("a", Agree{1, 2})
	p.finalize("c", 1)
	require.Equal(t, Holding{Money: 70 * SetPrice, Yes: 30, No: 30}, p.m.ledger.Holding("a"))
	require.Equal(t, Holding{Money: 89 * SetPrice, Yes: 20}, p.m.ledger.Holding("b"))
	require.Equal(t, Holding{Money: 91 * SetPrice, No: 20}, p.m.ledger.Holding("c"))

	// If one agent does not answer, the others begin.
	p.do("a", Invite{Agents: []string{"b", "c"}, Mode: ModePackages})
	p.do("b", AcceptInvitation{2})
	require.Equal(t, []string{"a", "b"}, last[ChatBegan](t, p.do("c", DeclineInvitation{2})).Agents)
}

// Rule 3.
func TestSeedOrdersTheSpeakersAndIsPublishedAtTheEnd(t *testing.T) {
	speakers := func(seed byte) (all []string) {
		p := newPit(t)
		p.m.config.Seed = [32]byte{seed}
		hash := sha256.Sum256(p.m.config.Seed[:])
		require.Equal(t, hex.EncodeToString(hash[:]), p.m.config.SeedHash())
		for _, agent := range crowd {
			p.do(agent, Join{Name: agent})
		}
		for _, turn := range factsOf[Turn](p.pass(5 * time.Minute)) {
			all = append(all, turn.Agent)
		}
		end := p.pass(8 * 24 * time.Hour)
		require.Equal(t, hex.EncodeToString(p.m.config.Seed[:]), last[Resolved](t, end).Seed)
		return all
	}
	require.Equal(t, speakers(1), speakers(1))
	require.NotEqual(t, speakers(1), speakers(2))
}

// Rules 6 and 16.
func TestPriceOfATradeOfNo(t *testing.T) {
	p := newPit(t, "a", "b")
	require.Equal(t, FirstPrice, p.m.View().Price)
	p.do("a", Split{Sets: 10})
	chat := p.talk("a", "b")
	p.do("a", Propose{chat, []Leg{{Seller: "a", Buyer: "b", Token: No, Price: 30, Quantity: 10}}})
	p.pass(time.Second)
	p.do("b", Agree{chat, 1})
	p.finalize("b", 1)
	require.Equal(t, Price(70), p.m.View().Price)
}

// Every rule of docs/ARENA.md has a test that names it, here or in internal/arena.
func TestEveryRuleHasATest(t *testing.T) {
	page, err := os.ReadFile("../../docs/ARENA.md")
	require.NoError(t, err)
	tests, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	servers, err := filepath.Glob("../../internal/arena/*/*_test.go")
	require.NoError(t, err)
	named := map[string]bool{}
	for _, path := range append(tests, servers...) {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, comment := range regexp.MustCompile(`(?m)^// Rules? ([0-9]+(?:(?:, | and )[0-9]+)*)`).FindAllStringSubmatch(string(content), -1) {
			for _, number := range regexp.MustCompile(`[0-9]+`).FindAllString(comment[1], -1) {
				named[number] = true
			}
		}
	}
	rules := regexp.MustCompile(`(?m)^\*\*([0-9]+)\.\*\*`).FindAllStringSubmatch(string(page), -1)
	for i, rule := range rules {
		require.Equal(t, strconv.Itoa(i+1), rule[1], "the rules are numbered in their order")
		require.True(t, named[rule[1]], "rule %s has no test", rule[1])
		delete(named, rule[1])
	}
	require.Empty(t, named, "no such rules")
	require.NotEmpty(t, rules)
}
