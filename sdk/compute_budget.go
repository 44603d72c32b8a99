package haggle

import (
	"context"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/gagliardetto/solana-go"
)

// The compute budget program's instructions that are used here: a byte, then a number.
const (
	setComputeUnitLimit = 2
	setComputeUnitPrice = 3
)

const (
	// maxUnitLimit is the most that a transaction can ask for.
	maxUnitLimit = 1_400_000
	// unitReserve covers what the chain may have to do more than in the simulation: a payment that has to be recorded instead of
	// delivered costs 1,700 units, and the instruction that sets a price, which the simulation may do without, 150.
	unitReserve = 3_000
	// microLamports are a lamport.
	microLamports = 1_000_000
)

type computeBudget struct {
	// unitLimit is in compute units.
	unitLimit uint32
	// unitPrice is in millionths of a lamport per compute unit.
	unitPrice uint64
}

func (b computeBudget) instructions() []solana.Instruction {
	limit := binary.LittleEndian.AppendUint32([]byte{setComputeUnitLimit}, b.unitLimit)
	instructions := []solana.Instruction{solana.NewInstruction(solana.ComputeBudget, nil, limit)}
	if b.unitPrice > 0 {
		price := binary.LittleEndian.AppendUint64([]byte{setComputeUnitPrice}, b.unitPrice)
		instructions = append(instructions, solana.NewInstruction(solana.ComputeBudget, nil, price))
	}
	return instructions
}

// unitLimitFor is the limit for a transaction whose simulation has consumed so many units: a tenth more, and the reserve.
func unitLimitFor(consumed uint64) uint32 {
	// A node can say anything; the sum must not wrap around.
	consumed = min(consumed, maxUnitLimit)
	return uint32(min(consumed+consumed/10+unitReserve, maxUnitLimit))
}

// unitPrice is what transactions that write the same accounts have recently paid, in millionths of a lamport per compute unit:
// three quarters of them paid no more. It is zero for a client that pays no priority fee.
func (c *Client) unitPrice(ctx context.Context, instructions []solana.Instruction) (uint64, error) {
	if c.maxPriorityFee == 0 {
		return 0, nil
	}
	recent, err := c.rpc.GetRecentPrioritizationFees(ctx, writtenAccounts(instructions))
	if err != nil {
		return 0, err
	}
	prices := make([]uint64, len(recent))
	for i, fee := range recent {
		prices[i] = fee.PrioritizationFee
	}
	if len(prices) == 0 {
		return 0, nil
	}
	slices.Sort(prices)
	return prices[len(prices)*3/4], nil
}

// mostFeeAccounts is how many accounts a node can be asked about at once.
const mostFeeAccounts = 128

func writtenAccounts(instructions []solana.Instruction) solana.PublicKeySlice {
	written := solana.PublicKeySlice{}
	for _, instruction := range instructions {
		for _, account := range instruction.Accounts() {
			if account.IsWritable && !slices.Contains(written, account.PublicKey) {
				written = append(written, account.PublicKey)
			}
		}
	}
	return written[:min(len(written), mostFeeAccounts)]
}

// cappedUnitPrice lowers a price so that all units of the limit together cost no more than the cap, in lamports. The chain
// rounds the fee up to a whole lamport; this rounds the price down.
func cappedUnitPrice(price uint64, limit uint32, lamports uint64) uint64 {
	if limit == 0 {
		return 0
	}
	high, low := bits.Mul64(lamports, microLamports)
	if high >= uint64(limit) {
		return price
	}
	most, _ := bits.Div64(high, low, uint64(limit))
	return min(price, most)
}
