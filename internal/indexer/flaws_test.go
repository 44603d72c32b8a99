package indexer

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// truncated returns logs truncated before the events.
func truncated() []string {
	logs := logsOf()
	return append(logs[:len(logs)-1], "Log truncated")
}

func instructionOf(t *testing.T, instruction solana.Instruction, err error) solana.Instruction {
	t.Helper()
	require.NoError(t, err)
	return instruction
}

// A transaction with truncated logs is marked. If the events are unknown, the negotiation is not complete and
// the account supplies the status.
func TestTruncatedLogsAreMarkedAndTheAccountIsRead(t *testing.T) {
	chain := newScriptedChain()
	scenario := newScriptedScenario(1, 1000)
	steps := scenario.steps()
	for i, step := range steps[:5] {
		item := newTransaction(t, uint64(i), nil, logsOf(step.events...))
		if i == 4 {
			accept, err := (&protocol.AcceptOffer{
				Acceptor: scenario.buyer, Negotiation: scenario.address, EscrowVault: numberedKey('V', 1), BuyerTokenAccount: numberedKey('T', 1),
				SellerTokenAccount: numberedKey('T', 2), TokenMint: numberedKey('M', 1), TokenProgram: solana.TokenProgramID,
			}).Instruction()
			item = newTransaction(t, uint64(i), instructionOf(t, accept, err), truncated())
		}
		item.accounts = map[solana.PublicKey]*protocol.Negotiation{scenario.address: step.state}
		chain.add(uint64(100+i), 1, item)
	}
	f := follow(t, chain, rpc.CommitmentConfirmed)
	ctx := t.Context()
	require.Equal(t, "truncated", value[string](f, `SELECT flaw FROM transactions WHERE flaw IS NOT NULL`))
	var logs []string
	require.NoError(t, json.Unmarshal([]byte(value[string](f, `SELECT logs FROM transactions WHERE flaw IS NOT NULL`)), &logs))
	require.Equal(t, truncated(), logs)
	require.Equal(t, `{"instruction":"accept_offer"}`, value[string](f, `SELECT fields FROM events WHERE name = 'LogsTruncated'`))
	require.Equal(t, 1, value[int](f, `SELECT instruction_index FROM events WHERE name = 'LogsTruncated'`))
	require.Equal(t, "Settled", value[string](f, `SELECT status FROM outcomes WHERE NOT complete`))
	// The instruction succeeded, so the status is known even without an account; the amounts are not.
	require.Equal(t, "Settled", value[string](f, `SELECT status FROM negotiations`))
	require.Equal(t, 1, value[int](f, `SELECT COUNT(*) FROM outcomes
		WHERE settled_amount IS NULL AND net_amount IS NULL AND fee IS NULL AND decay IS NULL AND refund IS NULL AND ended_slot = 104`))
	require.Equal(t, 1, value[int](f, `SELECT incomplete FROM totals`))
	status, err := f.database.Status(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 1, status.Flawed)
	require.EqualValues(t, 1, status.Incomplete)
	f.matches()
}

// If the creation is unknown, a negotiation shows the amounts in the last event, and NULL for all others. A
// returned bond does not count as forfeited.
func TestUnknownAmountsAreNull(t *testing.T) {
	for name, database := range map[string]*Database{"sqlite": newSQLite(t), "postgres": openAt(t, server.Create(t))} {
		t.Run(name, func(t *testing.T) {
			chain := newScriptedChain()
			number := uint64(0)
			add := func(events ...protocol.Event) {
				number++
				chain.add(100+number, 1, newTransaction(t, number, nil, logsOf(events...)))
			}
			settled, rejected, open := newScriptedScenario(1, 1000), newScriptedScenario(2, 1000), newScriptedScenario(3, 1000)
			add(append(settled.steps()[4].events, &protocol.BondSettled{NegotiationID: settled.address, To: settled.seller, Amount: 5})...)
			add(&protocol.NegotiationRejected{NegotiationID: rejected.address, RejectedBy: rejected.seller, RefundAmount: 990_000, RoundsCompleted: 1},
				&protocol.BondSettled{NegotiationID: rejected.address, To: rejected.seller, Amount: 5})
			add(open.steps()[3].events...)
			runOnce(t, t.Context(), database, chain.client(), rpc.CommitmentConfirmed)
			amounts := func(scenario *scriptedScenario) string {
				return single[string](t, t.Context(), database, `SELECT status || ' ' || COALESCE(CAST(settled_amount AS TEXT), '-') || ' ' ||
					COALESCE(CAST(net_amount AS TEXT), '-') || ' ' || COALESCE(CAST(fee AS TEXT), '-') || ' ' || COALESCE(CAST(decay AS TEXT), '-') || ' ' ||
					COALESCE(CAST(refund AS TEXT), '-') || ' ' || bond_state FROM outcomes WHERE NOT complete AND negotiation = $1`, scenario.address.String())
			}
			require.Equal(t, "Settled 600000 597000 3000 20000 - Returned", amounts(settled))
			require.Equal(t, "Rejected - 0 0 - 990000 Unknown", amounts(rejected))
			require.Equal(t, "Proposed - - - - - Unknown", amounts(open))
			require.Zero(t, single[int](t, t.Context(), database, `SELECT COUNT(*) FROM violations`))
		})
	}
}

