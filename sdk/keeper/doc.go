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
// earns nothing: escrow, bonds, payouts and rent go to the parties, fee and decay to the treasury. To close a
// negotiation also costs about 2,000,000 lamports of rent if the treasury has no token account for the mint.
// Config.MaxFee limits the cost of one action, rent included, and Config.DailyBudget that of all actions
// within 24 hours. The highest cost is reserved before a transaction is sent; the difference to its real cost
// is given back.
//
// # Order
//
// Anyone can create negotiations that cost almost nothing and leave their expiry and closing to keepers. They
// must not delay the expiry of other negotiations, where a party waits for its money. So closes start only when
// no other task waits, and use only Config.CloseShareBps of the rate and of the budget. While more expiries,
// releases and settlements are due than the keeper can start, their buyers take turns, and every second task
// has a mint of Config.Mints; among those, each doubling of the escrow counts as a minute of lateness.
//
// # Several keepers
//
// Any number of keepers can run at the same time, beside the parties' agents. The parties have Config.Grace
// to act themselves, and Config.Jitter separates the keepers. A keeper reads the negotiation again and
// simulates the transaction before it sends. The later keeper fails in simulation, pays no fee and reports
// nothing; only two keepers that send at the same moment cost one of them a fee. Keepers of one wallet share its
// budgets by Config.Store. An action that fails, such
// as a closing with a payout that cannot be delivered, is retried after pauses that double.
//
// # Events and scans
//
// The keeper receives a hint of every transaction of the program ([haggle.Client.Listen]), reads the
// negotiations that it changed, and acts when their deadlines have passed by the chain's clock. A periodic
// scan (Config.ScanEvery) finds missed negotiations; while no hints arrive, it runs every 30 s.
//
// A keeper can be killed at any time. Its only state is the expenses in Config.Store.
package keeper
