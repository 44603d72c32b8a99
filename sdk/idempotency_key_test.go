package haggle

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// An action that names the deal is sent once, however often it is built. The others can be meant again.
func TestKeyFollowsFromTheInstruction(t *testing.T) {
	repeatable := map[string]bool{
		"initialize_config": true, "update_config": true, "set_paused": true, "propose_authority": true,
		"accept_authority": true, "expire_negotiation": true, "close_negotiation": true, "claim_payout": true,
		"settle_deadline": true,
	}
	keys := map[solana.Hash]string{}
	for _, instruction := range protocol.Instructions() {
		name := instruction.InstructionName()
		key := keyOf(testBuyer, instruction)
		assert.Equal(t, repeatable[name], key.IsZero(), name)
		if !key.IsZero() {
			assert.Empty(t, keys[key], name)
			keys[key] = name
			assert.NotEqual(t, key, keyOf(testSeller, instruction), name)
		}
	}
	dispute := func(negotiation solana.PublicKey, index uint8) *protocol.DisputeMilestone {
		return &protocol.DisputeMilestone{Negotiation: negotiation, Index: index}
	}
	assert.Equal(t, keyOf(testBuyer, dispute(testSeller, 1)), keyOf(testBuyer, dispute(testSeller, 1)))
	assert.NotEqual(t, keyOf(testBuyer, dispute(testSeller, 1)), keyOf(testBuyer, dispute(testSeller, 2)))
	assert.NotEqual(t, keyOf(testBuyer, dispute(testSeller, 1)), keyOf(testBuyer, dispute(testBuyer, 1)))
	creation := func(escrow uint64) *protocol.CreateNegotiation {
		return &protocol.CreateNegotiation{Negotiation: testSeller, Params: protocol.NegotiationParams{EscrowAmount: escrow}}
	}
	assert.Equal(t, keyOf(testBuyer, creation(1)), keyOf(testBuyer, creation(2)))
}
