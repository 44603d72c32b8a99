package service_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
)

var settlementKey = hiretest.Named("settlement").Key

// settled configures a settlement with an empty chain.
func settled(on *hiretest.Chain) func(*service.Config) {
	return func(c *service.Config) {
		*on = *hiretest.NewChain()
		c.Settlement = &service.Settlement{
			Key: settlementKey, Genesis: solana.Hash{9}, Assets: escrow.Assets("devnet"), Snapshots: on.Snapshots,
		}
	}
}

// open creates a conversation's required negotiation, after applying change.
func open(t *testing.T, on *hiretest.Chain, h *home, k *hiretest.Talk, change func(*haggle.Snapshot)) escrow.Terms {
	t.Helper()
	return on.Open(t, k, h.state(t, k), h.now(), change)
}

func asRequired(*haggle.Snapshot) {}

// Both sides get one copy of the contract, by two homes with one database as well.
func TestContractIsSignedOnceTheEscrowIsOnChain(t *testing.T) {
	on := new(hiretest.Chain)
	onBoth(t, settled(on), func(t *testing.T, h *home) {
		k := h.talk()
		h.agree(t, k)
		before := h.state(t, k)
		h.run(t)
		h.another(t).run(t)
		<-on.Looked
		require.Empty(t, h.state(t, k).SeekerContract, "there is no escrow")
		terms := open(t, on, h, k, asRequired)

		settlement, err := terms.Settlement(solana.Hash{9})
		require.NoError(t, err)
		copies := map[string]*hire.Message{}
		for agent, after := range map[string]int64{k.Seeker.ID: 2, k.Worker.ID: 2} {
			m := h.received(t, agent, after, 1)[0]
			copies[agent] = m
			require.NoError(t, m.Verify(settlementKey.Public().(ed25519.PublicKey)))
			require.Equal(t, &hire.Contract{
				Reply: hire.Reply{InReplyTo: before.Last}, Terms: before.Terms, SeekerAccept: before.SeekerAccept,
				WorkerAccept: before.WorkerAccept, Settlement: settlement,
			}, m.Payload())
		}
		after := h.state(t, k)
		require.Equal(t, copies[k.Seeker.ID].Hash(), after.SeekerContract)
		require.Equal(t, copies[k.Worker.ID].Hash(), after.WorkerContract)
		require.Len(t, h.messages(t, k), 6, "each side has one copy")
		require.Equal(t, hire.ReasonDuplicate, reasonOf(t, h.Receive(t.Context(), copies[k.Seeker.ID])))

		// Nothing is left to do for the deal.
		awaiting, err := h.config.Store.AwaitingContract(t.Context(), h.now().Add(-time.Hour))
		require.NoError(t, err)
		require.Empty(t, awaiting)
		page, err := h.Conversations(t.Context(), service.Selection{Agent: k.Worker.ID, Open: true})
		require.NoError(t, err)
		require.Empty(t, page.States)
		page, err = h.Conversations(t.Context(), service.Selection{Agent: k.Worker.ID, Session: &terms.Session})
		require.NoError(t, err)
		require.Len(t, page.States, 1)
	})
}

// The settlement key signs contracts at home only: no stranger holds the key or can forge messages by it.
func TestContractFromOutsideIsRefused(t *testing.T) {
	on := new(hiretest.Chain)
	onBoth(t, settled(on), func(t *testing.T, h *home) {
		k := h.talk()
		h.agree(t, k)
		state := h.state(t, k)
		terms := open(t, on, h, k, asRequired)
		contract, err := escrow.Contract(state, terms, solana.Hash{9})
		require.NoError(t, err)
		for name, c := range map[string]struct {
			from, key hiretest.Agent
			reason    hire.Reason
		}{
			"by a party":  {hiretest.Named("settlement"), k.Seeker, hire.ReasonParty},
			"by its key":  {hiretest.Named("settlement"), hiretest.Named("settlement"), hire.ReasonParty},
			"as a party":  {k.Seeker, k.Seeker, hire.ReasonRole},
			"as a system": {hiretest.Named("another"), hiretest.Named("another"), hire.ReasonRole},
		} {
			m := hiretest.Sign(t, c.key, hire.Draft{
				From: c.from.ID, To: k.Worker.ID, At: h.now(), Conversation: k.Conversation, Payload: contract,
			})
			require.Equal(t, c.reason, reasonOf(t, h.Receive(t.Context(), m)), name)
		}
	})
}

