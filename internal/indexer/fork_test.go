package indexer

import (
	"context"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// follower is an indexer that a test polls step by step.
type follower struct {
	t        *testing.T
	chain    *scriptedChain
	database *Database
	indexer  *Indexer
}

func newFollower(t *testing.T, chain *scriptedChain, commitment rpc.CommitmentType) *follower {
	t.Helper()
	database := newSQLite(t)
	indexer, err := New(database, Config{RPC: chain.client(), Commitment: commitment})
	require.NoError(t, err)
	return &follower{t, chain, database, indexer}
}

// follow returns an indexer that has polled once.
func follow(t *testing.T, chain *scriptedChain, commitment rpc.CommitmentType) *follower {
	t.Helper()
	f := newFollower(t, chain, commitment)
	f.poll()
	return f
}

func (f *follower) poll() {
	f.t.Helper()
	require.NoError(f.t, f.indexer.poll(f.t.Context()))
}

// refuses requires that a poll returns this error and changes nothing.
func (f *follower) refuses(expected error) {
	f.t.Helper()
	before := f.contents()
	require.ErrorIs(f.t, f.indexer.poll(f.t.Context()), expected)
	require.Equal(f.t, before, f.contents())
}

func (f *follower) contents() string { return contents(f.t, f.t.Context(), f.database) }

// value returns a query's only value.
func value[T any](f *follower, query string) T {
	return single[T](f.t, f.t.Context(), f.database, query)
}

// run indexes until an error.
func (f *follower) run() error {
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	return f.indexer.Run(ctx)
}

// matches requires that the database equals a new index of the chain.
func (f *follower) matches() {
	f.t.Helper()
	fresh := newSQLite(f.t)
	runOnce(f.t, f.t.Context(), fresh, f.chain.client(), f.indexer.config.Commitment)
	require.Equal(f.t, contents(f.t, f.t.Context(), fresh), f.contents())
}

// forkingChain contains a negotiation's first four steps in the slots 100 to 103. Slot 100 is final.
func forkingChain(t require.TestingT) (*scriptedChain, []scriptedTransaction) {
	chain := newScriptedChain()
	scenario := newScriptedScenario(1, 1000)
	var steps []scriptedTransaction
	for i, step := range scenario.steps() {
		item := newTransaction(t, uint64(i), nil, logsOf(step.events...))
		item.accounts = map[solana.PublicKey]*protocol.Negotiation{scenario.address: step.state}
		steps = append(steps, item)
	}
	for i, item := range steps[:4] {
		chain.add(uint64(100+i), 1, item)
	}
	chain.reach(103, 100)
	return chain, steps
}

// otherOffer is the second offer in a fork.
func otherOffer(t require.TestingT) scriptedTransaction {
	scenario := newScriptedScenario(1, 1000)
	state := *scenario.steps()[2].state
	state.CurrentRound, state.EffectiveEscrow, state.CurrentOfferAmount = 2, 980_000, 555_000
	item := newTransaction(t, 77, nil, logsOf(&protocol.OfferSubmitted{
		NegotiationID: scenario.address, Offerer: scenario.seller, Amount: 555_000, Round: 2, EffectiveEscrow: 980_000, Timestamp: 5,
	}))
	item.accounts = map[solana.PublicKey]*protocol.Negotiation{scenario.address: &state}
	return item
}

func TestABlockThatIsReplacedIsReadAgain(t *testing.T) {
	chain, steps := forkingChain(t)
	f := follow(t, chain, rpc.CommitmentConfirmed)
	require.Equal(t, "600000", value[string](f, `SELECT amount FROM offers WHERE round = 2`))

	// Another transaction in the same slot.
	chain.forkAt(103)
	chain.add(103, 2, otherOffer(t))
	f.poll()
	require.Equal(t, "555000", value[string](f, `SELECT amount FROM offers WHERE round = 2`))
	require.Equal(t, "555000", value[string](f, `SELECT current_offer_amount FROM account_states`))
	f.matches()

	// The slot is skipped, and the transaction is in another slot.
	chain.forkAt(103)
	chain.add(105, 1, steps[3])
	f.poll()
	require.Equal(t, 105, value[int](f, `SELECT slot FROM offers WHERE round = 2`))
	f.matches()

	// Two slots are removed without replacement.
	chain.forkAt(102)
	chain.reach(106, 101)
	f.poll()
	require.Zero(t, value[int](f, `SELECT COUNT(*) FROM offers`))
	require.Equal(t, "Proposed", value[string](f, `SELECT status FROM outcomes`))
	f.matches()
}

func TestAForkCanRemoveANegotiation(t *testing.T) {
	chain, steps := forkingChain(t)
	chain.reach(103, 99)
	f := follow(t, chain, rpc.CommitmentConfirmed)
	chain.forkAt(100)
	chain.reach(104, 99)
	f.poll()
	for _, table := range []string{"events", "transactions", "slots", "negotiations", "accounts", "totals"} {
		require.Zero(t, value[int](f, `SELECT COUNT(*) FROM `+table), table)
	}
	chain.add(105, 1, steps[0])
	f.poll()
	f.matches()
}

// A fork with the same transaction in the same slot has another blockhash, which shows once the slot is
// final.
func TestABlockhashThatChangesIsFoundWhenTheSlotIsFinal(t *testing.T) {
	chain, steps := forkingChain(t)
	f := follow(t, chain, rpc.CommitmentConfirmed)
	chain.forkAt(102)
	chain.add(102, 2, steps[2])
	chain.add(103, 2, steps[3])
	f.poll()
	require.Equal(t, hash(102, 1).String(), value[string](f, `SELECT blockhash FROM slots WHERE slot = 102`))
	chain.reach(140, 103)
	f.poll()
	require.Equal(t, hash(102, 2).String(), value[string](f, `SELECT blockhash FROM slots WHERE slot = 102`))
	require.Equal(t, 4, value[int](f, `SELECT COUNT(*) FROM slots WHERE final`))
	f.matches()
}

func TestATransactionThatIsListedLateGoesToItsPlace(t *testing.T) {
	for _, commitment := range []rpc.CommitmentType{rpc.CommitmentConfirmed, rpc.CommitmentFinalized} {
		t.Run(string(commitment), func(t *testing.T) {
			chain, steps := forkingChain(t)
			chain.forkAt(102)
			chain.add(102, 1, steps[2], steps[3])
			chain.add(103, 1, steps[4])
			chain.reach(110, 105)
			chain.unlisted[steps[2].signature] = true
			f := follow(t, chain, commitment)
			require.Equal(t, 1, value[int](f, `SELECT COUNT(*) FROM offers`))
			delete(chain.unlisted, steps[2].signature)
			f.poll()
			require.Equal(t, "400000", value[string](f, `SELECT amount FROM offers ORDER BY slot, position LIMIT 1`))
			f.matches()
		})
	}
}

// A node that lags behind another node at the same address deletes nothing.
func TestALaggingNodeDeletesNothing(t *testing.T) {
	chain, steps := forkingChain(t)
	f := follow(t, chain, rpc.CommitmentConfirmed)
	before := f.contents()
	chain.unlisted[steps[3].signature] = true
	f.refuses(transaction.ErrBehind)
	chain.reach(102, 100)
	f.poll()
	require.Equal(t, before, f.contents())
}

// A lagging node's short list does not count as the whole list. Missing transactions are neither skipped nor
// deleted.
func TestAShortListIsNotTheWholeList(t *testing.T) {
	for _, commitment := range []rpc.CommitmentType{rpc.CommitmentConfirmed, rpc.CommitmentFinalized} {
		t.Run(string(commitment), func(t *testing.T) {
			chain, steps := forkingChain(t)
			chain.reach(110, 103)
			f := follow(t, chain, commitment)
			chain.add(150, 1, steps[4])
			chain.reach(300, 290)
			chain.listsLate = 195
			f.refuses(transaction.ErrBehind)
			require.Less(t, value[int](f, `SELECT checkpoint_slot FROM progress`), 150)
			chain.listsLate = 0
			f.poll()
			require.Equal(t, "Settled", value[string](f, `SELECT status FROM outcomes`))
			f.matches()
		})
	}
}

// A node that has just restarted does not know a status. That does not delete the transaction.
func TestAMissingStatusOfALaggingNodeDeletesNothing(t *testing.T) {
	chain, steps := forkingChain(t)
	f := follow(t, chain, rpc.CommitmentConfirmed)
	chain.unlisted[steps[3].signature] = true
	chain.statusesLate = 2
	f.refuses(transaction.ErrBehind)
}

// A database reader sees all or nothing of a fork, even if the node fails during the poll.
func TestAForkIsReplacedInOneTransaction(t *testing.T) {
	const negotiations = 60
	chain := newScriptedChain()
	number := uint64(0)
	blocks := func(fork uint64) {
		for n := range uint64(negotiations) {
			scenario := newScriptedScenario(n, 1)
			for i, step := range scenario.steps()[:3] {
				number++
				chain.add(100+3*n+uint64(i), fork, newTransaction(t, number, nil, logsOf(step.events...)))
			}
		}
	}
	blocks(1)
	chain.reach(300, 99)
	f := follow(t, chain, rpc.CommitmentConfirmed)
	count := func() int { return value[int](f, `SELECT COUNT(*) FROM offers`) }
	require.Equal(t, negotiations, count())
	before := f.contents()

	chain.forkAt(100)
	blocks(2)
	chain.reach(300, 99)
	missing := &chain.slots[150].transactions[0]
	was := missing.encoded
	missing.encoded = "damaged"
	require.Error(t, f.indexer.poll(t.Context()))
	require.Equal(t, before, f.contents())
	missing.encoded = was
	f.indexer.config.Report = func(Report) { require.Equal(t, negotiations, count()) }
	f.poll()
	f.matches()
}

// A database's rows stay readable during a backfill.
func TestABackfillDeletesNothing(t *testing.T) {
	for _, commitment := range []rpc.CommitmentType{rpc.CommitmentConfirmed, rpc.CommitmentFinalized} {
		t.Run(string(commitment), func(t *testing.T) {
			chain := longChain(t, 60)
			chain.reach(130, 125)
			f := follow(t, chain, commitment)
			held := func() (offers, states int) {
				return value[int](f, `SELECT COUNT(*) FROM offers`), value[int](f, `SELECT COUNT(*) FROM account_states`)
			}
			offers, states := held()
			require.Greater(t, value[int](f, `SELECT COUNT(*) FROM slots, progress WHERE slot > checkpoint_slot`), 20)
			chain.reach(400, 390)
			backlogs := 0
			f.indexer.config.Report = func(report Report) {
				now, known := held()
				require.GreaterOrEqual(t, now, offers)
				require.GreaterOrEqual(t, known, states)
				offers, states = now, known
				if report.Left > 0 {
					backlogs++
				}
			}
			f.poll()
			require.Positive(t, backlogs)
			f.matches()
		})
	}
}

// A fork between two list pages that removes the cursor loses no transaction, whether a checkpoint exists or
// not.
func TestAForkBetweenTwoPagesLosesNothing(t *testing.T) {
	for _, final := range []uint64{90, 135} {
		chain, steps := forkingChain(t)
		chain.pageLimit = 2
		chain.reach(103, final-min(final, 35))
		f := newFollower(t, chain, rpc.CommitmentConfirmed)
		if final > 100 {
			chain.reach(140, final)
			f.poll()
			require.Equal(t, int(final-32), value[int](f, `SELECT checkpoint_slot FROM progress`))
		}
		chain.add(141, 1, steps[4])
		chain.add(142, 1, steps[5])
		other := newTransaction(t, 88, nil, steps[4].logs)
		other.accounts = steps[4].accounts
		chain.betweenPages = func() {
			chain.slots = chain.slots[:len(chain.slots)-2]
			chain.slots = append(chain.slots, scriptedSlot{143, hash(143, 2), []scriptedTransaction{other}})
			chain.head = 143
		}
		require.ErrorIs(t, f.indexer.poll(t.Context()), transaction.ErrChainChanged)
		f.poll()
		f.matches()
	}
}

// An account read on a fork is read again when the slot is final, even if no further transaction exists.
func TestAnAccountReadOnAForkIsReadAgain(t *testing.T) {
	chain, steps := forkingChain(t)
	f := newFollower(t, chain, rpc.CommitmentConfirmed)
	chain.unlisted[steps[3].signature] = true
	f.poll()
	require.Equal(t, 2, value[int](f, `SELECT current_round FROM account_states`))
	chain.forkAt(103)
	chain.reach(140, 104)
	f.poll()
	require.Equal(t, 1, value[int](f, `SELECT current_round FROM account_states`))
	require.Equal(t, 1, value[int](f, `SELECT COUNT(*) FROM accounts WHERE final`))
}

// An account state on a fork is not kept as the last state.
func TestAStateReadOnAForkIsNotKept(t *testing.T) {
	chain, _ := forkingChain(t)
	f := follow(t, chain, rpc.CommitmentConfirmed)
	require.Equal(t, 103, value[int](f, `SELECT as_of_slot FROM accounts`))
	chain.forkAt(103)
	scenario := newScriptedScenario(1, 1000)
	closing := newTransaction(t, 60, nil, logsOf(
		&protocol.NegotiationRejected{NegotiationID: scenario.address, RejectedBy: scenario.seller, RefundAmount: 990_000, RoundsCompleted: 1, Timestamp: 9},
		&protocol.NegotiationClosed{NegotiationID: scenario.address, ClosedBy: scenario.seller, Swept: 10_000, Timestamp: 9},
	))
	closing.accounts = map[solana.PublicKey]*protocol.Negotiation{scenario.address: nil}
	chain.add(105, 1, closing)
	f.poll()
	require.Equal(t, 1, value[int](f, `SELECT COUNT(*) FROM accounts WHERE state IS NULL AND NOT present`))
	f.matches()
}

// The next negotiation's account at an address is not stored as the previous negotiation's state.
func TestTheStateOfTheNextNegotiationIsSeparate(t *testing.T) {
	chain, steps := forkingChain(t)
	chain.add(104, 1, steps[4])
	chain.add(105, 1, steps[5])
	again := newTransaction(t, 61, nil, steps[0].logs)
	again.accounts = steps[0].accounts
	chain.add(106, 1, again)
	chain.unlisted[again.signature] = true
	f := follow(t, chain, rpc.CommitmentConfirmed)
	require.Equal(t, 1, value[int](f, `SELECT COUNT(*) FROM accounts WHERE life = 1 AND state IS NULL AND NOT present`))
	delete(chain.unlisted, again.signature)
	f.poll()
	require.Equal(t, "Created", value[string](f, `SELECT status FROM account_states WHERE life = 2 AND present`))
	f.matches()
}

// The database follows every change beyond the newest final slot, and final rows never change.
func TestTheDatabaseFollowsAnyFork(t *testing.T) {
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		ctx := t.Context()
		chain := newScriptedChain()
		chain.withIndex = rapid.Bool().Draw(t, "lists tell the index in the block")
		chain.scrambled = rapid.Bool().Draw(t, "lists have an order of their own")
		chain.pageLimit = rapid.SampledFrom([]int{2, 5, listPage}).Draw(t, "transactions on a page")
		database := openMemory(t, ctx)
		defer database.Close()
		commitment := rapid.SampledFrom([]rpc.CommitmentType{rpc.CommitmentConfirmed, rpc.CommitmentFinalized}).Draw(t, "commitment")
		newIndexer := func() *Indexer {
			indexer, err := New(database, Config{RPC: chain.client(), Commitment: commitment})
			require.NoError(t, err)
			return indexer
		}
		indexer := newIndexer()
		number, slot := uint64(0), uint64(100)
		var waiting []scriptedTransaction
		for n := range uint64(rapid.IntRange(1, 4).Draw(t, "negotiations")) {
			scenario := newScriptedScenario(n, 1)
			for _, step := range scenario.steps() {
				number++
				item := newTransaction(t, number, nil, logsOf(step.events...))
				item.accounts = map[solana.PublicKey]*protocol.Negotiation{scenario.address: step.state}
				waiting = append(waiting, item)
			}
		}
		final := ""
		actions := map[string]func(*rapid.T){
			"a block": func(t *rapid.T) {
				count := min(rapid.IntRange(0, 3).Draw(t, "transactions"), len(waiting))
				slot += uint64(rapid.IntRange(1, 20).Draw(t, "slots"))
				chain.add(slot, uint64(run), waiting[:count]...)
				waiting = waiting[count:]
			},
			"a fork": func(t *rapid.T) {
				if chain.head <= chain.final {
					return
				}
				from := rapid.Uint64Range(chain.final+1, chain.head).Draw(t, "from")
				var back []scriptedTransaction
				for _, block := range chain.slots {
					if block.slot >= from {
						back = append(back, block.transactions...)
					}
				}
				chain.forkAt(from)
				waiting = append(back, waiting...)
				run++
				// The same slots can be added again.
				slot = from - 1
			},
			"finality": func(t *rapid.T) {
				chain.reach(chain.head, rapid.Uint64Range(chain.final, chain.head).Draw(t, "up to"))
			},
			"time":            func(t *rapid.T) { chain.reach(chain.head+uint64(rapid.IntRange(1, 40).Draw(t, "slots")), chain.final) },
			"another process": func(*rapid.T) { indexer = newIndexer() },
			"a poll": func(t *rapid.T) {
				slot = max(slot, chain.head)
				require.NoError(t, indexer.poll(ctx))
				checkpoint := single[int64](t, ctx, database, `SELECT checkpoint_slot FROM progress`)
				upTo := single[string](t, ctx, database, `SELECT COALESCE(group_concat(signature || slot || name), '') FROM
					(SELECT * FROM events WHERE slot <= $1 ORDER BY slot, position, event_index)`, checkpoint)
				require.Contains(t, upTo, final)
				final = upTo
			},
		}
		t.Repeat(actions)
		slot = max(slot, chain.head)
		chain.add(slot+1, uint64(run), waiting...)
		chain.reach(slot+200, slot+150)
		require.NoError(t, indexer.poll(ctx))
		chain.reach(slot+300, slot+250)
		require.NoError(t, indexer.poll(ctx))
		fresh := openMemory(t, ctx)
		defer fresh.Close()
		runOnce(t, ctx, fresh, chain.client(), commitment)
		require.Equal(t, contents(t, ctx, fresh), contents(t, ctx, database))
		require.Zero(t, single[int](t, ctx, database, `SELECT COUNT(*) FROM accounts WHERE NOT final`))
		require.Zero(t, single[int](t, ctx, database, `SELECT COUNT(*) FROM violations`))
	})
}
