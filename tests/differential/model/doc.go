// Package model is a second implementation of the protocol, written from the design document alone. It computes
// every instruction's result code, changed accounts and events, exact to the base unit and byte.
// tests/differential compares it with the program's ELF file.
//
// The model is a pure function. Its inputs are an Environment (accounts and a clock) and an Instruction:
//
//	instruction := model.Encode(&model.ClaimPayout{Party: seller, Negotiation: address, ...})
//	result := model.Execute(environment, instruction)
//	if result.Code == model.Success {
//		environment.Apply(result)
//	}
//
// Amounts are in a mint's base units, rates in basis points, times in Unix seconds. Token accounts are
// modeled as far as the protocol reaches them: balances, frozen accounts, delegates, close authorities, wrapped
// SOL, and Token-2022 extensions enabled by account owners.
package model
