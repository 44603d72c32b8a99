package model

import (
	"math"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The tables of the architecture document.
func TestTheDocumentsFigures(t *testing.T) {
	n := &Negotiation{Escrow: 5_000_000, Effective: 5_000_000, DecayBps: 200, FeeBps: 50, PaidGross: 3_000_000}
	for _, left := range []uint64{4_900_000, 4_802_000, 4_705_960, 4_611_841, 4_519_604, 4_429_212} {
		n.Effective = n.NextEffective()
		require.Equal(t, left, n.Effective)
	}
	require.Equal(t, uint64(570_788), n.decay())
	require.Equal(t, uint64(15_000), n.fee())
}

func TestAccountsAreAsLongAsTheDesignSays(t *testing.T) {
	require.Len(t, new(Negotiation).Bytes(), NegotiationSize)
	require.Len(t, new(Config).Bytes(), ConfigSize)
	// Where the architecture document's last fields lie.
	n := &Negotiation{Metadata: [64]byte{7}, Bump: 9}
	require.Equal(t, byte(7), n.Bytes()[324])
	require.Equal(t, byte(9), n.Bytes()[388])
}

func TestAnAccountIsReadAsItWasWritten(t *testing.T) {
	n := &Negotiation{SessionID: 1, Status: Accepted, Effective: math.MaxUint64, Deadline: -5, MilestoneBps: [8]uint16{1, 9_999},
		PendingExtension: 3, Claimable: [2]uint64{4, 5}, PaidGross: 6, ZopaEnabled: true}
	read, ok := ReadNegotiation(n.Bytes())
	require.True(t, ok)
	require.Equal(t, n, read)
	_, ok = ReadNegotiation(n.Bytes()[1:])
	require.False(t, ok)
}

// In whatever order milestones are decided, what they are worth and what they cost adds up to the unit.
func TestMilestonesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := &Negotiation{SettledAmount: rapid.Uint64().Draw(t, "amount"), FeeBps: uint16(rapid.IntRange(0, 500).Draw(t, "fee")),
			MilestoneCount: uint8(rapid.IntRange(1, 8).Draw(t, "count"))}
		left := uint16(whole)
		for i := range n.MilestoneCount - 1 {
			n.MilestoneBps[i] = uint16(rapid.IntRange(1, whole/8).Draw(t, "bps"))
			left -= n.MilestoneBps[i]
		}
		n.MilestoneBps[n.MilestoneCount-1] = left
		var order []uint8
		for i := range n.MilestoneCount {
			order = append(order, i)
		}
		var net, fees uint64
		for _, index := range rapid.Permutation(order).Draw(t, "order") {
			seller, fee := n.decide(index, n.trancheOf(index))
			net, fees = net+seller, fees+fee
		}
		if n.PaidGross != n.SettledAmount || net+fees != n.SettledAmount || fees != floored(n.SettledAmount, n.FeeBps) {
			t.Fatalf("of %d %d were paid, %d net and %d fee", n.SettledAmount, n.PaidGross, net, fees)
		}
	})
}

func TestSharesAreExactAtTheLimits(t *testing.T) {
	const most = math.MaxUint64
	require.Equal(t, uint64(most), floored(most, whole))
	require.Equal(t, uint64(most), rounded(most, whole))
	require.Equal(t, uint64(1), rounded(1, 5_000))
	require.Equal(t, uint64(0), rounded(1, 4_999))
	require.Equal(t, uint64(most), midpoint(most, most))
	require.Equal(t, uint64(2), midpoint(2, 3))
	require.Equal(t, uint64(most), saturatingAdd(most, 1))
	require.True(t, between(math.MinInt64, math.MaxInt64, 0, most))
	require.False(t, between(1, 0, 0, most))
}

func TestAMintIsSupportedByItsExtensions(t *testing.T) {
	mint := func(program Address, extensions ...byte) Account {
		data := make([]byte, extensionsAt)
		data[45], data[accountTypeAt] = 1, mintType
		return Account{Owner: program, Data: append(data, extensions...)}
	}
	plain := make([]byte, mintSize)
	plain[45] = 1
	for name, c := range map[string]struct {
		mint      Account
		supported bool
	}{
		"SPL Token":                 {Account{Owner: tokenProgram, Data: plain}, true},
		"Token-2022":                {Account{Owner: token2022Program, Data: plain}, true},
		"metadata pointer":          {mint(token2022Program, 18, 0, 1, 0, 5), true},
		"transfer fee":              {mint(token2022Program, 1, 0, 1, 0, 5), false},
		"pointer and transfer hook": {mint(token2022Program, 18, 0, 0, 0, 14, 0, 0, 0), false},
		"value beyond the end":      {mint(token2022Program, 18, 0, 9, 0, 5), false},
		"length beyond the end":     {mint(token2022Program, 18, 0, 9), false},
		"extensions in SPL Token":   {mint(tokenProgram, 18, 0, 0, 0), false},
		"not initialised":           {Account{Owner: tokenProgram, Data: make([]byte, mintSize)}, false},
	} {
		require.Equal(t, c.supported, isSupportedMint(c.mint), name)
	}
}

func TestTheModelChangesNothingItself(t *testing.T) {
	authority := Address{1}
	config := &Config{Authority: authority, Treasury: Address{2}, Window: 60, MaxRounds: 1, Bump: configAddress.bump}
	world := &World{Accounts: map[Address]Account{configAddress.address: {Owner: ProgramID, Lamports: 1, Data: config.Bytes()}}}
	before := world.Clone()
	instruction := Instruction{Program: ProgramID, Data: append(discriminator("global", "set_paused"), 1)}
	instruction.Accounts = append(instruction.Accounts,
		solana.AccountMeta{PublicKey: authority, IsSigner: true}, solana.AccountMeta{PublicKey: configAddress.address, IsWritable: true})
	result := Execute(world, instruction)
	require.Equal(t, Success, result.Code)
	require.Equal(t, before, world)
	world.Apply(result)
	paused, ok := ReadConfig(world.Accounts[configAddress.address].Data)
	require.True(t, ok)
	require.True(t, paused.Paused)

	instruction.Accounts[0].IsSigner = false
	require.Equal(t, AccountNotSigner, Execute(world, instruction).Code)
}
