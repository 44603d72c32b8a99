// Package keeper sends the instructions that anyone may send, for all negotiations of the program: it expires
// negotiations after their deadline ([Expire]), releases milestones after their review ([Release]), settles
// milestones after their deadline ([Settle]), and closes negotiations that are over ([Close]).
//
//	k, err := keeper.New(client, wallet, keeper.Config{})
//	...
//	err = k.Run(ctx)
//
// # Cost
//
// The keeper pays 5,000 lamports per transaction, and priority fees up to [haggle.Config].MaxPriorityFee. It
// earns nothing: escrow, bonds, payouts and rent go to the parties, fee and decay to the treasury. Closing a
// negotiation also costs about 2,000,000 lamports of rent if the treasury lacks a token account for the mint.
// Config.MaxFee limits an action's cost, rent included, and Config.DailyBudget limits the cost of all actions
// within 24 hours. The highest cost is reserved before a transaction is sent; the difference to the real cost
// is given back.
//
// # Order
//
// Anyone can create negotiations that cost almost nothing and leave their expiry and closing to keepers. They
// must not delay other negotiations' expiry, where a party waits for money. So closes start only when no
// other task waits, and use only Config.CloseShareBps of the rate and the budget. While more expiries,
// releases and settlements are due than the keeper can start, their buyers take turns, and every second task
// uses a mint from Config.Mints; among those, each doubling of the escrow counts as a minute of lateness.
//
// # Several keepers
//
// Any number of keepers can run at the same time, beside the parties' agents. The parties have Config.Grace
// to act themselves, and Config.Jitter separates the keepers. A keeper reads the negotiation again and
// simulates the transaction before sending. The later keeper fails in simulation, pays no fee and reports
// nothing; only if two keepers send at the same moment does one of them pay a fee. Keepers using the same
// wallet share budgets by Config.Store. A failed action, such as a close with an undeliverable payout, is
// retried after pauses that double.
//
// # Events and scans
//
// The keeper receives a hint of every transaction of the program ([haggle.Client.Listen]), reads the
// negotiations that it changed, and acts when their deadlines have passed by the chain's clock. A periodic
// scan (Config.ScanEvery) finds missed negotiations; while no hints arrive, it runs every 30 s.
//
// A keeper can be killed at any time. The only persistent state is the expenses in Config.Store.
package keeper
