package service_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// open returns the ids of an agent's conversations with open deals.
func (h *home) open(t *testing.T, agent string) (ids []string) {
	t.Helper()
	page, err := h.Conversations(t.Context(), service.Selection{Agent: agent, Open: true})
	require.NoError(t, err)
	for _, state := range page.States {
		ids = append(ids, state.Conversation)
	}
	return ids
}

// A conversation is open while a message can follow, or, if there is a settlement, the contract.
func TestOpenConversations(t *testing.T) {
	on := new(hiretest.Chain)
	for name, change := range map[string]func(*service.Config){"settled": settled(on), "unsettled": nil} {
		onBoth(t, change, func(t *testing.T, h *home) {
			k := h.talk()
			is := func(open bool) {
				t.Helper()
				require.Equal(t, open, len(h.open(t, k.Seeker.ID)) == 1)
			}
			h.send(t, k, hire.RoleSeeker, hire.TypeInquiry)
			is(true)
			h.pass(2*time.Minute + time.Microsecond)
			is(false)
			h.send(t, k, hire.RoleWorker, hire.TypeCapability)
			h.send(t, k, hire.RoleSeeker, hire.TypeProposal)
			h.pass(time.Minute)
			is(true)
			h.pass(time.Microsecond)
			is(false)
			page, err := h.Conversations(t.Context(), service.Selection{Agent: k.Seeker.ID})
			require.NoError(t, err)
			require.Equal(t, hire.PhaseIdle, page.States[0].Phase, "an overdue deal is abandoned")
			h.send(t, k, hire.RoleSeeker, hire.TypeProposal)
			h.send(t, k, hire.RoleWorker, hire.TypeReject)
			is(false)
			h.agree(t, k)
			is(name == "settled")
			h.pass(time.Hour + time.Microsecond)
			is(false)
		})
	}
}

// The parties read their conversation's log, with any number of entries, and nobody else does.
func TestLogIsForTheParties(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, h *home) {
		k, other := h.talk(), h.talk()
		h.agree(t, other)
		var want []hire.Hash
		want = append(want, h.send(t, k, hire.RoleSeeker, hire.TypeProposal).Hash())
		for range 20 {
			want = append(want, h.send(t, k, hire.RoleWorker, hire.TypeClarification).Hash())
		}
		for _, agent := range []string{k.Seeker.ID, k.Worker.ID} {
			links, err := h.Log(t.Context(), agent, k.Conversation, k.Seeker.ID)
			require.NoError(t, err)
			var got []hire.Hash
			for link, err := range links {
				require.NoError(t, err)
				require.Equal(t, idOf(k), link.Chain)
				got = append(got, messageOf(t, link).Hash())
			}
			require.Equal(t, want, got)
		}
		for name, c := range map[string][3]string{
			"a stranger":          {other.Seeker.ID, k.Conversation, k.Seeker.ID},
			"the roles reversed":  {k.Seeker.ID, k.Conversation, k.Worker.ID},
			"the seeker's name":   {k.Worker.ID, k.Conversation, k.Worker.ID},
			"no conversation":     {k.Seeker.ID, other.Conversation, k.Seeker.ID},
			"another's as seeker": {other.Seeker.ID, k.Conversation, other.Seeker.ID},
		} {
			_, err := h.Log(t.Context(), c[0], c[1], c[2])
			require.Equal(t, hire.ReasonParty, reasonOf(t, err), name)
		}
		again := hiretest.NewTalk(k.Seeker, hiretest.NewAgent())
		again.Conversation = k.Conversation
		h.config.Open = true
		h.reopen(t)
		h.send(t, again, hire.RoleSeeker, hire.TypeProposal)
		_, err := h.Log(t.Context(), k.Seeker.ID, k.Conversation, k.Seeker.ID)
		require.Equal(t, hire.ReasonConversation, reasonOf(t, err), "it is not clear which one is meant")
		require.Equal(t, want, h.messages(t, k))
	})
}

func deliveryOf(k *hiretest.Talk, content []byte) service.Delivery {
	sum := sha256.Sum256(content)
	return service.Delivery{
		Agent: k.Worker.ID, Seeker: k.Seeker.ID, Conversation: k.Conversation, Hash: hex.EncodeToString(sum[:]),
	}
}

func TestDeliveriesAreLimited(t *testing.T) {
	onBoth(t, func(c *service.Config) { c.Limits.DeliveryBytes = 9 << 20 }, func(t *testing.T, h *home) {
		k, early := h.talk(), h.talk()
		h.agree(t, k)
		h.send(t, early, hire.RoleSeeker, hire.TypeProposal)
		content := []byte("a logo")
		d := deliveryOf(k, content)
		deliver := func(d service.Delivery, content []byte) error { return h.Deliver(t.Context(), d, content) }
		for name, c := range map[string]struct {
			change func(*service.Delivery)
			reason hire.Reason
		}{
			"by the seeker":   {func(d *service.Delivery) { d.Agent, d.Seeker = d.Seeker, d.Agent }, hire.ReasonParty},
			"by a stranger":   {func(d *service.Delivery) { d.Agent = early.Seeker.ID }, hire.ReasonParty},
			"another hash":    {func(d *service.Delivery) { d.Hash = deliveryOf(k, nil).Hash }, hire.ReasonMalformed},
			"before a deal":   {func(d *service.Delivery) { *d = deliveryOf(early, content) }, hire.ReasonState},
			"to nobody":       {func(d *service.Delivery) { d.Seeker = h.worker.ID }, hire.ReasonParty},
			"no conversation": {func(d *service.Delivery) { d.Conversation = "conv" }, hire.ReasonParty},
		} {
			changed := d
			c.change(&changed)
			require.Equal(t, c.reason, reasonOf(t, deliver(changed, content)), name)
		}
		require.Equal(t, hire.ReasonMalformed, reasonOf(t, deliver(d, make([]byte, hire.MaxDelivery+1))))
		for i := range 8 {
			content := []byte{byte(i)}
			require.NoError(t, deliver(deliveryOf(k, content), content))
			require.NoError(t, deliver(deliveryOf(k, content), content), "again")
		}
		require.Equal(t, hire.ReasonTooMany, reasonOf(t, deliver(d, content)))
		for _, agent := range []string{k.Seeker.ID, k.Worker.ID} {
			got, err := h.Delivery(t.Context(), agent, deliveryOf(k, []byte{3}).Hash)
			require.NoError(t, err)
			require.Equal(t, []byte{3}, got)
		}
		_, err := h.Delivery(t.Context(), early.Seeker.ID, deliveryOf(k, []byte{3}).Hash)
		require.ErrorIs(t, err, store.ErrNotFound)

		next := h.talk()
		h.agree(t, next)
		large := bytes.Repeat([]byte{1}, hire.MaxDelivery)
		require.NoError(t, deliver(deliveryOf(next, large), large))
		large[0] = 2
		require.ErrorAs(t, deliver(deliveryOf(next, large), large), new(*service.Overload))
		h.pass(91 * 24 * time.Hour)
		stop := h.run(t) // deletes old deliveries
		require.Eventually(t, func() bool { return deliver(deliveryOf(next, large), large) == nil }, time.Minute, time.Millisecond)
		stop()
	})
}
