package ledger

import (
	"encoding/binary"
	"math/bits"

	"github.com/gagliardetto/solana-go"
)

// Compute units per instruction if a transaction sets no limit, and the largest limit.
const (
	defaultUnits = 200_000
	builtinUnits = 3_000
	maxUnits     = 1_400_000
)

// Instructions of the compute budget program.
const (
	setUnitLimit = 2
	setUnitPrice = 3
)

// builtins lists the runtime's built-in programs.
var builtins = map[solana.PublicKey]bool{
	solana.SystemProgramID: true, solana.ComputeBudget: true, solana.VoteProgramID: true, solana.BPFLoaderProgramID: true,
	solana.BPFLoaderDeprecatedProgramID: true, solana.BPFLoaderUpgradeableProgramID: true,
}

// Fee returns the transaction fee in lamports, including the priority fee. If the blockhash has expired, it
// returns false. Signatures are not verified.
func (l *Ledger) Fee(wire []byte) (uint64, bool, error) {
	transaction, _, err := decode(wire)
	if err != nil {
		return 0, false, err
	}
	message := &transaction.Message
	l.lock.Lock()
	defer l.lock.Unlock()
	if _, durable := l.durableNonce(message); !durable && !l.usable(message.RecentBlockhash) {
		return 0, false, nil
	}
	return LamportsPerSignature*uint64(message.Header.NumRequiredSignatures) + priorityFee(message), true, nil
}

// priorityFee returns the price of the compute unit limit, in lamports.
func priorityFee(message *solana.Message) uint64 {
	var limit, price uint64
	limited := false
	for _, instruction := range message.Instructions {
		program := message.AccountKeys[instruction.ProgramIDIndex]
		data := instruction.Data
		switch {
		case program == solana.ComputeBudget && len(data) >= 5 && data[0] == setUnitLimit:
			limit, limited = uint64(binary.LittleEndian.Uint32(data[1:])), true
		case program == solana.ComputeBudget && len(data) >= 9 && data[0] == setUnitPrice:
			price = binary.LittleEndian.Uint64(data[1:])
		}
		if limited {
			continue
		}
		if builtins[program] {
			limit += builtinUnits
		} else {
			limit += defaultUnits
		}
	}
	const microLamports = 1_000_000
	high, low := bits.Mul64(min(limit, maxUnits), price)
	low, carry := bits.Add64(low, microLamports-1, 0)
	if high += carry; high >= microLamports {
		return 1<<64 - 1
	}
	fee, _ := bits.Div64(high, low, microLamports)
	return fee
}
