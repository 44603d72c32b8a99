// Package differential executes the same random instructions in the reference model
// (tests/differential/model) and the program's ELF file on two virtual machines. It compares every result
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
// shrunk to the steps that reproduce the failure, and printed with the seed.
//
// The two machines are program/svm, Agave's crates compiled for this processor (mollusk), and
// sdk/localnet/engine, the same crates compiled to WebAssembly (LiteSVM). For every instruction and every
// simulation they must agree byte for byte on result, compute units, log, return data and changed accounts.
// The engine executes transactions, so that these differences remain:
//
//   - The fee payer and the fee payer's balance are not compared, because the sequences do not use this account.
//   - In a transaction, accounts reserved for the runtime are never writable, such as the system program.
//     The model and program/svm get the flags passed on by a transaction (asLoaded).
//   - A transaction fails if it leaves an account short of rent exemption. Such steps are not executed
//     (isRentRefused).
//   - Rent epochs are not compared: transactions maintain them, while instructions neither read nor change them.
//   - Only in the engine do program accounts and the program data account contain the ELF file.
package differential
