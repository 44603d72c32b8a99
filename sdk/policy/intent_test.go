package policy_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	systemprogram "github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

var lamports = solana.PublicKey{}

// createUntil returns a creation with deadlines, which are later each time an action is built again.
func (s *stage) createUntil(session, escrow uint64, deadline int64) solana.Instruction {
	creation := s.creation(friend, session, escrow)
	creation.Params.GlobalDeadline = deadline
	return s.build(creation)
}

func (s *stage) offerOn(deal int64, negotiation solana.PublicKey, round uint8, amount uint64) solana.Instruction {
	return s.build(&protocol.SubmitOffer{
		Offerer: s.wallet(), Negotiation: negotiation, CreatedAt: deal, ExpectedRound: round, Amount: amount,
	})
}

// Retrying an action, with a new blockhash and later deadlines, spends the money once, since the chain
// executes at most one attempt. Each attempt can cost the fee.
func TestRetryCountsOnce(t *testing.T) {
	s := newStage(t)
	for i := range 4 {
		require.NoError(t, s.sign(unitLimit(20_000+uint32(i)), s.createUntil(1, 4_000_000, int64(1_000+i))))
		s.restart()
	}
	require.EqualValues(t, 4_000_000, s.policy.Used(mint))
	require.EqualValues(t, 4_000_000, s.policy.UsedOn(s.negotiation(s.wallet(), friend, 1), mint))
	require.EqualValues(t, 4_000_000, s.policy.UsedWith(friend, mint))
	require.EqualValues(t, 6_493_680+4*5_000, s.policy.Used(lamports))

	// On the next day it counts for that day, too, but only once.
	s.now = s.now.Add(24 * time.Hour)
	require.NoError(t, s.sign(s.createUntil(1, 4_000_000, 2_000)))
	require.EqualValues(t, 4_000_000, s.policy.Used(mint))
	require.EqualValues(t, 4_000_000, s.policy.UsedWith(friend, mint))

	// A bond counts once, too. Terms that are not the same are another intent.
	address, terms := s.invitation(7, 250_000)
	s.config.Negotiations = chain{address: terms.Encode()}
	s.restart()
	for range 3 {
		require.NoError(t, s.sign(s.join(address, terms)))
	}
	require.EqualValues(t, 4_250_000, s.policy.Used(mint))
	s.denied(policy.RulePerNegotiation, s.create(friend, 1, 2_000_001))
}

// Each of several transfers can be executed: nothing makes them one.
func TestTransfersCountEach(t *testing.T) {
	s := newStage(t, everythingAllowed)
	transfer := transferTokens(s.associated(s.wallet(), mint), mint, friend, s.wallet(), 3_000_000)
	require.NoError(t, s.sign(transfer))
	require.NoError(t, s.sign(transfer))
	require.EqualValues(t, 6_000_000, s.policy.Used(mint))
	s.denied(policy.RulePerCounterparty, transfer)
	// A creation can be executed again when the deal is closed, so it does not merge them into one intent
	// either.
	s = newStage(t, everythingAllowed)
	transfer = transferTokens(s.associated(s.wallet(), mint), mint, friend, s.wallet(), 3_000_000)
	for range 2 {
		require.NoError(t, s.sign(s.create(friend, 1, 1), transfer))
	}
	require.EqualValues(t, 6_000_002, s.policy.Used(mint))
}

// A creation signed twice can be executed twice if the first deal is closed in between. The second deal
// counts as soon as the wallet signs anything for it.
func TestEachDealOfACreationCounts(t *testing.T) {
	s := newStage(t)
	address := s.negotiation(s.wallet(), friend, 1)
	require.NoError(t, s.sign(s.createUntil(1, 2_500_000, 1)))
	require.NoError(t, s.sign(s.createUntil(1, 2_500_000, 2)))
	require.NoError(t, s.sign(s.offerOn(100, address, 0, 1)))
	require.NoError(t, s.sign(s.offerOn(100, address, 2, 1)))
	require.EqualValues(t, 2_500_000, s.policy.Used(mint))
	s.restart()
	require.NoError(t, s.sign(s.offerOn(200, address, 0, 1)))
	require.EqualValues(t, 5_000_000, s.policy.Used(mint))
	require.NoError(t, s.sign(s.offerOn(200, address, 2, 1)))
	require.EqualValues(t, 5_000_000, s.policy.Used(mint))
	s.denied(policy.RulePerNegotiation, s.offerOn(300, address, 0, 1))
	s.denied(policy.RulePerNegotiation, s.createUntil(1, 2_500_000, 3)) // that is another deal, too
}

