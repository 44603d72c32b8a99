// Package differential executes the same random instructions in the reference model
// (tests/differential/model) and in the program's ELF file on a virtual machine. It compares every result
// code, every changed account byte by byte, and every event in order. After each step it also checks
// invariants that do not need the model.
//
//	go test ./tests/differential                                  # 50,000 instructions from new seeds
//	HAGGLE_FIRST_SEED=123456 go test ./tests/differential         # the sequences from this seed on
//	HAGGLE_SEED=42 go test -v ./tests/differential                # one sequence, with a trace of its steps
//	HAGGLE_INSTRUCTIONS=1000000 go test -timeout 1h ./tests/differential
//	HAGGLE_ELF=changed.so go test ./tests/differential            # another ELF file
//	go test -run TestModelKeepsTheInvariants ./tests/differential # without the program: the model alone
//
// A seed determines a sequence. If the seed is not set, it is derived from the clock. A failed sequence is
// shrunk to the steps that reproduce the failure, and printed with its seed.
package differential
