package engine_test

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// recordedUnits returns the compute units that mollusk measured, of instructions with a single case.
func recordedUnits(t *testing.T) map[string]uint64 {
	t.Helper()
	content, err := os.ReadFile("../../../program/cu.json")
	require.NoError(t, err)
	var table map[string]struct {
		Units uint64 `json:"spl_token"`
	}
	require.NoError(t, json.Unmarshal(content, &table))
	units := map[string]uint64{}
	for name, row := range table {
		units[name] = row.Units
	}
	return units
}

func TestComputeUnitsOfConfiguration(t *testing.T) {
	chain, recorded := start(t), recordedUnits(t)
	authority, successor := chain.payer, newKey(t)
	chain.fund(successor.PublicKey(), lamports)
	treasury := newKey(t).PublicKey()
	for _, step := range []struct {
		signer      solana.PrivateKey
		instruction protocol.AnyInstruction
	}{
		{authority, &protocol.InitializeConfig{
			Authority: authority.PublicKey(), Treasury: treasury, DefaultDecayRateBps: 200,
			DefaultResponseWindow: 300, DefaultProtocolFeeBps: 50, DefaultMaxRounds: 10,
		}},
		{authority, &protocol.UpdateConfig{
			Authority: authority.PublicKey(), Treasury: treasury, DefaultDecayRateBps: 100,
			DefaultResponseWindow: 600, DefaultProtocolFeeBps: 25, DefaultMaxRounds: 6,
		}},
		{authority, &protocol.SetPaused{Authority: authority.PublicKey(), Paused: true}},
		{authority, &protocol.ProposeAuthority{Authority: authority.PublicKey(), NewAuthority: successor.PublicKey()}},
		{successor, &protocol.AcceptAuthority{Authority: successor.PublicKey()}},
	} {
		name := step.instruction.InstructionName()
		require.Equal(t, recorded[name], chain.execute(step.signer, step.instruction).ComputeUnits, name)
	}
}

// The figures of program/CU.md for a negotiation under SPL Token, with no bond.
const (
	createUnits = 8_870
	bumpUnits   = 1_500
	acceptUnits = 1_187
)

func TestComputeUnitsOfCallsToOtherPrograms(t *testing.T) {
	chain := start(t)
	buyer, seller := chain.payer, newKey(t)
	chain.fund(seller.PublicKey(), lamports)
	chain.execute(buyer, &protocol.InitializeConfig{
		Authority: buyer.PublicKey(), Treasury: newKey(t).PublicKey(), DefaultDecayRateBps: 200,
		DefaultResponseWindow: 300, DefaultProtocolFeeBps: 50, DefaultMaxRounds: 10,
	})
	mint, tokens := chain.issue(buyer.PublicKey(), 100_000_000)
	address, bump, err := protocol.FindNegotiationAddress(buyer.PublicKey(), seller.PublicKey(), 1)
	require.NoError(t, err)
	vault, vaultBump, err := protocol.FindVaultAddress(address)
	require.NoError(t, err)

	created := chain.execute(buyer, &protocol.CreateNegotiation{
		Buyer: buyer.PublicKey(), Seller: seller.PublicKey(), BuyerTokenAccount: tokens, TokenMint: mint,
		TokenProgram: solana.TokenProgramID, SessionID: 1,
		Params: protocol.NegotiationParams{
			EscrowAmount: 5_000_000, MaxRounds: 6, DecayRateBps: 200, ResponseWindow: 300,
			GlobalDeadline: unixTime + 3600, MinOfferBps: 1_000, MaxFeeBps: 50, ServiceHash: [32]byte{1}, Decimals: 6,
		},
	})
	further := uint64(255-bump) + uint64(255-vaultBump)
	require.Equal(t, createUnits+bumpUnits*further, created.ComputeUnits)
	require.NotEmpty(t, created.Inner[0], "the program calls the System and Token programs")
	require.EqualValues(t, 5_000_000, binary.LittleEndian.Uint64(chain.account(vault).Data[64:]))

	accepted := chain.execute(seller, &protocol.AcceptInvitation{
		Seller: seller.PublicKey(), Negotiation: address, TokenMint: mint,
		TermsHash: protocol.TermsHash(address, chain.account(address).Data), Decimals: 6,
	})
	require.EqualValues(t, acceptUnits, accepted.ComputeUnits)
	require.Len(t, accepted.Changes, 2, "the negotiation and the fee payer")
}

// issue writes a six-decimal mint and a token account.
func (c *chain) issue(owner solana.PublicKey, amount uint64) (mint, account solana.PublicKey) {
	c.t.Helper()
	mint, account = newKey(c.t).PublicKey(), newKey(c.t).PublicKey()
	stored := make([]byte, 82)
	binary.LittleEndian.PutUint64(stored[36:], amount)
	stored[44], stored[45] = 6, 1
	tokens := make([]byte, 165)
	copy(tokens, mint[:])
	copy(tokens[32:], owner[:])
	binary.LittleEndian.PutUint64(tokens[64:], amount)
	tokens[108] = 1
	for address, data := range map[solana.PublicKey][]byte{mint: stored, account: tokens} {
		require.NoError(c.t, c.SetAccount(address, engine.Account{
			Lamports: engine.MinimumBalance(len(data)), Owner: solana.TokenProgramID, Data: data,
		}))
	}
	return mint, account
}