// A negotiation's end is known from the instruction, even without logs and account.
func TestAnEndThatIsCutOffIsOne(t *testing.T) {
	accounts := func(s *scriptedScenario) (buyer, seller, vault solana.PublicKey) {
		return s.buyer, s.seller, numberedKey('V', s.number)
	}
	ends := map[string]func(*scriptedScenario) (solana.Instruction, error){
		"Settled": func(s *scriptedScenario) (solana.Instruction, error) {
			buyer, seller, vault := accounts(s)
			return (&protocol.AcceptOffer{Acceptor: buyer, Negotiation: s.address, EscrowVault: vault, BuyerTokenAccount: buyer,
				SellerTokenAccount: seller, TokenMint: numberedKey('M', 1), TokenProgram: solana.TokenProgramID}).Instruction()
		},
		"Settled, by agreement": func(s *scriptedScenario) (solana.Instruction, error) {
			buyer, seller, vault := accounts(s)
			return (&protocol.SettleByAgreement{Buyer: buyer, Seller: seller, Negotiation: s.address, EscrowVault: vault, BuyerTokenAccount: buyer,
				SellerTokenAccount: seller, TokenMint: numberedKey('M', 1), TokenProgram: solana.TokenProgramID}).Instruction()
		},
		"Rejected": func(s *scriptedScenario) (solana.Instruction, error) {
			buyer, seller, vault := accounts(s)
			return (&protocol.RejectNegotiation{Rejector: seller, Negotiation: s.address, EscrowVault: vault, BuyerTokenAccount: buyer,
				TokenMint: numberedKey('M', 1), TokenProgram: solana.TokenProgramID}).Instruction()
		},
		"Expired": func(s *scriptedScenario) (solana.Instruction, error) {
			buyer, _, vault := accounts(s)
			return (&protocol.ExpireNegotiation{Negotiation: s.address, EscrowVault: vault, BuyerTokenAccount: buyer,
				TokenMint: numberedKey('M', 1), TokenProgram: solana.TokenProgramID}).Instruction()
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			status, _, _ := strings.Cut(name, ",")
			chain, _ := forkingChain(t)
			scenario := newScriptedScenario(1, 1000)
			f := follow(t, chain, rpc.CommitmentConfirmed)
			ended, err := end(scenario)
			chain.add(104, 1, newTransaction(t, 50, instructionOf(t, ended, err), truncated()))
			closing, err := (&protocol.CloseNegotiation{Closer: scenario.seller, Negotiation: scenario.address, EscrowVault: numberedKey('V', 1), Buyer: scenario.buyer,
				TokenMint: numberedKey('M', 1), TokenProgram: solana.TokenProgramID}).Instruction()
			closed := newTransaction(t, 51, instructionOf(t, closing, err), truncated())
			closed.accounts = map[solana.PublicKey]*protocol.Negotiation{scenario.address: nil}
			chain.add(105, 1, closed)
			f.poll()
			require.Equal(t, status, value[string](f, `SELECT status FROM outcomes WHERE NOT complete AND closed_slot = 105`))
			require.Equal(t, 0, value[int](f, `SELECT open FROM totals`))
		})
	}
}

// A creation with an unknown event starts a new negotiation at the same address.
func TestACreationWithTruncatedLogsIsKnown(t *testing.T) {
	chain := newScriptedChain()
	scenario := newScriptedScenario(1, 1000)
	create := &protocol.CreateNegotiation{
		Buyer: scenario.buyer, Seller: scenario.seller, Negotiation: scenario.address, EscrowVault: numberedKey('V', 1), BuyerTokenAccount: numberedKey('T', 1),
		TokenMint: numberedKey('M', 1), TokenProgram: solana.TokenProgramID, SessionID: 1, Params: protocol.NegotiationParams{EscrowAmount: 1_000_000},
	}
	built, err := create.Instruction()
	for i, step := range scenario.steps() {
		chain.add(uint64(100+i), 1, newTransaction(t, uint64(i), nil, logsOf(step.events...)))
	}
	chain.add(110, 1, newTransaction(t, 50, instructionOf(t, built, err), truncated()))
	chain.add(111, 1, newTransaction(t, 51, nil, logsOf(scenario.steps()[1].events...)))
	f := follow(t, chain, rpc.CommitmentConfirmed)
	require.Equal(t, "Settled", value[string](f, `SELECT status FROM outcomes WHERE life = 1 AND complete`))
	require.Equal(t, "Proposed", value[string](f, `SELECT status FROM outcomes WHERE life = 2 AND NOT complete`))
	require.Equal(t, "1000000", value[string](f, `SELECT escrow_amount FROM outcomes WHERE life = 2`))
	require.Zero(t, value[int](f, `SELECT COUNT(*) FROM violations`))
}

