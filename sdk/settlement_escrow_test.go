package haggle

import (
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// agreedDeal is an agreed negotiation as a node shows it. Tests change single values.
type agreedDeal struct {
	negotiation *protocol.Negotiation
	// missing names the accounts that the node does not show.
	missing struct{ negotiation, vault bool }
	// held is the balance of the vault, owner the owner, and state the state.
	held  uint64
	owner solana.PublicKey
	state token.State
	// delegated adds a delegate to the vault, and mint is the vault's mint.
	delegated bool
	mint      solana.PublicKey
	// status is the status until delay is over.
	status protocol.NegotiationStatus
	delay  time.Duration
	// lock protects commitments, the requests' commitments: two nodes can show the same deal.
	lock        sync.Mutex
	commitments map[rpc.CommitmentType]bool
}

// agreed returns a deal of 4,000 base units in two tranches. The vault also owes 100 of decay.
func agreed(changes ...func(*agreedDeal)) *agreedDeal {
	d := &agreedDeal{
		negotiation: &protocol.Negotiation{
			Buyer: solana.PublicKey{7}, Seller: testPayee, TokenMint: keptMint, CreatedAt: 1_000,
			Status: protocol.NegotiationStatusAccepted, SettledAmount: 4_000, Version: protocol.NegotiationVersion,
			MilestoneBps: [8]uint16{5_000, 5_000}, EscrowAmount: 10_000, EffectiveEscrow: 9_900, ProtocolFeeBps: 50,
		},
		held: 4_100, owner: watchedNegotiation, state: token.StateInitialized, mint: keptMint,
		commitments: make(map[rpc.CommitmentType]bool),
	}
	for _, change := range changes {
		change(d)
	}
	return d
}

// node returns a node that shows the deal.
func (d *agreedDeal) node(t *testing.T) jsonrpc.RPCClient {
	began := time.Now()
	vault, _, err := protocol.FindVaultAddress(watchedNegotiation)
	require.NoError(t, err)
	_, scripted, _ := newScripted(t, map[string]func(int) (any, error){
		"getGenesisHash": always(solana.Hash{5}.String()),
		"getSlot":        always(testSlot),
	})
	scripted.each = func(address solana.PublicKey) any {
		switch {
		case address == watchedNegotiation && !d.missing.negotiation:
			shown := *d.negotiation
			if time.Since(began) < d.delay {
				shown.Status = d.status
			}
			return storedAccount(protocol.ProgramID, shown.Encode())
		case address == vault && !d.missing.vault:
			data := tokenAccountData(d.owner, d.state)
			copy(data, d.mint[:])
			binary.LittleEndian.PutUint64(data[tokenAccountOffsetAmt:], d.held)
			if d.delegated {
				data[72], data[76] = 1, 1
			}
			return storedAccount(solana.TokenProgramID, data)
		}
		return nil
	}
	return accountReads{scripted, d}
}

// accountReads is a node that records the commitments of requested accounts.
type accountReads struct {
	*scriptedNode
	deal *agreedDeal
}

func (n accountReads) CallForInto(ctx context.Context, out any, method string, params []any) error {
	if method == "getMultipleAccounts" {
		n.deal.lock.Lock()
		n.deal.commitments[params[1].(rpc.M)["commitment"].(rpc.CommitmentType)] = true
		n.deal.lock.Unlock()
	}
	return n.scriptedNode.CallForInto(ctx, out, method, params)
}

func (d *agreedDeal) settlement() Settlement {
	return Settlement{Negotiation: watchedNegotiation, CreatedAt: 1_000, Seller: testPayee, Mint: keptMint,
		Price: 4_000, Agreed: true}
}

func TestEscrowNeedsTwoNodes(t *testing.T) {
	escrow := agreed().settlement()
	require.NoError(t, verify(t, escrow, agreed(), agreed()))
	require.NoError(t, verify(t, escrow, agreed(), nil, agreed()))
	for name, nodes := range map[string][]*agreedDeal{
		"the only one": {agreed()}, "the only one that responds": {agreed(), nil},
	} {
		err := verify(t, escrow, nodes...)
		require.ErrorIs(t, err, transaction.ErrSingleSource, name)
		require.ErrorContains(t, err, "escrow of "+watchedNegotiation.String(), name)

		accepted := escrow
		accepted.SingleSourceUpTo = escrow.Price - 1
		require.ErrorIs(t, verify(t, accepted, nodes...), transaction.ErrSingleSource, name)
		accepted.SingleSourceUpTo = escrow.Price
		require.NoError(t, verify(t, accepted, nodes...), name)
	}
	require.ErrorContains(t, verify[*agreedDeal](t, escrow, nil, nil), "no node responds")
}

func TestEscrowContradictedByANodeIsAnError(t *testing.T) {
	escrow := agreed().settlement()
	escrow.SingleSourceUpTo = escrow.Price // one node's word does not outweigh another's
	for want, change := range map[string]func(*agreedDeal){
		"two: status is Proposed":                func(d *agreedDeal) { d.negotiation.Status = protocol.NegotiationStatusProposed },
		"two: status is Rejected":                func(d *agreedDeal) { d.negotiation.Status = protocol.NegotiationStatusRejected },
		"has agreed on 3999 base units":          func(d *agreedDeal) { d.negotiation.SettledAmount-- },
		"holds 4099 base units":                  func(d *agreedDeal) { d.held-- },
		"two: no negotiation is at the address":  func(d *agreedDeal) { d.missing.negotiation = true },
		"two: negotiation is still the previous": func(d *agreedDeal) { d.negotiation.CreatedAt-- },
		"two: status is Expired": func(d *agreedDeal) { // an end is final, so the node is not requested again
			d.status, d.delay = protocol.NegotiationStatusExpired, time.Second
		},
	} {
		for _, nodes := range [][]*agreedDeal{{agreed(), agreed(change)}, {agreed(), agreed(change), agreed()}} {
			err := verify(t, escrow, nodes...)
			var contradiction *transaction.ContradictionError
			require.ErrorAs(t, err, &contradiction, want)
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, "one: agreed and in escrow")
			require.NotErrorIs(t, err, ErrNotAsExpected)
		}
	}
}

