package haggle

import (
	"context"
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// The compute budget program's instructions that are used here: a byte, then a number.
const (
	setComputeUnitLimit = 2
	setComputeUnitPrice = 3
)

const (
	// maxUnitLimit is the highest compute limit for a transaction.
	maxUnitLimit = 1_400_000
	// unitReserve covers the compute budget's own instructions, 150 units each: the simulation may lack the
	// instruction that sets a price.
	unitReserve = 300
	// prefundedUnits is the additional cost of creating an account at an address with lamports.
	prefundedUnits = 2_400
	// microLamports is the number of microlamports in a lamport.
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
	// computeMargin is the compute that a transaction may consume beyond the simulation, in percent.
	computeMargin = 10
	// feePercentile selects the fee that sufficed in three quarters of the recent blocks.
	feePercentile = 75
)

// unitLimit returns the transaction's compute limit, given the simulation. It covers the worst case of the
// action's own instructions, which can occur if the state or a token account changes between the simulation
// and the execution, and the simulated units of all others. A margin comes on top.
func (a *Action) unitLimit(consumed uint64, logs []string) uint32 {
	worst, err := a.worstUnits()
	if err != nil {
		return maxUnitLimit // if no address is found, the simulation failed as well
	}
	return limitFor(consumed, ownUnits(logs), worst)
}

// limitFor adds up a compute limit. It bounds the numbers first, because a node can return any.
func limitFor(consumed, own, worst uint64) uint32 {
	consumed, worst = min(consumed, maxUnitLimit), min(worst, maxUnitLimit)
	own = min(own, consumed)
	needed := consumed - own + max(own, worst)
	return uint32(min(needed+needed*computeMargin/100+unitReserve, maxUnitLimit))
}

// worstUnits returns the worst case of the action's own instructions; zero for another program's.
func (a *Action) worstUnits() (uint64, error) {
	if a.instruction == nil {
		return 0, nil
	}
	units, err := a.worstUnitsOf(a.Name, a.instruction)
	if err != nil || a.second == nil {
		return units, err
	}
	second, err := a.worstUnitsOf(a.second.InstructionName(), a.second)
	return units + second, err
}

// worstUnitsOf returns an instruction's worst case. The worst cases are measured at the first bump of every
// address; if the instruction may derive an address, the bump is known.
func (a *Action) worstUnitsOf(name string, instruction protocol.AnyInstruction) (uint64, error) {
	units, ok := protocol.WorstComputeUnits(name)
	if !ok {
		return 0, nil
	}
	tokenProgram := a.tokenProgram()
	switch on := instruction.(type) {
	case *protocol.InitializeConfig:
		return units.Of(tokenProgram) + prefundedUnits, nil
	case *protocol.CreateNegotiation:
		negotiation, bump, err := protocol.FindNegotiationAddress(on.Buyer, on.Seller, on.SessionID)
		if err != nil {
			return 0, err
		}
		_, vaultBump, err := protocol.FindVaultAddress(negotiation)
		return units.Of(tokenProgram, bump, vaultBump) + 2*prefundedUnits, err
	}
	if units.EachFurtherBump == 0 || a.snapshot == nil || tokenProgram.IsZero() {
		return units.Of(tokenProgram), nil
	}
	// If a party cannot be paid at the named account, the program derives the associated account.
	var bumps [2]uint8
	for i, party := range []solana.PublicKey{a.snapshot.Buyer, a.snapshot.Seller} {
		var err error
		if _, bumps[i], err = solana.FindAssociatedTokenAddressWithProgram(party, a.snapshot.TokenMint,
			tokenProgram); err != nil {
			return 0, err
		}
	}
	return units.Of(tokenProgram, bumps[:]...), nil
}

// tokenProgram returns the token program that the action's own instructions call; zero if none.
func (a *Action) tokenProgram() solana.PublicKey {
	for _, instruction := range a.Instructions {
		if instruction.ProgramID() != protocol.ProgramID {
			continue
		}
		for _, account := range instruction.Accounts() {
			if token.IsProgram(account.PublicKey) {
				return account.PublicKey
			}
		}
	}
	return solana.PublicKey{}
}

// ownUnits returns the compute units consumed by this program's instructions according to a simulation's
// logs; zero if the logs are cut off.
func ownUnits(logs []string) (units uint64) {
	for _, line := range logs {
		rest, ok := strings.CutPrefix(line, "Program "+protocol.ProgramAddress+" consumed ")
		if !ok {
			continue
		}
		number, _, _ := strings.Cut(rest, " ")
		consumed, err := strconv.ParseUint(number, 10, 32)
		if err == nil {
			units += consumed
		}
	}
	return units
}

// unitPrice returns a percentile of the prices that transactions which write the same accounts recently paid,
// in millionths of a lamport per compute unit.
func (c *Client) unitPrice(ctx context.Context, instructions []solana.Instruction) (uint64, error) {
	recent, err := c.rpc.GetRecentPrioritizationFees(ctx, writtenAccounts(instructions))
	if err != nil {
		return 0, err
	}
	prices := make([]uint64, len(recent))
	for i, fee := range recent {
		prices[i] = fee.PrioritizationFee
	}
	return percentile(prices, feePercentile), nil
}

// percentile returns the least value that is at least as large as the given percentage of values; zero
// without values.
func percentile(values []uint64, percent int) uint64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(len(values)*percent/100, len(values)-1)]
}

// maxFeeAccounts limits the accounts per request for recent fees.
const maxFeeAccounts = 128

func writtenAccounts(instructions []solana.Instruction) solana.PublicKeySlice {
	written := solana.PublicKeySlice{}
	for _, instruction := range instructions {
		for _, account := range instruction.Accounts() {
			if account.IsWritable && !slices.Contains(written, account.PublicKey) {
				written = append(written, account.PublicKey)
			}
		}
	}
	return written[:min(len(written), maxFeeAccounts)]
}

// cappedUnitPrice lowers a price so that all units of the limit together cost no more than the cap, in
// lamports. The chain rounds the fee up to a whole lamport; this rounds the price down.
func cappedUnitPrice(price uint64, limit uint32, lamports uint64) uint64 {
	high, low := bits.Mul64(lamports, microLamports)
	if high >= uint64(limit) {
		return price
	}
	most, _ := bits.Div64(high, low, uint64(limit))
	return min(price, most)
}