// Unspent amounts are given back when the SDK reports the transaction's outcome. The caller need not help.
func TestOutcomesGiveBack(t *testing.T) {
	s := newStage(t)
	address := s.negotiation(s.wallet(), friend, 1)
	first, second := s.message(s.create(friend, 1, 4_000_000)), s.message(s.create(friend, 1, 4_000_000))
	require.NoError(t, s.signMessage(first))
	require.NoError(t, s.signMessage(second))
	observe := func(message []byte, outcome transaction.Outcome) {
		s.policy.Settle(context.Background(), message, outcome)
		s.restart()
	}
	observe(first, transaction.Unknown)
	observe(first, transaction.NotSent)
	require.EqualValues(t, 6_493_680+2*5_000, s.policy.Used(lamports))
	observe(first, transaction.Expired)
	require.EqualValues(t, 6_493_680+5_000, s.policy.Used(lamports))
	require.EqualValues(t, 4_000_000, s.policy.Used(mint), "the second one can still be executed")
	observe(second, transaction.Failed)
	require.EqualValues(t, 5_000, s.policy.Used(lamports), "a failed transaction pays its fee")
	require.Zero(t, s.policy.Used(mint))
	require.Zero(t, s.policy.UsedOn(address, mint))
	require.Zero(t, s.policy.UsedWith(friend, mint))
	s.denied(policy.RuleNegotiation, s.offer(address, 0, 1)) // it is no longer on record
	observe(second, transaction.Expired)
	require.EqualValues(t, 5_000, s.policy.Used(lamports), "an outcome counts once")

	done := s.message(s.create(friend, 2, 1_000_000))
	require.NoError(t, s.signMessage(done))
	observe(done, transaction.Confirmed)
	observe(done, transaction.Expired)
	require.EqualValues(t, 1_000_000, s.policy.Used(mint))
	require.NoError(t, s.sign(s.create(friend, 2, 1_000_000)))
	require.EqualValues(t, 2_000_000, s.policy.Used(mint), "a creation that was executed can be executed again")
}

// outcomes is an Evidence that returns the same outcome for every transaction.
type outcomes struct {
	lock   sync.Mutex
	answer transaction.Outcome
	asked  []policy.SignedTransaction
}

func (o *outcomes) Outcome(_ context.Context, tx policy.SignedTransaction) transaction.Outcome {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.asked = append(o.asked, tx)
	return o.answer
}

func (o *outcomes) Slot(context.Context) (uint64, error) { return 99, nil }

// After crashes, no outcomes are reported. Before a limit denies a transaction, the policy looks them up
// itself.
func TestLimitsAreCheckedAfterReconciling(t *testing.T) {
	evidence := &outcomes{answer: transaction.Expired}
	s := newStage(t, func(c *policy.Config) { c.Evidence = evidence })
	ctx := haggle.Signing{LastValidBlockHeight: 77, Slot: 88}.Context(context.Background())
	_, err := s.policy.SignMessage(ctx, s.message(s.create(friend, 1, mostPerTransaction)))
	require.NoError(t, err)
	signedAt := s.now
	s.restart()
	s.denied(policy.RulePerCounterparty, s.create(friend, 2, mostPerTransaction))
	require.Empty(t, evidence.asked, "its blockhash is still valid")
	s.now = s.now.Add(2 * time.Minute)
	require.NoError(t, s.sign(s.create(friend, 2, mostPerTransaction)))
	require.EqualValues(t, mostPerTransaction, s.policy.Used(mint))
	require.Len(t, evidence.asked, 1)
	asked := evidence.asked[0]
	require.EqualValues(t, 1, asked.Blockhash[0])
	require.EqualValues(t, 77, asked.LastValidBlockHeight)
	require.EqualValues(t, 88, asked.Slot)
	require.Equal(t, signedAt.Unix(), asked.SignedAt.Unix())

	evidence.answer = transaction.Unknown
	evidence.asked = nil
	s.now = s.now.Add(2 * time.Minute)
	s.denied(policy.RulePerCounterparty, s.create(friend, 3, mostPerTransaction))
	require.EqualValues(t, mostPerTransaction, s.policy.Used(mint))
	evidence.answer = transaction.Confirmed
	s.denied(policy.RulePerCounterparty, s.create(friend, 3, mostPerTransaction))
	require.EqualValues(t, 99, evidence.asked[0].Slot, "asked for where the caller gives none")
	require.Zero(t, s.policy.Reconcile(context.Background()), "a confirmed transaction is not asked for again")
}

