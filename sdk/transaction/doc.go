// Package transaction describes transactions of any Solana program once they are built: the outcome
// ([Outcome], [OutcomeOf]), the errors of sending, the receipt, and the balances that change. It also
// contains the errors and the health of nodes.
package transaction
