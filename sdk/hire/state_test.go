package hire

import (
	"cmp"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var start = time.Date(2025, 1, 30, 10, 0, 0, 0, time.UTC)

const (
	seeker = "agent_seeker_001"
	worker = "agent_abc123"
	system = "settlement"
)

const address = "11111111111111111111111111111111"

// keyOf returns a party's test key.
func keyOf(id string) ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, id)
	return ed25519.NewKeyFromSeed(seed)
}

// talk is a conversation whose messages are a second apart.
type talk struct {
	t     testing.TB
	state State
	rules Rules
	now   time.Time
	log   []*Message
}

func newTalk(t testing.TB) *talk {
	return &talk{t: t, rules: Rules{System: system}, now: start}
}

// message signs a party's message to the counterpart, or a system message to the seeker.
func (k *talk) message(from string, payload Payload) *Message {
	k.t.Helper()
	to := map[string]string{seeker: worker, worker: seeker, system: seeker}[from]
	m, err := Sign(keyOf(from), Draft{From: from, To: to, At: k.now, Conversation: "conv_xyz", Payload: payload})
	require.NoError(k.t, err)
	return m
}

func (k *talk) receive(m *Message) error {
	next, err := k.state.Next(m, k.now, k.rules)
	if err != nil {
		require.Equal(k.t, k.state, next, "a refused message changes nothing")
		return err
	}
	k.state = next
	k.log = append(k.log, m)
	k.now = k.now.Add(time.Second)
	return nil
}

// send sends an acceptable message.
func (k *talk) send(from string, payload Payload) *Message {
	k.t.Helper()
	m := k.message(from, payload)
	require.NoError(k.t, k.receive(m))
	return m
}

func (k *talk) refused(reason Reason, m *Message) {
	k.t.Helper()
	var refusal *Refusal
	require.ErrorAs(k.t, k.receive(m), &refusal)
	require.Equal(k.t, reason, refusal.Reason, refusal.Text)
}

func (k *talk) reply() Reply { return Reply{k.state.Last} }

var deadline = NewTime(start.Add(24 * time.Hour))

// terms returns the latest terms, or arbitrary terms if none were offered.
func (k *talk) terms() Terms {
	return cmp.Or(k.state.Terms, Terms{Price: "5 USDC", Deadline: deadline})
}

var noHash = Hash(strings.Repeat("0", 64))

// payload returns a payload with the given type that fits the conversation.
func (k *talk) payload(of Type) Payload {
	switch of {
	case TypeInquiry:
		return &Inquiry{Reply: k.reply(), Need: NewText("a logo"), Budget: Range{"1 USDC", "5 USDC"}}
	case TypeCapability:
		return &Capability{Reply: k.reply(), Skills: []string{"logo"}, Prices: []UnitPrice{{"logo", "5 USDC"}}}
	case TypeProposal:
		return &Proposal{Reply: k.reply(), Task: NewText("logo design"), Budget: "4 USDC", Deadline: deadline}
	case TypeClarification:
		return &Clarification{Reply: k.reply(), Questions: []Text{NewText("Which colors?")}}
	case TypeCounter:
		return &Counter{Reply: k.reply(), Price: "5 USDC", EstimatedDelivery: deadline}
	case TypeAccept:
		return &Accept{Reply: k.reply(), Terms: k.terms()}
	case TypeReject:
		return &Reject{Reply: k.reply(), Code: "price", Note: NewText("too low")}
	}
	return &Contract{
		Reply: k.reply(), Terms: k.terms(), SeekerAccept: cmp.Or(k.state.SeekerAccept, noHash),
		WorkerAccept: cmp.Or(k.state.WorkerAccept, noHash),
		Settlement:   Settlement{Cluster: address, Program: address, Negotiation: address, Mint: address, Units: "5000000"},
	}
}

// in brings a conversation to a phase where the seeker may accept.
func in(t testing.TB, phase Phase) *talk {
	k := newTalk(t)
	k.send(seeker, k.payload(TypeInquiry))
	if phase == PhaseIdle {
		return k
	}
	k.send(seeker, k.payload(TypeProposal))
	k.send(worker, k.payload(TypeCounter))
	switch phase {
	case PhaseContracted:
		k.send(seeker, k.payload(TypeAccept))
	case PhaseDeclined:
		k.send(seeker, k.payload(TypeReject))
	}
	require.Equal(t, phase, k.state.Phase)
	return k
}