// An approval covers a transaction's effect. It allows a retry if the blockhash expired while the approval
// was pending, but nothing else.
func TestApprovalSurvivesANewBlockhash(t *testing.T) {
	asked := 0
	s := newStage(t, func(c *policy.Config) {
		tokens := c.Tokens[mint]
		tokens.ApproveAbove = 1_000_000
		c.Tokens[mint] = tokens
		c.Lamports.ApproveAbove = oneSOL / 100
		c.Approve = func(context.Context, *policy.Request) error { asked++; return nil }
	})
	first := s.message(s.createUntil(1, 2_000_000, 1))
	require.NoError(t, s.signMessage(first))
	s.policy.Settle(context.Background(), first, transaction.Expired)
	s.restart()
	require.NoError(t, s.sign(s.createUntil(1, 2_000_000, 2)))
	require.Equal(t, 1, asked)
	require.NoError(t, s.sign(unitLimit(1_400_000), unitPrice(5_000_000), s.createUntil(1, 2_000_000, 2)))
	require.Equal(t, 2, asked, "a fee above the threshold was not approved")
	require.NoError(t, s.sign(s.createUntil(1, 2_000_001, 1)))
	require.NoError(t, s.sign(s.createUntil(2, 2_000_000, 1)))
	require.Equal(t, 4, asked, "other amounts and sessions were not approved")
	s.now = s.now.Add(25 * time.Hour)
	require.NoError(t, s.sign(s.createUntil(2, 2_000_000, 2)))
	require.Equal(t, 5, asked, "an approval does not hold for ever")
}

// sealed returns a bonded negotiation where the wallet, as the seller, commits to a price.
func (s *stage) sealed(price uint64) (*protocol.SealedPrice, solana.Instruction, solana.Instruction) {
	s.t.Helper()
	address, n := s.invitation(1, 100_000)
	n.CreatedAt, n.ZopaEnabled, n.MinOfferBps = 7, true, 1_000
	s.config.Negotiations = chain{address: n.Encode()}
	s.restart()
	sealed, err := protocol.SealPrice(address, n, s.wallet(), price)
	require.NoError(s.t, err)
	secret, err := sealed.Secret()
	require.NoError(s.t, err)
	commit := s.build(&protocol.SubmitZopaCommitment{
		Agent: s.wallet(), Negotiation: address, CreatedAt: 7, Commitment: sealed.Commitment(),
	})
	return sealed, commit, s.build(&protocol.RevealZopaPrice{
		Agent: s.wallet(), Negotiation: address, CreatedAt: 7, Price: price, Nonce: nonceIn(s.t, secret),
	})
}

// joinSealed puts the negotiation of sealed on record.
func (s *stage) joinSealed() {
	s.t.Helper()
	address := s.negotiation(friend, s.wallet(), 1)
	data, err := s.config.Negotiations.NegotiationData(s.t.Context(), address)
	require.NoError(s.t, err)
	n := new(protocol.Negotiation)
	require.NoError(s.t, n.Decode(data))
	require.NoError(s.t, s.sign(s.join(address, n)))
}

