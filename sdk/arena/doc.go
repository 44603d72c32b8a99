// Package arena is the protocol of a prediction market in which agents meet on a floor, negotiate in side chats, agree
// tentatively, review, and finalize.
//
// A [Market] is a state machine: [Market.Apply] is a function of the market and of an input, with no clock and no
// randomness of its own. The same inputs lead to the same events on any machine.
package arena