func TestEscrowThatNoNodeShowsIsNotAsExpected(t *testing.T) {
	for want, change := range map[string]func(*agreedDeal){
		"status is Countered":                      func(d *agreedDeal) { d.negotiation.Status = protocol.NegotiationStatusCountered },
		"status is Rejected":                       func(d *agreedDeal) { d.negotiation.Status = protocol.NegotiationStatusRejected },
		"status is Expired":                        func(d *agreedDeal) { d.negotiation.Status = protocol.NegotiationStatusExpired },
		"status is Settled":                        func(d *agreedDeal) { d.negotiation.Status = protocol.NegotiationStatusSettled },
		"seller " + testSeller.String():            func(d *agreedDeal) { d.negotiation.Seller = testSeller },
		"has agreed on 3000 base units":            func(d *agreedDeal) { d.negotiation.SettledAmount = 3_000 },
		"base units of mint " + otherMint.String(): func(d *agreedDeal) { d.negotiation.TokenMint = otherMint },
		"a later negotiation is at the address":    func(d *agreedDeal) { d.negotiation.CreatedAt++ },
		"no negotiation is at the address":         func(d *agreedDeal) { d.missing.negotiation = true },
		"cannot be decoded":                        func(d *agreedDeal) { d.negotiation.Version++ },
		"does not exist":                           func(d *agreedDeal) { d.missing.vault = true },
		"holds 4099 base units":                    func(d *agreedDeal) { d.held-- },
		"holds 4100 base units, less":              func(d *agreedDeal) { d.negotiation.ClaimableBuyer = 1 },
		"is frozen":                                func(d *agreedDeal) { d.state = token.StateFrozen },
	} {
		err := verify(t, agreed().settlement(), agreed(change), agreed(change))
		require.ErrorIs(t, err, ErrNotAsExpected, want)
		require.ErrorContains(t, err, want)
	}
	for name, change := range map[string]func(*agreedDeal){
		"owner":    func(d *agreedDeal) { d.owner = testSeller },
		"mint":     func(d *agreedDeal) { d.mint = otherMint },
		"delegate": func(d *agreedDeal) { d.delegated = true },
	} {
		err := verify(t, agreed().settlement(), agreed(change), agreed(change))
		require.ErrorContains(t, err, "is not the negotiation's vault", name)
	}
}

