// Package model is a second implementation of the protocol, written from the design document alone. It
// computes the result code, the changed accounts and the events of every instruction, exact to the base unit
// and to the byte. tests/differential compares it with the program's ELF file.
//
// The model is a pure function of an Environment (accounts and a clock) and an Instruction:
//
//	instruction := model.Encode(&model.ClaimPayout{Party: seller, Negotiation: address, ...})
//	result := model.Execute(environment, instruction)
//	if result.Code == model.Success {
//		environment.Apply(result)
//	}
//
// Amounts are base units of a mint, rates are basis points, times are Unix seconds. Token accounts are
// modelled as far as the protocol reaches them: balances, frozen accounts, delegates, close authorities,
// wrapped SOL, and the Token-2022 extensions that the owner of a token account can enable.
package model
