package haggle

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
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

// settledDeal is a settled negotiation as a node shows it. Tests change single values.
type settledDeal struct {
	negotiation *protocol.Negotiation
	settled     *protocol.NegotiationSettled
	// events holds the settling transaction's remaining events.
	events []protocol.Event
	// paid is the change of the seller's token account in that transaction, owner the account's owner, and
	// balance the present balance.
	paid, balance uint64
	owner         solana.PublicKey
	signature     solana.Signature
	// closed removes the negotiation's account, unsettled the transaction.
	closed, unsettled bool
	// sold makes the token account another wallet's after the payment.
	sold bool
	// delay is the time until the node shows the settlement.
	delay time.Duration
	// before holds events of an older transaction.
	before []protocol.Event
	// claim is the payment of a later transaction with claimed events; if there are no events, there is none.
	claim   uint64
	claimed []protocol.Event
	// lock protects commitments: two nodes can show one deal.
	lock sync.Mutex
	// commitments counts the requests by commitment.
	commitments map[rpc.CommitmentType]int
}

func newSettledDeal(seller solana.PublicKey) *settledDeal {
	return &settledDeal{
		negotiation: &protocol.Negotiation{
			Buyer: solana.PublicKey{7}, Seller: seller, TokenMint: keptMint, CreatedAt: 1_000,
			Status: protocol.NegotiationStatusSettled, PaidGross: 4_000, Version: protocol.NegotiationVersion,
		},
		settled: &protocol.NegotiationSettled{
			NegotiationID: watchedNegotiation, Seller: seller, TokenMint: keptMint, SettledAmount: 4_000,
			ProtocolFee: 20, Timestamp: 1_060,
		},
		paid: 3_980, balance: 9_000, owner: seller, signature: solana.Signature{9},
		commitments: make(map[rpc.CommitmentType]int),
	}
}

var claimSignature = solana.Signature{10}

var paidAccount = solana.PublicKey{55}

func (d *settledDeal) recorded(amount uint64) {
	d.events = append(d.events, &protocol.PayoutRecorded{NegotiationID: watchedNegotiation, Party: testPayee,
		Amount: amount})
}

// claimedLater records the seller's payment and pays it in a later transaction.
func (d *settledDeal) claimedLater(amount uint64) {
	d.recorded(d.paid)
	d.paid, d.claim = 0, amount
	d.claimed = []protocol.Event{&protocol.PayoutClaimed{NegotiationID: watchedNegotiation, Party: testPayee,
		Amount: amount}}
}

func (d *settledDeal) bond(amount uint64) {
	d.events = append(d.events, &protocol.BondSettled{NegotiationID: watchedNegotiation, To: testPayee,
		Amount: amount})
}

func (d *settledDeal) tranche(amount uint64) {
	d.events = append(d.events, &protocol.MilestoneReleased{NegotiationID: watchedNegotiation,
		SellerAmount: amount})
}

// previous makes the deal newer than the settlement.
func (d *settledDeal) previous() {
	d.closed, d.settled.Timestamp = true, 999
	d.before = []protocol.Event{&protocol.NegotiationCreated{NegotiationID: watchedNegotiation, Timestamp: 900}}
}

// finalizedAfter makes the node show the settlement after a delay.
func (d *settledDeal) finalizedAfter(delay time.Duration) { d.delay = delay }

