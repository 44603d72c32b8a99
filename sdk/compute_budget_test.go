package haggle

import (
	"math"
	"testing"

	"github.com/gagliardetto/solana-go"
	computebudget "github.com/gagliardetto/solana-go/programs/compute-budget"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestComputeBudgetInstructionsAreTheProgramsOwn(t *testing.T) {
	ours := computeBudget{unitLimit: 12_345, unitPrice: 678}.instructions()
	theirs := []solana.Instruction{
		computebudget.NewSetComputeUnitLimitInstruction(12_345).Build(),
		computebudget.NewSetComputeUnitPriceInstruction(678).Build(),
	}
	require.Len(t, ours, len(theirs))
	for i := range ours {
		got, err := ours[i].Data()
		require.NoError(t, err)
		want, err := theirs[i].Data()
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.Equal(t, theirs[i].ProgramID(), ours[i].ProgramID())
		assert.Empty(t, ours[i].Accounts())
	}
	assert.Len(t, computeBudget{unitLimit: 1}.instructions(), 1, "no price, no instruction")
}

func TestUnitLimitHasAMarginAndAnEnd(t *testing.T) {
	for _, c := range []struct{ consumed, own, worst, want uint64 }{
		{0, 0, 0, 300},
		{10_000, 0, 0, 11_300},
		{10_000, 4_000, 0, 11_300},
		{10_000, 4_000, 5_000, 12_400},
		{10_000, 4_000, 3_000, 11_300}, // the cluster's token program costs more than measured
		{10_000, 0, 5_000, 16_800},     // the logs are cut off
		{10_000, 20_000, 5_000, 11_300},
		{1_399_999, 0, 0, 1_400_000},
		{math.MaxUint64, 0, math.MaxUint64, 1_400_000},
		{16_769_767_339_735_956_014, 0, 0, 1_400_000}, // times 1.1 is 2^64 - 1
	} {
		assert.EqualValues(t, c.want, limitFor(c.consumed, c.own, c.worst), "%+v", c)
	}
}

// The limit for a paying instruction covers deriving both parties' accounts, at their real bumps.
func TestUnitLimitCoversTheWorstCaseAndTheBumpsOfBothParties(t *testing.T) {
	client, n, _ := bonded(t, nil)
	misses := func() (misses uint64) {
		for _, party := range []solana.PublicKey{n.Buyer, n.Seller} {
			_, bump, err := solana.FindAssociatedTokenAddressWithProgram(party, keptMint,
				solana.Token2022ProgramID)
			require.NoError(t, err)
			misses += 255 - uint64(bump)
		}
		return misses
	}
	for misses() < 8 {
		n.Buyer, n.Seller = newKeypair(t).PublicKey(), newKeypair(t).PublicKey()
	}
	units, ok := protocol.WorstComputeUnits("accept_offer")
	require.True(t, ok)
	worst := uint64(units.Token2022) + misses()*uint64(units.EachFurtherBump)
	action, err := client.At(n).AcceptOffer(n.Seller, 0).Build(t.Context())
	require.NoError(t, err)
	logs := []string{
		"Program ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL consumed 22000 of 1399700 compute units",
		"Program " + protocol.ProgramAddress + " consumed 7364 of 1377700 compute units",
	}
	const others = 22_300
	assert.EqualValues(t, (others+worst)*110/100+unitReserve, action.unitLimit(others+7_364, logs))
}

// A reveal that accepts the midpoint covers the worst case of both instructions.
func TestUnitLimitCoversBothInstructionsOfAReveal(t *testing.T) {
	n, prices := atStep(t, protocol.ZopaStepSellerReveals, 12, 9)
	client := offlineClient(t)
	build := func(action *Action) *Action {
		t.Helper()
		built, err := action.Build(t.Context())
		require.NoError(t, err)
		return built
	}
	worstOf := func(action *Action) uint64 {
		t.Helper()
		worst, err := action.worstUnits()
		require.NoError(t, err)
		return worst
	}
	both := build(client.At(n).RevealZopa(prices[protocol.OfferSideSeller]))
	n.ZopaPhase, n.CurrentOfferAmount = protocol.ZopaPhaseRevealed, 10
	accept := build(client.At(n).AcceptOffer(n.Seller, 0))
	reveal, ok := protocol.WorstComputeUnits("reveal_zopa_price")
	require.True(t, ok)
	assert.GreaterOrEqual(t, worstOf(both), worstOf(accept)+uint64(reveal.Token2022))
	assert.GreaterOrEqual(t, uint64(both.unitLimit(0, nil)), worstOf(both)*110/100)
}

func TestUnitLimitOfACreationCoversBumpsAndLamportsSentAhead(t *testing.T) {
	client, _, _ := newScripted(t, nil)
	negotiation, bump, err := protocol.FindNegotiationAddress(testSeller, keptMint, 7)
	require.NoError(t, err)
	_, vaultBump, err := protocol.FindVaultAddress(negotiation)
	require.NoError(t, err)
	for program, worst := range map[solana.PublicKey]uint64{solana.TokenProgramID: 9_003 + 4_612,
		solana.Token2022ProgramID: 14_859 + 4_612} {
		creation, err := (&protocol.CreateNegotiation{
			Buyer: testSeller, Seller: keptMint, SessionID: 7, Negotiation: negotiation,
			TokenProgram: program,
			EscrowVault:  testSeller, BuyerTokenAccount: testSeller, TokenMint: keptMint, Config: testSeller,
		}).Instruction()
		require.NoError(t, err)
		action := client.NewAction("create_negotiation", testSeller, creation)
		worst += 1_500 * (2*255 - uint64(bump) - uint64(vaultBump))
		logs := []string{"Program " + protocol.ProgramAddress + " consumed 9000 of 1399700 compute units"}
		assert.GreaterOrEqual(t, uint64(action.unitLimit(9_300, logs)), worst+300)
	}
}

func TestPriorityFeeStaysBelowItsCap(t *testing.T) {
	assert.EqualValues(t, 50, cappedUnitPrice(50, 20_000, 1))
	assert.EqualValues(t, 50, cappedUnitPrice(1_000_000, 20_000, 1))
	assert.Zero(t, cappedUnitPrice(1_000_000, 20_000, 0))
	assert.EqualValues(t, uint64(math.MaxUint64), cappedUnitPrice(math.MaxUint64, 1, math.MaxUint64))
	rapid.Check(t, func(t *rapid.T) {
		price := rapid.Uint64().Draw(t, "price")
		limit := rapid.Uint32Range(1, maxUnitLimit).Draw(t, "limit")
		lamports := rapid.Uint64Range(0, 1_000_000_000).Draw(t, "cap")
		capped := cappedUnitPrice(price, limit, lamports)
		assert.LessOrEqual(t, capped, price)
		// The chain rounds up.
		assert.LessOrEqual(t, (capped*uint64(limit)+microLamports-1)/microLamports, lamports)
	})
}