// Every phase, sender and type, with the next phase or a refusal's reason.
func TestEveryMessageInEveryPhase(t *testing.T) {
	accepted := map[string]Phase{
		"IDLE seeker inquiry": PhaseIdle, "IDLE seeker proposal": PhaseNegotiating, "IDLE worker capability": PhaseIdle,
		"NEGOTIATING seeker proposal":      PhaseNegotiating,
		"NEGOTIATING seeker clarification": PhaseNegotiating,
		"NEGOTIATING seeker accept":        PhaseContracted,
		"NEGOTIATING seeker reject":        PhaseDeclined,
		"NEGOTIATING worker clarification": PhaseNegotiating,
		"NEGOTIATING worker counter":       PhaseNegotiating,
		"NEGOTIATING worker reject":        PhaseDeclined,
		"CONTRACTED seeker proposal":       PhaseNegotiating,
		"CONTRACTED worker accept":         PhaseContracted,
		"DECLINED seeker inquiry":          PhaseDeclined, "DECLINED seeker proposal": PhaseNegotiating,
		"DECLINED worker capability": PhaseDeclined,
	}
	never := map[string][]Type{
		seeker: {TypeCapability, TypeCounter, TypeContract}, worker: {TypeInquiry, TypeProposal, TypeContract},
		system: slices.DeleteFunc(Types(), func(t Type) bool { return t == TypeContract }),
	}
	roles := map[string]Role{seeker: RoleSeeker, worker: RoleWorker, system: RoleSystem}
	for _, phase := range []Phase{PhaseIdle, PhaseNegotiating, PhaseContracted, PhaseDeclined} {
		for from, role := range roles {
			for _, sent := range Types() {
				name := fmt.Sprintf("%s %s %s", phase, role, sent)
				k := in(t, phase)
				m := k.message(from, k.payload(sent))
				next, is := accepted[name]
				switch {
				case is:
					require.NoError(t, k.receive(m), name)
					require.Equal(t, next, k.state.Phase, name)
				case slices.Contains(never[from], sent):
					k.refused(ReasonRole, m)
				case sent == TypeContract && phase == PhaseContracted:
					k.refused(ReasonTerms, m) // one accept is missing
				default:
					k.refused(ReasonState, m)
				}
			}
		}
	}
}

// The protocol document's five messages, with the placeholders for signatures.
func documentFlow(t *testing.T) (flow []*Message) {
	for number := range 5 {
		text, err := os.ReadFile(fmt.Sprintf("testdata/flow-%d.json", number+1))
		require.NoError(t, err)
		m, err := Parse(text)
		require.NoError(t, err)
		flow = append(flow, m)
	}
	return flow
}

func TestDocumentFlowEndsInAContract(t *testing.T) {
	rules := Rules{Lenient: true}
	var state State
	var phases []Phase
	for _, m := range documentFlow(t) {
		var refusal *Refusal
		require.ErrorAs(t, m.Verify(keyOf(m.From()).Public().(ed25519.PublicKey)), &refusal)
		require.Equal(t, ReasonSignature, refusal.Reason, "the placeholder is the only refusal")
		_, err := state.Next(m, m.At(), Rules{})
		if len(phases) > 0 {
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, ReasonOrder, refusal.Reason, "in_reply_to is required otherwise")
		}
		state, err = state.Next(m, m.At(), rules)
		require.NoError(t, err)
		phases = append(phases, state.Phase)
	}
	require.Equal(t, []Phase{PhaseNegotiating, PhaseNegotiating, PhaseNegotiating, PhaseNegotiating, PhaseContracted},
		phases)
	require.Equal(t, Terms{Price: "5 USDC", Deadline: "2025-01-30T18:00:00Z"}, state.Terms)
}

func TestResignedDocumentFlowPassesWhole(t *testing.T) {
	var state State
	for _, m := range documentFlow(t) {
		payload := m.Payload()
		switch payload := payload.(type) {
		case *Proposal:
			payload.InReplyTo = state.Last
		case *Clarification:
			payload.InReplyTo = state.Last
		case *Counter:
			payload.InReplyTo = state.Last
		case *Accept:
			payload.InReplyTo = state.Last
		}
		signed, err := Sign(keyOf(m.From()), Draft{m.From(), m.To(), m.At(), m.Conversation(), payload})
		require.NoError(t, err)
		require.NoError(t, signed.Verify(keyOf(m.From()).Public().(ed25519.PublicKey)))
		state, err = state.Next(signed, m.At(), Rules{})
		require.NoError(t, err)
	}
	require.Equal(t, PhaseContracted, state.Phase)
}

func TestContractNamesBothAcceptsAndGoesToEachSideOnce(t *testing.T) {
	k := in(t, PhaseContracted)
	k.send(worker, k.payload(TypeAccept))
	require.True(t, k.state.Due.IsZero())
	contract := k.payload(TypeContract).(*Contract)
	other := *contract
	other.Terms.Price = "1 USDC"
	k.refused(ReasonTerms, k.message(system, &other))
	toSeeker := k.send(system, contract)
	k.refused(ReasonDuplicate, toSeeker)
	k.refused(ReasonState, k.message(system, contract))
	toWorker, err := Sign(keyOf(system), Draft{system, worker, k.now, "conv_xyz", contract})
	require.NoError(t, err)
	require.NoError(t, k.receive(toWorker))

	k.send(seeker, k.payload(TypeProposal))
	require.Equal(t, 2, k.state.Deal, "a proposal begins the next deal")
	require.Empty(t, k.state.SeekerAccept)
}