// node returns a node that shows the deal.
func (d *settledDeal) node(t *testing.T) jsonrpc.RPCClient {
	began := time.Now()
	unsettled := func() bool { return d.unsettled || time.Since(began) < d.delay }
	_, scripted, tx := newScripted(t, map[string]func(int) (any, error){
		"getGenesisHash": always(solana.Hash{5}.String()),
		"getSlot":        always(testSlot),
	})
	older := solana.Signature{8}
	scripted.list = func(options rpc.M) any {
		d.lock.Lock()
		d.commitments[options["commitment"].(rpc.CommitmentType)]++
		d.lock.Unlock()
		listed := []object{{"signature": older, "slot": testSlot - 1, "err": nil}}
		if unsettled() {
			return listed
		}
		listed = append([]object{{"signature": d.signature, "slot": testSlot, "err": nil}}, listed...)
		if len(d.claimed) > 0 {
			listed = append([]object{{"signature": claimSignature, "slot": testSlot, "err": nil}}, listed...)
		}
		return listed
	}
	scripted.each = func(address solana.PublicKey) any {
		switch {
		case address == paidAccount:
			owner := d.owner
			if d.sold {
				owner = testSeller
			}
			data := tokenAccountData(owner, token.StateInitialized)
			binary.LittleEndian.PutUint64(data[tokenAccountOffsetAmt:], d.balance)
			return storedAccount(solana.TokenProgramID, data)
		case address == watchedNegotiation && !d.closed:
			shown := *d.negotiation
			if unsettled() && shown.Status == protocol.NegotiationStatusSettled && d.delay > 0 {
				shown.Status = protocol.NegotiationStatusProposed
			}
			return storedAccount(protocol.ProgramID, shown.Encode())
		}
		return nil
	}
	scripted.transaction = func(signature solana.Signature) any {
		executed := *tx
		executed.Signatures = []solana.Signature{signature}
		encoded, err := executed.MarshalBinary()
		require.NoError(t, err)
		balance := func(amount uint64) any {
			return []any{object{"accountIndex": len(tx.Message.AccountKeys), "mint": keptMint, "owner": d.owner,
				"uiTokenAmount": object{"amount": strconv.FormatUint(amount, 10)}}}
		}
		logs, before := eventLogs(d.before...), uint64(100)
		after := before
		switch signature {
		case claimSignature:
			logs, after = eventLogs(d.claimed...), before+d.claim
		case d.signature:
			logs, after = eventLogs(append([]protocol.Event{d.settled}, d.events...)...), before+d.paid
		}
		return object{"slot": testSlot, "version": "legacy",
			"transaction": []any{solana.Data{Content: encoded, Encoding: solana.EncodingBase64}.String(), "base64"},
			"meta": object{"err": nil, "fee": 5_000, "logMessages": logs,
				"loadedAddresses":  object{"writable": []any{paidAccount}, "readonly": []any{}},
				"preTokenBalances": balance(before), "postTokenBalances": balance(after)}}
	}
	return scripted
}

func (d *settledDeal) settlement() Settlement {
	return Settlement{Negotiation: watchedNegotiation, CreatedAt: d.negotiation.CreatedAt,
		Seller: d.negotiation.Seller, Mint: keptMint, Price: 4_000}
}

// shownDeal is a deal as a node shows it.
type shownDeal interface {
	comparable
	node(t *testing.T) jsonrpc.RPCClient
}

// verify verifies a settlement at nodes that show the deals; nil is an unreachable node.
func verify[D shownDeal](t *testing.T, settlement Settlement, deals ...D) (verified error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client, err := NewClient(Config{Endpoint: "http://localhost"})
		require.NoError(t, err)
		var nodes []jsonrpc.RPCClient
		for _, deal := range deals {
			if deal == *new(D) {
				broken := failing(errors.New("connection refused"))
				nodes = append(nodes, &scriptedNode{calls: make(map[string]int), answers: map[string]func(int) (any, error){
					"getMultipleAccounts": broken, "getGenesisHash": broken}})
				continue
			}
			nodes = append(nodes, deal.node(t))
		}
		client.useNodes(nodes...)
		verified = client.VerifySettlement(t.Context(), settlement)
		require.NoError(t, client.Close())
	})
	return verified
}

var testPayee = solana.PublicKey{6}

// deal returns a settled deal with changes.
func deal(changes ...func(*settledDeal)) *settledDeal {
	d := newSettledDeal(testPayee)
	for _, change := range changes {
		change(d)
	}
	return d
}

