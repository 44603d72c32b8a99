package transport_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// party is an agent at a home, as the client of this module sees it.
type party struct {
	*hire.Home
	t        *testing.T
	ctx      context.Context
	resolver *hire.Resolver
	state    hire.State
	rules    hire.Rules
	events   chan hire.Event
}

func newParty(ctx context.Context, t *testing.T, h *home, agent hiretest.Agent, rules hire.Rules) *party {
	t.Helper()
	client := &hire.Client{Local: true}
	t.Cleanup(client.Close)
	pins, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "state.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pins.Close()) })
	p := &party{
		Home: &hire.Home{Origin: h.worker.ID, Agent: agent.ID, Key: agent.Key, Client: client}, t: t, ctx: ctx,
		resolver: &hire.Resolver{Client: client, Pins: pins.HirePins()}, rules: rules, events: make(chan hire.Event),
	}
	streaming, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for event, err := range p.Events(streaming, 0) {
			if err != nil {
				assert.ErrorIs(t, err, context.Canceled)
				return
			}
			select {
			case p.events <- event:
			case <-streaming.Done():
				return
			}
		}
	}()
	return p
}

// send sends a message in the party's conversation.
func (p *party) send(to, conversation string, payload hire.Payload) {
	p.t.Helper()
	m, err := hire.Sign(p.Key, hire.Draft{
		From: p.Agent, To: to, At: time.Now(), Conversation: conversation, Payload: payload,
	})
	require.NoError(p.t, err)
	require.NoError(p.t, p.Send(p.ctx, m))
	p.apply(m)
}

func (p *party) apply(m *hire.Message) {
	p.t.Helper()
	next, err := p.state.Next(m, time.Now(), p.rules)
	require.NoError(p.t, err)
	p.state = next
}

// receive verifies and applies the next event.
func (p *party) receive() hire.Payload {
	p.t.Helper()
	event := <-p.events
	require.NoError(p.t, p.resolver.Verify(p.ctx, event.Message))
	p.apply(event.Message)
	return event.Message.Payload()
}

func (p *party) reply() hire.Reply { return hire.Reply{InReplyTo: p.state.Last} }

// Two agents agree at a home, the seeker creates the escrow on chain, both receive the contract, and the
// delivery arrives. The home's log proves everything.
func TestDealFromProposalToDelivery(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	net, err := localnet.Start(ctx, localnet.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	genesis, err := net.Client.RPC().GetGenesisHash(ctx)
	require.NoError(t, err)
	assets := []hire.Asset{{Symbol: "TEST", Mint: hire.Base58(net.Mint.String()), Decimals: localnet.Decimals}}
	settlement := hiretest.NewAgent()
	h := newHome(t, options{service: func(c *service.Config) {
		c.Settlement = &service.Settlement{
			Key: settlement.Key, Genesis: genesis, Assets: assets, Snapshots: net.Client.Snapshots,
		}
	}})
	keypair, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	require.NoError(t, net.Endow(ctx, keypair.PublicKey()))
	key := hiretest.Agent{ID: keypair.PublicKey().String(), Key: []byte(keypair.PrivateKey())}
	rules := hire.Rules{System: settlement.ID}
	seeker, worker := newParty(ctx, t, h, key, rules), newParty(ctx, t, h, h.worker, rules)

	const conversation = "conv_1"
	deadline := hire.NewTime(time.Now().Add(24 * time.Hour))
	seeker.send(worker.Agent, conversation, &hire.Proposal{
		Task: hire.NewText("a logo"), Budget: "4 TEST", Deadline: deadline, Arbiter: hiretest.Arbiter,
	})
	require.Equal(t, hire.TypeProposal, worker.receive().Type())
	worker.send(seeker.Agent, conversation, &hire.Counter{Reply: worker.reply(), Price: "5 TEST", EstimatedDelivery: deadline})
	require.Equal(t, hire.TypeCounter, seeker.receive().Type())
	seeker.send(worker.Agent, conversation, &hire.Accept{Reply: seeker.reply(), Terms: seeker.state.Terms})
	require.Equal(t, hire.TypeAccept, worker.receive().Type())
	worker.send(seeker.Agent, conversation, &hire.Accept{Reply: worker.reply(), Terms: worker.state.Terms})
	require.Equal(t, hire.TypeAccept, seeker.receive().Type())

	terms, err := escrow.Of(seeker.state, key.Public(), h.worker.Public(), assets)
	require.NoError(t, err)
	now, err := net.Client.Now(ctx)
	require.NoError(t, err)
	_, err = net.Client.CreateNegotiation(terms.Request(time.Unix(now, 0))).Do(ctx, keypair)
	require.NoError(t, err)
	want, err := terms.Settlement(genesis)
	require.NoError(t, err)
	for _, p := range []*party{seeker, worker} {
		contract, is := p.receive().(*hire.Contract)
		require.True(t, is)
		require.Equal(t, want, contract.Settlement)
	}

	hash, err := worker.PutDelivery(ctx, conversation, seeker.Agent, []byte("<svg/>"))
	require.NoError(t, err)
	delivered, err := seeker.Delivery(ctx, hash)
	require.NoError(t, err)
	require.Equal(t, "<svg/>", string(delivered))
	_, err = worker.Delivery(ctx, hire.Hash(strings.Repeat("0", 64)))
	require.ErrorIs(t, err, hire.ErrNoDelivery)

	page, err := worker.Conversations(ctx, hire.ConversationQuery{Session: terms.Session})
	require.NoError(t, err)
	require.Len(t, page.Conversations, 1)
	require.EqualValues(t, 3, page.Latest)
	stored := page.Conversations[0].State
	log, err := seeker.Log(ctx, conversation, seeker.Agent)
	require.NoError(t, err)
	require.Len(t, log.Arrivals, 6)
	var replayed hire.State
	previous := ""
	for _, arrival := range log.Arrivals {
		require.NoError(t, seeker.resolver.Verify(ctx, arrival.Message))
		replayed, err = replayed.Next(arrival.Message, arrival.At, rules)
		require.NoError(t, err)
		var link audit.Link
		require.NoError(t, json.Unmarshal(arrival.Link, &link))
		require.Equal(t, audit.Hash(previous, link.Text), link.Hash)
		previous = link.Hash
	}
	require.Equal(t, stored, replayed)
}
