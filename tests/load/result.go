package load

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Result contains a run's measurements and findings.
type Result struct {
	// Findings lists differences from the scripts: lost negotiations, missing money, accounts that
	// negotiations share. Only the first are described. In a successful run it is empty.
	Findings []string

	*run
	machine                     string
	driverCores, validatorCores float64
}

// blockStatistics describes the program's transactions in the blocks.
type blockStatistics struct {
	failed int
	// fullest is the largest number of the program's transactions per block before the closings, and parties
	// the number of their negotiations.
	fullest, parties int
}

func (r *Result) statistics() (s blockStatistics) {
	known := map[solana.PublicKey]bool{}
	for _, n := range r.negotiations {
		known[n.address] = true
	}
	perBlock, parties := map[uint64]int{}, map[uint64]map[solana.PublicKey]bool{}
	for i := range r.blocks.program {
		transaction := &r.blocks.program[i]
		if transaction.failed {
			s.failed++
		}
		negotiation, ok := negotiationOf(transaction, known)
		if !ok || transaction.instruction == closeInstruction {
			continue
		}
		slot := transaction.slot
		if parties[slot] == nil {
			parties[slot] = map[solana.PublicKey]bool{}
		}
		perBlock[slot]++
		parties[slot][negotiation] = true
		if perBlock[slot] >= s.fullest {
			s.fullest, s.parties = perBlock[slot], len(parties[slot])
		}
	}
	return s
}

// accountNames returns the names of the accounts that negotiations can share.
func (r *run) accountNames() map[solana.PublicKey]string {
	config, _, _ := protocol.FindConfigAddress()
	treasury, _, _ := solana.FindAssociatedTokenAddress(r.net.Treasury, r.mint)
	return map[solana.PublicKey]string{
		config:                 "the protocol's configuration",
		treasury:               "the treasury's token account",
		r.mint:                 "the mint",
		protocol.ProgramID:     "the program",
		solana.TokenProgramID:  "SPL Token",
		solana.SystemProgramID: "the system program",
		solana.ComputeBudget:   "the compute budget program",
		solana.SPLAssociatedTokenAccountProgramID: "the associated token account program",
	}
}

// Write writes the page to a file, and the plot data (csv) and the plot (svg) to files with the same base
// name.
func (r *Result) Write(path string) error {
	name := filepath.Base(path)
	stem := filepath.Join(filepath.Dir(path), strings.ToLower(strings.TrimSuffix(name, filepath.Ext(name))))
	if err := os.WriteFile(path, []byte(r.Page(filepath.Base(stem)+".svg")), 0o644); err != nil {
		return err
	}
	curves := r.curves()
	for extension, write := range map[string]func(io.Writer, []curve) error{".csv": writeCurves, ".svg": draw} {
		var content bytes.Buffer
		if err := write(&content, curves); err != nil {
			return err
		}
		if err := os.WriteFile(stem+extension, content.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