// A process killed between the two copies has sent only one. The next process sends the missing copy, with
// the same settlement, even if the negotiation no longer exists.
func TestSecondCopyFollowsAfterARestart(t *testing.T) {
	on := new(hiretest.Chain)
	onBoth(t, settled(on), func(t *testing.T, h *home) {
		for _, seekerFirst := range []bool{true, false} {
			k := h.talk()
			h.agree(t, k)
			contract, err := escrow.Contract(h.state(t, k), open(t, on, h, k, asRequired), solana.Hash{9})
			require.NoError(t, err)
			on.Clear()
			first, second := k.Seeker, k.Worker
			if !seekerFirst {
				first, second = second, first
			}
			require.NoError(t, h.SendCopy(t.Context(), idOf(k), hiretest.Sign(t, hiretest.Named("settlement"), hire.Draft{
				From: hiretest.Named("settlement").ID, To: first.ID, At: h.now(), Conversation: k.Conversation,
				Payload: contract,
			})))
			h.reopen(t)
			before := last(t, h, second.ID)
			require.NoError(t, h.LookForEscrows(t.Context()))
			require.Equal(t, contract, h.received(t, second.ID, int64(before), 1)[0].Payload())
			require.Len(t, h.messages(t, k), 6)
		}
	})
}

// If a negotiation differs from the terms, or a deal cannot be settled, there is no contract, and this is
// logged once.
func TestOtherEscrowGetsNoContract(t *testing.T) {
	on := new(hiretest.Chain)
	onBoth(t, settled(on), func(t *testing.T, h *home) {
		wrong, right, unsettled := h.talk(), h.talk(), h.talk()
		h.agree(t, wrong)
		h.agree(t, right)
		h.send(t, unsettled, hire.RoleSeeker, hire.TypeProposal)
		unsettled.Terms.Price = "4 DOGE"
		counter := unsettled.Payload(hire.TypeCounter, h.now()).(*hire.Counter)
		counter.Price = "4 DOGE"
		m := hiretest.Sign(t, h.worker, hire.Draft{
			From: h.worker.ID, To: unsettled.Seeker.ID, At: h.now(), Conversation: unsettled.Conversation, Payload: counter,
		})
		require.NoError(t, h.Receive(t.Context(), m))
		unsettled.Stored(m)
		h.send(t, unsettled, hire.RoleSeeker, hire.TypeAccept)
		h.send(t, unsettled, hire.RoleWorker, hire.TypeAccept)
		open(t, on, h, wrong, func(n *haggle.Snapshot) { n.Arbiter = n.Buyer })
		open(t, on, h, right, asRequired)
		for range 2 {
			require.NoError(t, h.LookForEscrows(t.Context()))
			h.pass(time.Second)
		}
		require.NotEmpty(t, h.state(t, right).SeekerContract)
		for _, k := range []*hiretest.Talk{wrong, unsettled} {
			require.Empty(t, h.state(t, k).SeekerContract)
			require.Len(t, h.messages(t, k), 4)
		}
		require.Equal(t, 1, strings.Count(h.log.String(), "arbiter is"))
		require.Equal(t, 1, strings.Count(h.log.String(), "deal without a settlement"))
	})
}

// The home looks for an escrow for an hour, and then no more. A new deal is looked for again.
func TestHomeStopsLookingForAnEscrow(t *testing.T) {
	on := new(hiretest.Chain)
	onBoth(t, settled(on), func(t *testing.T, h *home) {
		k := h.talk()
		h.agree(t, k)
		require.NoError(t, h.LookForEscrows(t.Context()))
		require.Equal(t, 1, on.Looks)
		require.NoError(t, h.LookForEscrows(t.Context()))
		require.Equal(t, 1, on.Looks, "the next look is later")
		on.Looks = 0
		for passed := time.Duration(0); passed < 2*time.Hour; passed += time.Second {
			h.pass(time.Second)
			require.NoError(t, h.LookForEscrows(t.Context()))
		}
		require.InDelta(t, 120+480/5+3000/30, on.Looks, 5)
		open(t, on, h, k, asRequired)
		h.agree(t, k)
		open(t, on, h, k, asRequired)
		require.NoError(t, h.LookForEscrows(t.Context()))
		require.NotEmpty(t, h.state(t, k).WorkerContract)
	})
}

// An unresponsive chain delays contracts, and nothing else.
func TestChainThatFailsIsAskedAgain(t *testing.T) {
	on := new(hiretest.Chain)
	h := newHome(t, t.TempDir()+"/home.db", settled(on))
	failing := true
	h.config.Settlement.Snapshots = func(
		ctx context.Context, level rpc.CommitmentType, all ...solana.PublicKey,
	) ([]*haggle.Snapshot, error) {
		if failing {
			return nil, errors.New("no node responds")
		}
		return on.Snapshots(ctx, level, all...)
	}
	k := h.talk()
	h.agree(t, k)
	open(t, on, h, k, asRequired)
	require.ErrorContains(t, h.LookForEscrows(t.Context()), "no node responds")
	require.Empty(t, h.state(t, k).SeekerContract)
	failing = false
	h.pass(time.Second)
	require.NoError(t, h.LookForEscrows(t.Context()))
	require.NotEmpty(t, h.state(t, k).SeekerContract)
	require.NotEmpty(t, h.state(t, k).WorkerContract)
}
