package model

import (
	"math"
	"math/big"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The tables of the architecture document.
func TestPublishedFigures(t *testing.T) {
	n := &Negotiation{EscrowAmount: 5_000_000, EffectiveEscrow: 5_000_000, DecayRateBps: 200,
		ProtocolFeeBps: 50, PaidGross: 3_000_000}
	for _, left := range []uint64{4_900_000, 4_802_000, 4_705_960, 4_611_841, 4_519_604, 4_429_212} {
		n.EffectiveEscrow = n.NextEffectiveEscrow()
		require.Equal(t, left, n.EffectiveEscrow)
	}
	require.Equal(t, uint64(570_788), n.decay())
	require.Equal(t, uint64(15_000), n.fee())
}

func TestAccountLayout(t *testing.T) {
	require.Len(t, new(Negotiation).Bytes(), NegotiationSize)
	require.Len(t, new(Config).Bytes(), ConfigSize)
	for _, field := range []struct {
		name   string
		offset int
		n      Negotiation
	}{
		{"buyer", 8, Negotiation{Parties: [2]Address{{7}}}},
		{"seller", 40, Negotiation{Parties: [2]Address{{}, {7}}}},
		{"session_id", 72, Negotiation{SessionID: 7}},
		{"status", 80, Negotiation{Status: 7}},
		{"metadata", 324, Negotiation{Metadata: [64]byte{7}}},
		{"bump", 388, Negotiation{Bump: 7}},
		{"vault_bump", 389, Negotiation{VaultBump: 7}},
		{"bond_state", 411, Negotiation{BondState: 7}},
		{"arbiter", 428, Negotiation{Arbiter: Address{7}}},
		{"review_hours", 460, Negotiation{ReviewHours: 7}},
		{"milestone_bps", 461, Negotiation{MilestoneBps: [8]uint16{7}}},
		{"paid_gross", 504, Negotiation{PaidGross: 7}},
	} {
		require.Equal(t, byte(7), field.n.Bytes()[field.offset], field.name)
	}
}

func TestAccountRoundTrip(t *testing.T) {
	n := &Negotiation{SessionID: 1, Status: StatusAccepted, EffectiveEscrow: math.MaxUint64,
		GlobalDeadline: -5, MilestoneBps: [8]uint16{1, 9_999}, PendingExtension: 3,
		Claimable: [2]uint64{4, 5}, PaidGross: 6, ZopaEnabled: true, ReviewHours: 24}
	read, ok := ReadNegotiation(n.Bytes())
	require.True(t, ok)
	require.Equal(t, n, read)
	_, ok = ReadNegotiation(n.Bytes()[1:])
	require.False(t, ok)
}

func TestInstructionRoundTrip(t *testing.T) {
	instruction := &SettleByAgreement{Buyer: Address{1}, Seller: Address{2}, TokenProgram: Address{8},
		CreatedAt: -1, ExpectedDecided: 3, ValidUntil: 4, SellerBps: 5, BondToBuyerBps: 6}
	encoded := Encode(instruction)
	require.Equal(t, discriminator("global", "settle_by_agreement"), encoded.Data[:8])
	require.Equal(t, []byte{255, 255, 255, 255, 255, 255, 255, 255, 3, 4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 6, 0},
		encoded.Data[8:])
	require.Len(t, encoded.Accounts, 8)
	require.Equal(t, []Address{{1}, {2}}, Signers(encoded))
	decoded, ok := Decode(encoded)
	require.True(t, ok)
	require.Equal(t, instruction, decoded)
	_, ok = Decode(Instruction{Data: encoded.Data[:9]})
	require.False(t, ok)
}

func TestInstructionNamesAndSizes(t *testing.T) {
	for name, size := range map[string]int{
		"create_negotiation": 8 + 8 + 32 + 1 + 2 + 8 + 8 + 2 + 1 + 8 + 32 + 16 + 8 + 1 + 64 + 2 + 1,
		"accept_invitation":  32 + 1, "submit_offer": 8 + 1 + 8 + 4 + 64, "accept_offer": 8 + 1 + 8 + 64,
		"reject_negotiation": 9, "expire_negotiation": 0, "close_negotiation": 0, "settle_deadline": 0,
		"claim_payout": 16, "submit_zopa_commitment": 40, "reveal_zopa_price": 48, "claim_milestone": 41,
		"dispute_milestone": 41, "release_milestone": 9, "resolve_dispute": 11, "settle_by_agreement": 21,
	} {
		r := rowOf(discriminator("global", name))
		require.NotNil(t, r, name)
		require.Equal(t, size, r.argumentSize, name)
	}
	require.Len(t, Names(), 21)
}

// randomMilestones draws a negotiation with milestones, a price and a held bond.
func randomMilestones(t *rapid.T) *Negotiation {
	n := &Negotiation{
		SettledAmount:  rapid.Uint64Min(1).Draw(t, "price"),
		ProtocolFeeBps: uint16(rapid.IntRange(0, 500).Draw(t, "fee")),
		BondRequired:   rapid.Uint64Min(1).Draw(t, "bond"),
		BondState:      BondHeld,
	}
	count := rapid.IntRange(1, 8).Draw(t, "count")
	left := uint16(maxBps)
	for i := range count - 1 {
		n.MilestoneBps[i] = uint16(rapid.IntRange(1, maxBps/8).Draw(t, "bps"))
		left -= n.MilestoneBps[i]
	}
	n.MilestoneBps[count-1] = left
	return n
}

func TestTranchesAddUpInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := randomMilestones(t)
		var order []uint8
		amounts := map[uint8]uint64{}
		for i := range n.MilestoneCount() {
			order = append(order, i)
			amounts[i] = n.Tranche(i)
		}
		var net, fees uint64
		for _, index := range rapid.Permutation(order).Draw(t, "order") {
			if n.Tranche(index) != amounts[index] {
				t.Fatalf("tranche %d: %d, then %d", index, amounts[index], n.Tranche(index))
			}
			seller, fee := n.decide(index, n.Tranche(index))
			net, fees = net+seller, fees+fee
		}
		if n.PaidGross != n.SettledAmount || net+fees != n.SettledAmount ||
			fees != floorBps(n.SettledAmount, n.ProtocolFeeBps) {
			t.Fatalf("price %d: gross %d, net %d, fee %d", n.SettledAmount, n.PaidGross, net, fees)
		}
	})
}