// Both databases store any bytes that another program logs.
func TestAnyLogsCanBeStored(t *testing.T) {
	for name, database := range map[string]*Database{"sqlite": newSQLite(t), "postgres": openAt(t, server.Create(t))} {
		t.Run(name, func(t *testing.T) {
			chain, steps := forkingChain(t)
			steps[4].logs = append([]string{"Program log: a\x00b\xffc\u2028'\\"}, steps[4].logs[:len(steps[4].logs)-1]...)
			steps[4].logs = append(steps[4].logs, "Log truncated")
			chain.add(104, 1, steps[4])
			runOnce(t, t.Context(), database, chain.client(), rpc.CommitmentConfirmed)
			require.Contains(t, single[string](t, t.Context(), database, `SELECT logs FROM transactions WHERE flaw = 'truncated'`), `"Program log: a\u0000b`)
			require.Equal(t, "Settled", single[string](t, t.Context(), database, `SELECT status FROM outcomes`))
		})
	}
}

// A transaction is not marked for the logs of other programs, or because it mentions the program.
func TestOtherProgramsLogsAreNotMarked(t *testing.T) {
	chain := newScriptedChain()
	other := solana.NewInstruction(solana.MemoProgramID, solana.AccountMetaSlice{{PublicKey: protocol.ProgramID}}, []byte("Program data:"))
	chain.add(100, 1, newTransaction(t, 1, other, []string{"Program " + solana.MemoProgramID.String() + " invoke [1]", "Log truncated"}))
	f := follow(t, chain, rpc.CommitmentConfirmed)
	require.Equal(t, 1, value[int](f, `SELECT COUNT(*) FROM transactions WHERE flaw IS NULL`))
	require.Zero(t, value[int](f, `SELECT COUNT(*) FROM events`))
}

// A transaction containing an event from a later version is marked.
func TestAnUnknownEventIsMarked(t *testing.T) {
	chain := newScriptedChain()
	logs := logsOf()
	logs = append(logs[:3], "Program data: AAECAwQFBgcICQ==", logs[3])
	chain.add(100, 1, newTransaction(t, 1, nil, logs))
	f := follow(t, chain, rpc.CommitmentConfirmed)
	require.Equal(t, "unknown event", value[string](f, `SELECT flaw FROM transactions`))
}

// An indexer writes only to a database for the same chain, and only as the single writer.
func TestAnIndexBelongsToOneChainAndOneIndexer(t *testing.T) {
	chain, steps := forkingChain(t)
	f := follow(t, chain, rpc.CommitmentConfirmed)
	ctx := t.Context()
	before := f.contents()

	second, err := New(f.database, Config{RPC: chain.client(), Commitment: rpc.CommitmentConfirmed})
	require.NoError(t, err)
	chain.add(104, 1, steps[4])
	require.NoError(t, second.poll(ctx))
	chain.add(105, 1, steps[5])
	require.ErrorIs(t, f.run(), ErrAnotherIndexer)
	require.NoError(t, second.poll(ctx))
	f.matches()
	require.NotEqual(t, before, f.contents())

	_, err = f.database.statements().exec(ctx, `UPDATE progress SET genesis_hash = 'another'`)
	require.NoError(t, err)
	third, err := New(f.database, Config{RPC: chain.client()})
	require.NoError(t, err)
	require.ErrorIs(t, third.Run(ctx), ErrOtherChain)

	_, err = New(f.database, Config{RPC: chain.client(), Commitment: rpc.CommitmentProcessed})
	require.ErrorContains(t, err, "processed")
}

// If the node no longer stores the history since the checkpoint, Run returns an error. With a node storing
// more history it continues.
func TestAMissingHistoryIsAnError(t *testing.T) {
	chain, steps := forkingChain(t)
	chain.reach(200, 200)
	f := follow(t, chain, rpc.CommitmentConfirmed)
	require.Equal(t, 168, value[int](f, `SELECT checkpoint_slot FROM progress`))
	chain.add(201, 1, steps[4])
	forgotten := chain.slots[:4]
	chain.slots = chain.slots[4:]
	require.ErrorIs(t, f.run(), ErrHistoryGone)
	chain.slots = append(forgotten, chain.slots...)
	f.poll()
	f.matches()
}

// A change to commitment finalized starts with the final slots.
func TestTheCommitmentCanChange(t *testing.T) {
	chain, _ := forkingChain(t)
	f := follow(t, chain, rpc.CommitmentConfirmed)
	require.Equal(t, 4, value[int](f, `SELECT COUNT(*) FROM slots`))
	runOnce(t, t.Context(), f.database, chain.client(), rpc.CommitmentFinalized)
	require.Equal(t, 1, value[int](f, `SELECT COUNT(*) FROM slots`))
}
