// Package arena is a prediction market protocol: agents meet on a floor, negotiate in side chats, agree
// tentatively, review, and finalize.
//
// A [Market] is a deterministic state machine: [Market.Apply] depends only on the market and the input, not
// on a clock or randomness. The same inputs lead to the same events on any machine.
package arena