// Commitments are checked like prices. The committed price is revealed regardless of the limits at that time:
// a withheld reveal costs the bond.
func TestACommittedPriceIsRevealed(t *testing.T) {
	atLeast := func(least uint64) func(*policy.Config) {
		return func(c *policy.Config) {
			limits := c.Tokens[mint]
			limits.MinPrice = least
			c.Tokens[mint] = limits
		}
	}
	s := newStage(t, atLeast(1_000_000))
	sign := func(sealed *protocol.SealedPrice, instructions ...solana.Instruction) error {
		_, err := s.policy.SignMessage(sealing(sealed), s.message(instructions...))
		return err
	}
	deniedBy := func(rule policy.Rule, err error) {
		t.Helper()
		var denial *policy.Denial
		require.ErrorAs(t, err, &denial)
		require.Equal(t, rule, denial.Rule)
	}
	low, commitLow, revealLow := s.sealed(999_999)
	deniedBy(policy.RuleMinPrice, sign(low, commitLow))
	deniedBy(policy.RuleMinPrice, sign(nil, revealLow))
	sealed, commit, reveal := s.sealed(1_000_000)
	deniedBy(policy.RuleCommitment, sign(nil, commit))
	deniedBy(policy.RuleCommitment, sign(low, commit))
	require.NoError(t, sign(sealed, commit))

	// The test changes everything that can change meanwhile.
	atLeast(2_000_000)(&s.config)
	s.config.Negotiations = nil
	s.config.Counterparties = []solana.PublicKey{}
	s.config.Instructions = []string{policy.ComputeBudget}
	s.config.Lamports = policy.Limits{PerTransaction: 20_000}
	s.config.Approve = func(context.Context, *policy.Request) error { return errors.New("nobody is there") }
	s.restart()
	s.denied(policy.RuleInstruction, revealLow)
	for range 3 {
		require.NoError(t, s.sign(unitLimit(1_000), unitPrice(1_000_000), reveal))
	}
	// All reveals together cost at most PerTransaction.
	s.denied(policy.RulePerDay, unitLimit(1_000), unitPrice(1_000_000), reveal)
}

// sealing returns a signing context that commits to a price.
func sealing(sealed *protocol.SealedPrice) context.Context {
	return haggle.Signing{SealedPrice: sealed}.Context(context.Background())
}

// nonceIn reads the nonce from the document that keeps a sealed price.
func nonceIn(t *testing.T, secret []byte) [32]byte {
	t.Helper()
	var document struct{ Nonce string }
	require.NoError(t, json.Unmarshal(secret, &document))
	nonce, err := hex.DecodeString(document.Nonce)
	require.NoError(t, err)
	return [32]byte(nonce)
}

// A negotiation's amounts count while it may still be active: milestones can be decided long after the
// bargaining, and durable nonce transactions can be executed years later.
func TestUsageOfANegotiationIsKeptUntilItIsOver(t *testing.T) {
	const day = 24 * time.Hour
	s := newStage(t, allowing(policy.AdvanceNonce))
	milestones := s.creation(friend, 1, 1_000_000)
	milestones.Params.MilestoneBps = [8]uint16{5_000, 5_000}
	milestones.Params.MilestoneDeadline = s.now.Add(30 * day).Unix()
	nonce := systemprogram.NewAdvanceNonceAccountInstruction(thief, solana.SysVarRecentBlockHashesPubkey, s.wallet()).Build()
	for _, message := range [][]byte{
		s.message(s.build(milestones)), s.message(nonce, s.create(friend, 2, 2_000_000)), s.message(s.create(friend, 3, 3_000_000)),
	} {
		require.NoError(t, s.signMessage(message))
		s.policy.Settle(t.Context(), message, transaction.Confirmed)
	}
	for _, c := range []struct {
		after time.Duration
		used  [3]uint64
	}{
		{day, [3]uint64{1_000_000, 2_000_000, 3_000_000}}, {40 * day, [3]uint64{1_000_000, 2_000_000, 0}},
		{20 * day, [3]uint64{0, 2_000_000, 0}}, {700 * day, [3]uint64{}},
	} {
		s.now = s.now.Add(c.after)
		s.restart()
		for i, used := range c.used {
			require.Equal(t, used, s.policy.UsedOn(s.negotiation(s.wallet(), friend, uint64(i+1)), mint), "session %d at %s", i+1, s.now)
		}
	}
}

