// Package transaction describes transactions of any Solana program after they were built: the outcome
// ([Outcome], [OutcomeOf]), the errors of sending, the receipt, and the balances that change. It also has the
// errors and the health of nodes.
package transaction