func TestSilenceAbandonsTheConversation(t *testing.T) {
	for name, c := range map[string]struct {
		from    string
		sent    Type
		timeout time.Duration
	}{
		"clarification": {worker, TypeClarification, 30 * time.Second},
		"counter":       {worker, TypeCounter, 120 * time.Second},
	} {
		k := newTalk(t)
		k.send(seeker, k.payload(TypeProposal))
		require.Equal(t, start.Add(60*time.Second), k.state.Due)
		arrived := k.now
		k.send(c.from, k.payload(c.sent))
		require.Equal(t, arrived.Add(c.timeout), k.state.Due, name)
		require.Equal(t, PhaseNegotiating, k.state.Expire(k.state.Due).Phase, name)
		require.Equal(t, PhaseIdle, k.state.Expire(k.state.Due.Add(1)).Phase, name)
		k.now = k.state.Due.Add(time.Second)
		k.refused(ReasonState, k.message(seeker, k.payload(TypeAccept)))
		k.send(seeker, k.payload(TypeProposal))
		require.Equal(t, 2, k.state.Deal, name)
	}
}

func TestSecondAcceptIsDueAsWell(t *testing.T) {
	k := in(t, PhaseContracted)
	require.Equal(t, k.now.Add(-time.Second).Add(120*time.Second), k.state.Due)
	accept := k.payload(TypeAccept)
	k.now = k.state.Due.Add(time.Second)
	k.refused(ReasonState, k.message(worker, accept))
	require.Equal(t, PhaseIdle, k.state.Expire(k.now).Phase)
	k.send(seeker, k.payload(TypeProposal))
	require.Empty(t, k.state.SeekerAccept)

	k = in(t, PhaseContracted)
	k.send(worker, k.payload(TypeAccept))
	k.now = k.now.Add(time.Hour)
	require.Equal(t, PhaseContracted, k.state.Expire(k.now).Phase, "nothing is due once both have accepted")
}

func TestHostileMessagesAreRefused(t *testing.T) {
	k := in(t, PhaseNegotiating)
	k.refused(ReasonDuplicate, k.log[2])
	k.refused(ReasonOrder, k.log[1])
	k.refused(ReasonOrder, k.message(seeker, &Clarification{Reply: Reply{noHash}}))
	k.refused(ReasonOrder, k.message(seeker, &Clarification{}))
	k.refused(ReasonTerms, k.message(seeker, &Accept{Reply: k.reply(), Terms: Terms{Price: "1 USDC", Deadline: deadline}}))
	k.refused(ReasonState, k.message(worker, k.payload(TypeAccept)))

	elsewhere, err := Sign(keyOf(seeker), Draft{seeker, worker, k.now, "conv_1", k.payload(TypeAccept)})
	require.NoError(t, err)
	k.refused(ReasonConversation, elsewhere)
	stranger, err := Sign(keyOf("stranger"), Draft{"stranger", worker, k.now, "conv_xyz", k.payload(TypeAccept)})
	require.NoError(t, err)
	k.refused(ReasonParty, stranger)
	late := k.message(seeker, k.payload(TypeAccept))
	k.now = k.now.Add(31 * time.Second)
	k.refused(ReasonClock, late)
	k.now = start
	k.refused(ReasonOrder, k.message(seeker, k.payload(TypeAccept)))
}

func TestSameLogGivesTheSameState(t *testing.T) {
	k := in(t, PhaseContracted)
	k.send(worker, k.payload(TypeAccept))
	k.send(system, k.payload(TypeContract))
	for range 2 {
		var state State
		for _, m := range k.log {
			parsed, err := Parse(m.Text())
			require.NoError(t, err)
			state, err = state.Next(parsed, m.At(), k.rules)
			require.NoError(t, err)
		}
		require.Equal(t, k.state, state)
	}
}

// A home stores states and sends them: empty values are omitted, since hashes are never empty.
func TestStateSurvivesJSON(t *testing.T) {
	settled := in(t, PhaseContracted)
	settled.send(worker, settled.payload(TypeAccept))
	settled.send(system, settled.payload(TypeContract))
	for name, state := range map[string]State{
		"empty": {}, "idle": in(t, PhaseIdle).state, "negotiating": in(t, PhaseNegotiating).state,
		"declined": in(t, PhaseDeclined).state, "settled": settled.state,
	} {
		text, err := json.Marshal(state)
		require.NoError(t, err)
		var read State
		require.NoError(t, json.Unmarshal(text, &read), name)
		require.Equal(t, state, read, name)
	}
	text, err := json.Marshal(State{Conversation: "conv_1", Phase: PhaseIdle})
	require.NoError(t, err)
	require.JSONEq(t, `{"conversation_id":"conv_1","phase":"IDLE"}`, string(text))
}