// Usage does not grow with the number of signatures: settled messages, and usage no longer relevant to any
// limit, are removed.
func TestUsageIsPruned(t *testing.T) {
	unlimited := policy.Limits{
		PerTransaction: policy.Unlimited, PerNegotiation: policy.Unlimited, PerCounterparty: policy.Unlimited, PerDay: policy.Unlimited,
	}
	s := newStage(t, func(c *policy.Config) {
		c.Lamports = unlimited
		c.Tokens[mint] = policy.TokenLimits{Limits: unlimited, MaxTotal: policy.Unlimited}
	})
	recordsAfter := func(first, sessions uint64) int {
		for session := first; session < first+sessions; session++ {
			message := s.message(s.create(friend, session, 10))
			require.NoError(t, s.signMessage(message))
			s.policy.Settle(context.Background(), message, transaction.Confirmed)
			s.now = s.now.Add(20 * time.Minute)
		}
		s.now = s.now.Add(3 * 24 * time.Hour)
		s.restart()
		records, _ := s.records()
		for _, record := range records {
			if record.Snapshot != nil {
				require.LessOrEqual(t, len(record.Snapshot.Engagements), 200, "two days of them")
				require.LessOrEqual(t, len(record.Snapshot.Messages), 1)
			}
		}
		return len(records)
	}
	require.LessOrEqual(t, recordsAfter(1_000, 340), 1_001)
	require.LessOrEqual(t, recordsAfter(2_000, 360), 1_001)
	require.EqualValues(t, 7_000, s.policy.UsedWith(friend, mint), "what a counterparty got counts for ever")
	require.Zero(t, s.policy.UsedOn(s.negotiation(s.wallet(), friend, 1_001), mint), "that negotiation is over")
	require.Zero(t, s.policy.Used(mint))

	// Transactions with an unknown outcome count as executed in the end.
	require.NoError(t, s.sign(s.create(friend, 9_999, 10)))
	s.now = s.now.Add(3 * 24 * time.Hour)
	records, _ := s.records()
	totals, err := policy.TotalsOf(records, s.now)
	require.NoError(t, err)
	require.Zero(t, totals.Open)
	require.Empty(t, totals.Negotiations)
	require.Equal(t, []policy.Total{{Account: friend, Mint: mint, Amount: 7_010}}, totals.Counterparties)
}

// A Config.Decoders entry allows a program that the policy does not decode, within the limits.
func TestDecoders(t *testing.T) {
	memo := solana.MemoProgramID
	s := newStage(t)
	pay := func(amount uint64) solana.Instruction {
		return solana.NewInstruction(memo, solana.AccountMetaSlice{solana.Meta(friend)}, binary.LittleEndian.AppendUint64(nil, amount))
	}
	denial := s.denied(policy.RuleProgram, pay(1))
	require.EqualError(t, denial, "haggle: policy denied: program "+memo.String()+" is not allowed (instruction 0)")
	s.config.Decoders = map[solana.PublicKey]policy.Decoder{memo: func(accounts []*solana.AccountMeta, data []byte) (policy.Decoded, error) {
		if len(accounts) != 1 || len(data) != 8 {
			return policy.Decoded{}, errors.New("not a payment")
		}
		return policy.Decoded{Name: "memo.pay", Spends: []policy.Spend{
			{Mint: mint, Amount: binary.LittleEndian.Uint64(data), Counterparty: accounts[0].PublicKey},
		}}, nil
	}}
	s.restart()
	require.NoError(t, s.sign(unitLimit(1), pay(3_000_000)))
	require.NoError(t, s.sign(unitLimit(1), pay(3_000_000)))
	require.EqualValues(t, 6_000_000, s.policy.UsedWith(friend, mint), "nothing says that they are one")
	denial = s.denied(policy.RulePerCounterparty, pay(3_000_000))
	require.Equal(t, "memo.pay", denial.Name)
	s.denied(policy.RuleUndecodable, solana.NewInstruction(memo, nil, nil))
	s.config.Programs = []solana.PublicKey{protocol.ProgramID}
	s.restart()
	s.denied(policy.RuleProgram, pay(1))

	s.config.Decoders = map[solana.PublicKey]policy.Decoder{solana.SystemProgramID: s.config.Decoders[memo]}
	_, err := policy.New(t.Context(), s.signer, s.config)
	require.ErrorContains(t, err, "the policy decodes its instructions itself")
}
