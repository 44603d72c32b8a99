// Package scenarios runs whole negotiations on a real chain, with the program's deployable file and the SDK.
//
// Each test is a scenario with a buyer, a seller and a mint of its own, and asserts the exact balance of
// every token account at its end. It runs once under SPL Token and once under Token-2022, unless it is
// possible under one of them alone. The same scenarios run on every kind of chain of sdk/localnet
// (HAGGLE_CHAIN), except that those which need hours run where the clock can be set, and are marked in the
// list. The list of the scenarios that ran to their end is printed, and written to the file that
// HAGGLE_SCENARIO_LIST names.
package scenarios
