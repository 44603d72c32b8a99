// Package model is a second implementation of the protocol: what every instruction answers, changes and logs, to the unit
// and to the byte, as the design says it and not as the program does it. It was written without looking at the program, so
// that the two only agree where both are right, or where the design itself is wrong.
//
// It is a pure function. A World has accounts and a time; Execute says what an instruction does to it:
//
//	result := model.Execute(world, instruction)
//	if result.Code == model.Success {
//		world.Apply(result)
//	}
//
// Amounts are base units of a mint, rates basis points, times Unix seconds. Token transfers are modelled as far as this
// protocol can reach them: balances, frozen accounts, wrapped SOL, and the Token-2022 extensions that a token account's owner
// can switch on.
package model