// Without claims and decisions the buyer gets the whole bond at the milestone deadline; if all milestones are
// paid, or are disputed and not decided, the seller gets it.
func TestBondAtTheMilestoneDeadline(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := randomMilestones(t)
		all := n.AllMilestones()
		n.MilestonesDisputed = uint8(rapid.Uint64().Draw(t, "disputed")) & all
		if rapid.Bool().Draw(t, "has claim") {
			claim := rapid.IntRange(0, int(n.MilestoneCount())-1).Draw(t, "claim")
			n.MilestonesClaimed = n.MilestonesDisputed | 1<<claim
		} else {
			n.MilestonesClaimed = n.MilestonesDisputed
		}
		claimed, price := n.MilestonesClaimed, n.SettledAmount
		unclaimed := new(big.Int)
		for i := range n.MilestoneCount() {
			if claimed>>i&1 == 0 {
				unclaimed.Add(unclaimed, new(big.Int).SetUint64(n.Tranche(i)))
			}
		}
		s := n.settleUndecided()
		expected := unclaimed.Mul(unclaimed, new(big.Int).SetUint64(n.BondRequired))
		expected.Quo(expected, new(big.Int).SetUint64(price))
		if got := n.unpaidBond(s.undecidedHalves); got != expected.Uint64() {
			t.Fatalf("the buyer gets %d of the bond, expected %d", got, expected)
		}
		if s.amounts[Buyer]+s.amounts[Seller]+s.fee != price || !n.allDecided() {
			t.Fatalf("price %d: %+v", price, s)
		}
	})
}

func TestArithmeticLimits(t *testing.T) {
	const most = math.MaxUint64
	require.Equal(t, uint64(most), floorBps(most, maxBps))
	require.Equal(t, uint64(most), roundBps(most, maxBps))
	require.Equal(t, uint64(most), mulDiv(most, most, most))
	require.Equal(t, uint64(most-1), mulDiv(most, most-1, most))
	require.Equal(t, uint64(2), midpoint(2, 3))
	require.Equal(t, uint64(most), saturatingAdd(most, 1))
	require.True(t, within(math.MinInt64, math.MaxInt64, 0, most))
	require.False(t, within(1, 0, 0, most))
}

func TestMilestoneParameters(t *testing.T) {
	valid := func() *Negotiation {
		return &Negotiation{Parties: [2]Address{{1}, {2}}, Arbiter: Address{3}, CreatedAt: 1_000,
			GlobalDeadline: 2_000, MilestoneDeadline: 2_000 + 2*(3_600+60), ReviewHours: 1,
			MilestoneBps: [8]uint16{6_000, 4_000}}
	}
	for name, c := range map[string]struct {
		change  func(*Negotiation)
		inRange bool
	}{
		"earliest deadline": {func(*Negotiation) {}, true},
		"a second earlier":  {func(n *Negotiation) { n.MilestoneDeadline-- }, false},
		"latest deadline":   {func(n *Negotiation) { n.MilestoneDeadline = 1_000 + year }, true},
		"a second later":    {func(n *Negotiation) { n.MilestoneDeadline = 1_001 + year }, false},
		"no review":         {func(n *Negotiation) { n.ReviewHours = 0 }, false},
		"longest review":    {func(n *Negotiation) { n.ReviewHours, n.MilestoneDeadline = 168, year }, true},
		"longer review":     {func(n *Negotiation) { n.ReviewHours, n.MilestoneDeadline = 169, year }, false},
		"gap":               {func(n *Negotiation) { n.MilestoneBps = [8]uint16{6_000, 0, 4_000} }, false},
		"first share zero":  {func(n *Negotiation) { n.MilestoneBps = [8]uint16{0, 10_000} }, false},
		"sum too small":     {func(n *Negotiation) { n.MilestoneBps[1]-- }, false},
		"no arbiter":        {func(n *Negotiation) { n.Arbiter = Address{} }, false},
		"arbiter is seller": {func(n *Negotiation) { n.Arbiter = Address{2} }, false},
		"none":              {func(n *Negotiation) { *n = Negotiation{} }, true},
		"none, but arbiter": {func(n *Negotiation) { *n = Negotiation{Arbiter: Address{3}} }, false},
		"none, but review":  {func(n *Negotiation) { *n = Negotiation{ReviewHours: 1} }, false},
	} {
		n := valid()
		c.change(n)
		require.Equal(t, c.inRange, n.milestonesInRange(), name)
	}
}

