// Package differential plays the same random sequences of instructions against the reference model (internal/model) and
// against the program's ELF file in a virtual machine (internal/machine), and compares everything: what each instruction
// answers, every account it changes byte by byte, and every event in order. Laws that need no model are checked as well.
//
//	go test ./tests/differential                                  # 50,000 instructions
//	HAGGLE_INSTRUCTIONS=1000000 go test -timeout 1h ./tests/differential
//	HAGGLE_FIRST_SEED=123456 go test ./tests/differential         # other sequences
//	HAGGLE_SEED=42 go test -v ./tests/differential                # one sequence, told step by step
//	HAGGLE_ELF=changed.so go test ./tests/differential            # another file than the one built from these sources
//
// A sequence is made from its seed alone. One that fails is shrunk to the steps that matter and printed with its seed.
package differential