func TestSettlementNeedsTwoNodes(t *testing.T) {
	settlement := deal().settlement()
	require.NoError(t, verify(t, settlement, deal(), deal()))
	require.NoError(t, verify(t, settlement, deal(), nil, deal()))

	for name, nodes := range map[string][]*settledDeal{
		"the only one": {deal()}, "the only one that responds": {deal(), nil},
	} {
		err := verify(t, settlement, nodes...)
		require.ErrorIs(t, err, transaction.ErrSingleSource, name)
		require.ErrorContains(t, err, ": one", name)

		accepted := settlement
		accepted.SingleSourceUpTo = settlement.Price - 1
		require.ErrorIs(t, verify(t, accepted, nodes...), transaction.ErrSingleSource, name)
		accepted.SingleSourceUpTo = settlement.Price
		require.NoError(t, verify(t, accepted, nodes...), name)
	}
	err := verify[*settledDeal](t, settlement, nil, nil)
	require.ErrorContains(t, err, "no node responds")
	require.NotErrorIs(t, err, transaction.ErrSingleSource)
}

func TestSettlementContradictedByANodeIsAnError(t *testing.T) {
	settlement := deal().settlement()
	settlement.SingleSourceUpTo = settlement.Price // one node's word does not outweigh another's
	for want, honest := range map[string]*settledDeal{
		"two: status is Proposed": deal(func(d *settledDeal) {
			d.negotiation.Status, d.unsettled = protocol.NegotiationStatusProposed, true
		}),
		"two: status is Rejected": deal(func(d *settledDeal) {
			d.negotiation.Status, d.unsettled = protocol.NegotiationStatusRejected, true
		}),
		"is paid 3000 base units": deal(func(d *settledDeal) { d.negotiation.PaidGross = 3_000 }),
		"two: no settlement since": deal(func(d *settledDeal) {
			d.closed, d.unsettled = true, true
			d.before = []protocol.Event{&protocol.NegotiationCreated{NegotiationID: watchedNegotiation,
				Timestamp: d.negotiation.CreatedAt}}
		}),
		"two: negotiation is still the previous one": deal(func(d *settledDeal) { d.negotiation.CreatedAt-- }),
		"two: settled by 1111":                       deal(func(d *settledDeal) { d.signature = solana.Signature{63: 1} }),
		"two: token account " + paidAccount.String() + " holds 3979": deal(func(d *settledDeal) {
			d.balance = 3_979
		}),
	} {
		err := verify(t, settlement, deal(), honest)
		var contradiction *transaction.ContradictionError
		require.ErrorAs(t, err, &contradiction, want)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "one: settled by "+deal().signature.String())
		require.NotErrorIs(t, err, ErrNotAsExpected)
	}
}

func TestSettlementThatNoNodeShowsIsNotAsExpected(t *testing.T) {
	for want, change := range map[string]func(*settledDeal){
		"status is Countered": func(d *settledDeal) {
			d.negotiation.Status, d.unsettled = protocol.NegotiationStatusCountered, true
		},
		"seller " + testSeller.String():                                   func(d *settledDeal) { d.settled.Seller = testSeller },
		"is paid 3999 base units":                                         func(d *settledDeal) { d.settled.SettledAmount = 3_999 },
		"pays the seller 3979 base units instead of 3980":                 func(d *settledDeal) { d.paid-- },
		"pays the seller 0 base units instead of 3980":                    func(d *settledDeal) { d.owner = testSeller },
		"payment of 3980 base units is recorded for the seller":           func(d *settledDeal) { d.recorded(3_980) },
		"pays the seller 3978 base units instead of 3980":                 func(d *settledDeal) { d.claimedLater(3_978) },
		"pays the seller 3980 base units instead of 4480":                 func(d *settledDeal) { d.bond(500) },
		"no settling transaction found":                                   func(d *settledDeal) { d.unsettled = true },
		"no settlement since the creation":                                func(d *settledDeal) { d.previous() },
		"not the seller's token account":                                  func(d *settledDeal) { d.sold = true },
		"pays the seller 3980 base units instead of 18446744073709551615": func(d *settledDeal) { d.tranche(math.MaxUint64) },
		"amounts of the events overflow":                                  func(d *settledDeal) { d.tranche(math.MaxUint64); d.tranche(1) },
	} {
		err := verify(t, deal().settlement(), deal(change), deal(change))
		require.ErrorIs(t, err, ErrNotAsExpected, want)
		require.ErrorContains(t, err, want)
	}
}

