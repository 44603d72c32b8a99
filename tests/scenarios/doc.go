// Package scenarios runs whole negotiations on a real chain, with the program's deployable file and the SDK.
//
// Each test is a scenario with a separate buyer, seller and mint, and asserts the exact final balance of
// every token account. It runs once under SPL Token and once under Token-2022, unless only one program
// supports it. The same scenarios run on every kind of chain of sdk/localnet (HAGGLE_CHAIN), except that
// scenarios needing hours run only where the clock can be set, and are marked in the list. The list of the
// scenarios that ran to their end is printed, and written to the file that HAGGLE_SCENARIO_LIST names.
package scenarios
