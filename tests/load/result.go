package load

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Result has the measurements and findings of a run.
type Result struct {
	Options Options
	// Findings are differences from the scripts: lost negotiations, missing money, accounts that negotiations
	// share. Only the first twenty are described. A successful run has none.
	Findings []string

	terms                       terms
	machine                     string
	driverCores, validatorCores float64
	records                     []record
	lasted                      [stageCount]time.Duration
	audit                       audit
	scripts                     []script
	names                       map[solana.PublicKey]string
	// partiesRequests and payersRequests are the numbers of requests of the two loads by method.
	partiesRequests, payersRequests map[string]int
	blocks                          blockStatistics
}

// blockStatistics are those of the blocks from the first action to the last.
type blockStatistics struct {
	blocks, program, plain, failed int
	// lasted is the duration of the blocks.
	lasted time.Duration
	// fullest is the largest number of the program's transactions in one block before the closings, and
	// parties the number of their negotiations.
	fullest, parties int
}

// collect copies the reported values out of a run.
func (r *Result) collect(from *run) {
	r.records, r.lasted, r.audit = from.records.records, from.records.lasted, from.audit
	r.Findings = r.audit.findings.texts
	if more := r.audit.findings.count - len(r.Findings); more > 0 {
		r.Findings = append(r.Findings, fmt.Sprintf("and %d more", more))
	}
	for _, n := range from.negotiations {
		r.scripts = append(r.scripts, n.script)
	}
	r.partiesRequests, r.payersRequests = from.parties.requests, from.payers.requests
	r.names = knownAccounts(from)
	r.blocks = from.blocks.statistics(from.negotiations)
}

func (b *blockReader) statistics(negotiations []*negotiation) blockStatistics {
	known := map[solana.PublicKey]bool{}
	for _, n := range negotiations {
		known[n.address] = true
	}
	s := blockStatistics{blocks: b.blocks, lasted: b.lasted, program: len(b.program), plain: len(b.plain)}
	perBlock, parties := map[uint64]int{}, map[uint64]map[solana.PublicKey]bool{}
	for i := range b.program {
		transaction := &b.program[i]
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

// knownAccounts returns the names of the accounts that negotiations can have in common.
func knownAccounts(r *run) map[solana.PublicKey]string {
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

// Write writes the page to a file, and its plot to a file of the same name with the extension svg.
func (r *Result) Write(path string) error {
	name := filepath.Base(path)
	drawing := filepath.Join(filepath.Dir(path),
		strings.ToLower(strings.TrimSuffix(name, filepath.Ext(name)))+".svg")
	if err := os.WriteFile(path, []byte(r.Page(filepath.Base(drawing))), 0o644); err != nil {
		return err
	}
	file, err := os.Create(drawing)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := r.draw(file); err != nil {
		return err
	}
	return file.Close()
}
