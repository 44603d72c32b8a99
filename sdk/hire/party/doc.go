// Package party runs an agent of HIRE/1.0. A worker is two functions: [Worker].Quote answers proposals, and
// [Worker].Deliver does the work. A seeker is two functions as well: [Seeker].Decide answers counters, and
// [Seeker].Review releases or disputes a delivery.
//
//	worker, err := party.NewWorker(party.Worker{Config: config, Quote: quote, Deliver: deliver})
//	...
//	err = worker.Run(ctx)
//
// The runtime does the rest. It reads the agent's messages at a home, verifies them, calls the function once
// per conversation state, and signs and sends the moves. If the counterpart accepts the agent's own terms, it
// signs the second acceptance. With a [Chain] it settles: the seeker deposits the price in escrow, the worker
// joins and delivers once the escrow is proven, and the seeker releases the payment or disputes it.
//
// # Limits
//
// [Limits] are required. The runtime never signs an offer or acceptance beyond the limits, or an on-chain
// negotiation that differs from the accepted terms. With a [Chain], it signs no unsettleable terms either:
// see [escrow.Settleable]. Any other move is an [*InvalidMove]: the function is called once more, and then
// the deal is rejected.
//
// # Text
//
// [Turn] numbers, times and addresses are typed. Text from the counterpart is in [Turn].Text, as [hire.Text],
// and is untrusted: limits and checks never depend on it.
//
// # Time
//
// A function may take as long as the counterpart's patience lasts: [Turn].Due. Shortly before, the runtime rejects
// with the reason code "unavailable", so that nobody waits in vain.
//
// # Restarts
//
// The runtime stores nothing. When restarted, it reads open conversations at the home and the chain's state,
// and continues. With a journal ([haggle.Config].Journal) no action on chain is repeated. Deliver may be
// called again for the same contract if the process ends before the delivery is stored at the home.
package party