var otherMint = solana.PublicKey{91}

// The vault owes the undecided part of the price, preceded by all other debts.
func TestVaultHoldsEverythingThatItOwes(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*protocol.Negotiation)
		owed   uint64
	}{
		"everything undecided": {func(*protocol.Negotiation) {}, 4_100},
		"a tranche paid":       {func(n *protocol.Negotiation) { n.MilestonesDecided, n.PaidGross = 1, 2_000 }, 2_000 + 10 + 100},
		"bond":                 {func(n *protocol.Negotiation) { n.BondRequired, n.BondState = 700, protocol.BondStateHeld }, 4_800},
		"returned bond":        {func(n *protocol.Negotiation) { n.BondRequired, n.BondState = 700, protocol.BondStateReturned }, 4_100},
		"payouts": {func(n *protocol.Negotiation) {
			n.ClaimableBuyer, n.ClaimableSeller = 30, 4
		}, 4_134},
		"payouts that overflow": {func(n *protocol.Negotiation) { n.ClaimableBuyer = 1<<64 - 4_000 }, 0},
	} {
		held := func(amount uint64) *agreedDeal {
			return agreed(func(d *agreedDeal) { c.change(d.negotiation); d.held = amount })
		}
		escrow := agreed().settlement()
		if c.owed == 0 {
			require.ErrorIs(t, verify(t, escrow, held(4_200), held(4_200)), ErrNotAsExpected, name)
			continue
		}
		require.NoError(t, verify(t, escrow, held(c.owed), held(c.owed)), name)
		require.ErrorIs(t, verify(t, escrow, held(c.owed-1), held(c.owed-1)), ErrNotAsExpected, name)
	}
}

func TestEscrowOfANodeThatIsBehindIsAwaited(t *testing.T) {
	behind := agreed(func(d *agreedDeal) {
		d.status, d.delay = protocol.NegotiationStatusCountered, 20*time.Second
	})
	require.NoError(t, verify(t, agreed().settlement(), agreed(), behind))

	// An agreement taken back by a fork does not count, although nodes showed it.
	rejected := func() *agreedDeal {
		return agreed(func(d *agreedDeal) { d.negotiation.Status = protocol.NegotiationStatusRejected })
	}
	err := verify(t, agreed().settlement(), rejected(), agreed(func(d *agreedDeal) {
		d.negotiation.Status = protocol.NegotiationStatusRejected
		d.status, d.delay = protocol.NegotiationStatusProposed, 20*time.Second
	}))
	require.ErrorIs(t, err, ErrNotAsExpected)
	require.ErrorContains(t, err, "status is Rejected")
}

func TestEscrowAboveALimitMustBeFinalized(t *testing.T) {
	for above, want := range map[uint64]rpc.CommitmentType{
		0: rpc.CommitmentFinalized, 3_999: rpc.CommitmentFinalized, 4_000: rpc.CommitmentConfirmed,
	} {
		d := agreed()
		escrow := d.settlement()
		escrow.FinalizedAbove = above
		require.NoError(t, verify(t, escrow, d, d))
		assert.Equal(t, []rpc.CommitmentType{want}, slices.Collect(maps.Keys(d.commitments)), "%d", above)
	}
}
