// Package scenarios plays whole negotiations on a real chain: the program's deployable file, the SDK, and nothing in between.
//
// Each test is a scenario with a buyer, a seller and a mint of its own, and says to the unit what is in every token account
// when it ends. It is played once under SPL Token and once under Token-2022, unless what happens in it can happen under one of
// them alone. The same scenarios run on every kind of chain that internal/testchain knows (HAGGLE_CHAIN), except that
// those which need hours are played where the clock can be set, and are marked so in the list on all of them; the list of
// those that were played to their end is printed, and written to the file that HAGGLE_SCENARIO_LIST names.
package scenarios