func TestSettlementsOfAnyFormAreVerified(t *testing.T) {
	for name, change := range map[string]func(*settledDeal){
		"closed":                         func(d *settledDeal) { d.closed = true },
		"address used again":             func(d *settledDeal) { d.negotiation.CreatedAt = 2_000 },
		"settled in the creation second": func(d *settledDeal) { d.settled.Timestamp = 1_000 },
		"closed after the creation second": func(d *settledDeal) {
			d.settled.Timestamp, d.closed = 1_000, true
			d.before = []protocol.Event{&protocol.NegotiationCreated{NegotiationID: watchedNegotiation,
				Timestamp: 1_000}}
		},
		"claimed later":  func(d *settledDeal) { d.claimedLater(3_980) },
		"last milestone": func(d *settledDeal) { d.paid = 400; d.tranche(400) },
		"with the bond":  func(d *settledDeal) { d.paid = 4_480; d.bond(500) },
		"buyer's bond":   func(d *settledDeal) { d.events = append(d.events, &protocol.BondSettled{To: testSeller, Amount: 9}) },
		"after finality": func(d *settledDeal) { d.finalizedAfter(20 * time.Second) },
	} {
		d := deal(change)
		settlement := deal().settlement()
		if name == "address used again" {
			d.before = []protocol.Event{&protocol.NegotiationCreated{NegotiationID: watchedNegotiation,
				Timestamp: 1_000}}
		}
		require.NoError(t, verify(t, settlement, d, d), name)
	}
}

// A buyer can create a negotiation in the transaction that settles and closes the previous negotiation with
// that address.
func TestSettlementOfThePreviousNegotiationDoesNotCount(t *testing.T) {
	previous := func(d *settledDeal) {
		d.closed = true
		d.settled.Timestamp = d.negotiation.CreatedAt
		d.events = []protocol.Event{&protocol.NegotiationClosed{NegotiationID: watchedNegotiation},
			&protocol.NegotiationCreated{NegotiationID: watchedNegotiation, Timestamp: d.negotiation.CreatedAt}}
		d.before = []protocol.Event{&protocol.NegotiationCreated{NegotiationID: watchedNegotiation, Timestamp: 900}}
	}
	require.ErrorIs(t, verify(t, deal().settlement(), deal(previous), deal(previous)), ErrNotAsExpected)
}

func TestSettlementAboveALimitMustBeFinalized(t *testing.T) {
	for above, want := range map[uint64]rpc.CommitmentType{
		0: rpc.CommitmentFinalized, 3_999: rpc.CommitmentFinalized, 4_000: rpc.CommitmentConfirmed,
	} {
		d := deal()
		settlement := d.settlement()
		settlement.FinalizedAbove = above
		require.NoError(t, verify(t, settlement, d, d))
		assert.Equal(t, []rpc.CommitmentType{want}, slices.Collect(maps.Keys(d.commitments)), "%d", above)
	}
}

func TestSettlementWithoutItsTermsIsNotVerified(t *testing.T) {
	for name, change := range map[string]func(*Settlement){
		"negotiation":   func(s *Settlement) { s.Negotiation = solana.PublicKey{} },
		"creation time": func(s *Settlement) { s.CreatedAt = 0 },
		"seller":        func(s *Settlement) { s.Seller = solana.PublicKey{} },
		"mint":          func(s *Settlement) { s.Mint = solana.PublicKey{} },
		"price":         func(s *Settlement) { s.Price = 0 },
	} {
		settlement := deal().settlement()
		change(&settlement)
		require.ErrorContains(t, verify(t, settlement, deal(), deal()), "not set", name)
	}
}