func TestMetadataKinds(t *testing.T) {
	for name, c := range map[string]struct {
		kind, at byte
		valid    bool
	}{
		"kind 0": {0, 0, true}, "kind 0 with a byte": {0, 1, false},
		"kind 1": {1, 49, true}, "kind 1 with padding": {1, 50, false},
		"kind 2": {2, 32, true}, "kind 2 with padding": {2, 33, false},
		"kind 3": {3, 3, false},
	} {
		var metadata [64]byte
		metadata[c.at] = 1
		metadata[0] = c.kind
		require.Equal(t, c.valid, isMetadata(metadata), name)
	}
}

func TestRejectionForfeitsBond(t *testing.T) {
	revealed := [2]uint64{5, 4}
	for name, c := range map[string]struct {
		phase    uint8
		prices   [2]uint64
		round    uint8
		forfeits bool
	}{
		"no ZOPA":            {phase: ZopaSkipped},
		"committed":          {phase: ZopaBothCommitted},
		"buyer has revealed": {phase: ZopaBothCommitted, prices: [2]uint64{5}, forfeits: true},
		"midpoint stands":    {phase: ZopaRevealed, prices: revealed, forfeits: true},
		"offer stands":       {phase: ZopaRevealed, prices: revealed, round: 1},
	} {
		n := Negotiation{BondState: BondHeld, ZopaPhase: c.phase, Prices: c.prices, CurrentRound: c.round}
		require.Equal(t, c.forfeits, n.rejectionForfeitsBond(), name)
		n.BondState = BondNone
		require.False(t, n.rejectionForfeitsBond(), name)
	}
}

func TestSupportedMints(t *testing.T) {
	extended := func(program Address, extensions ...byte) Account {
		data := make([]byte, extensionsOffset)
		data[mintInitializedOffset], data[accountTypeOffset] = 1, mintType
		return Account{Owner: program, Data: append(data, extensions...)}
	}
	plain := make([]byte, mintSize)
	plain[mintInitializedOffset] = 1
	for name, c := range map[string]struct {
		mint      Account
		supported bool
	}{
		"SPL Token":                 {Account{Owner: tokenProgram, Data: plain}, true},
		"Token-2022":                {Account{Owner: token2022Program, Data: plain}, true},
		"metadata pointer":          {extended(token2022Program, 18, 0, 1, 0, 5), true},
		"transfer fee":              {extended(token2022Program, 1, 0, 1, 0, 5), false},
		"pointer and transfer hook": {extended(token2022Program, 18, 0, 0, 0, 14, 0, 0, 0), false},
		"value beyond the end":      {extended(token2022Program, 18, 0, 9, 0, 5), false},
		"length beyond the end":     {extended(token2022Program, 18, 0, 9), false},
		"extensions in SPL Token":   {extended(tokenProgram, 18, 0, 0, 0), false},
		"not initialised":           {Account{Owner: tokenProgram, Data: make([]byte, mintSize)}, false},
	} {
		require.Equal(t, c.supported, isSupportedMint(c.mint), name)
	}
}

func TestExecuteDoesNotChangeTheEnvironment(t *testing.T) {
	authority := Address{1}
	config := &Config{Authority: authority, Treasury: Address{2}, DefaultResponseWindow: 60,
		DefaultMaxRounds: 1, Bump: configPDA.bump}
	environment := &Environment{Accounts: map[Address]Account{
		ConfigAddress(): {Owner: ProgramID, Lamports: 1, Data: config.Bytes()},
	}}
	before := environment.Clone()
	instruction := Encode(&SetPaused{Authority: authority, Config: ConfigAddress(), Paused: true})
	result := Execute(environment, instruction)
	require.Equal(t, Success, result.Code)
	require.Equal(t, before, environment)
	environment.Apply(result)
	paused, ok := ReadConfig(environment.Accounts[ConfigAddress()].Data)
	require.True(t, ok)
	require.True(t, paused.IsPaused)

	feePayer := solana.AccountMeta{PublicKey: Address{9}, IsSigner: true}
	instruction.Accounts = append(instruction.Accounts, feePayer)
	require.Equal(t, []Address{authority}, Signers(instruction))
	instruction.Accounts[0].IsSigner = false
	require.Equal(t, AccountNotSigner, Execute(environment, instruction).Code)
}
