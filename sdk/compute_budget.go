package haggle

import (
	"context"
	"encoding/binary"
	"fmt"
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

const (
	// defaultComputeMargin is in percent.
	defaultComputeMargin = 10
	// defaultFeePercentile is what three quarters of the recent blocks have asked at most.
	defaultFeePercentile = 75
)

// computeMargin is how much more a transaction may consume than its simulation, in percent. A limit of more than a transaction can
// ask for is that.
func computeMargin(configured int) (uint64, error) {
	if configured < 0 {
		return 0, fmt.Errorf("haggle: ComputeMarginPercent: %d is negative", configured)
	}
	return min(uint64(nonZeroOr(configured, defaultComputeMargin)), 100*maxUnitLimit), nil
}

func feePercentile(configured int) (int, error) {
	if configured < 0 || configured > 100 {
		return 0, fmt.Errorf("haggle: PriorityFeePercentile: %d is not 1 to 100", configured)
	}
	return nonZeroOr(configured, defaultFeePercentile), nil
}

// unitLimitFor is the limit for a transaction whose simulation has consumed so many units: a margin in percent more, and the
// reserve.
func unitLimitFor(consumed, margin uint64) uint32 {
	// A node can say anything; the sum must not wrap around.
	consumed = min(consumed, maxUnitLimit)
	return uint32(min(consumed+consumed*margin/100+unitReserve, maxUnitLimit))
}

// unitPrice is what transactions that write the same accounts have recently paid, in millionths of a lamport per compute unit:
// the client's percentile of them paid no more.
func (c *Client) unitPrice(ctx context.Context, instructions []solana.Instruction) (uint64, error) {
	recent, err := c.rpc.GetRecentPrioritizationFees(ctx, writtenAccounts(instructions))
	if err != nil {
		return 0, err
	}
	prices := make([]uint64, len(recent))
	for i, fee := range recent {
		prices[i] = fee.PrioritizationFee
	}
	return percentile(prices, c.feePercentile), nil
}

// percentile is the least of the values that so many percent of the others do not exceed; zero of none.
func percentile(values []uint64, percent int) uint64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(len(values)*percent/100, len(values)-1)]
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
