// Package keeper clears up after agents that do not. It looks at all negotiations of the program and does what anyone may: it ends
// those whose time is over ([Expire]), has milestones paid that the buyer has been silent on ([Release]), has those decided whose
// time is over ([Settle]), and closes what is over ([Close]).
//
//	k, err := keeper.New(client, wallet, keeper.Config{})
//	...
//	err = k.Run(ctx)
//
// # Who pays
//
// The keeper does, and gets nothing for it: 5,000 lamports a transaction and what [haggle.Config].MaxPriorityFee allows. Escrow,
// bonds, payouts and rent go to the parties, fee and decay to the treasury. Only to close may cost more: where the treasury has no
// token account for a mint yet, the closer pays that one's rent, about 2,000,000 lamports. Config.MaxFee is the most that one action
// may cost, that included, and Config.DailyBudget the most that all may within 24 hours.
//
// # Next to others
//
// Any number of keepers can run at the same time, and the parties' own agents besides. Everybody gets some time to do it
// themselves (Config.Grace), and two keepers seldom try at the same moment (Config.Jitter). The state is read again right before
// anything is done, and the transaction is simulated: who comes second learns it for free, and says nothing; only if both send before
// either has landed does one of them pay a fee in vain. What cannot be done now, such as a payout that nobody can receive, is tried
// ever more rarely.
//
// # How it knows
//
// The keeper hears of every transaction of the program ([haggle.Client.Listen], one connection), reads the negotiations that it was
// about, and acts when their deadlines have passed by the chain's clock. What it may have missed a list of all negotiations has
// (Config.ScanEvery); while it cannot hear anything, it lists them every half minute. The parties have more than a minute for
// everything, so that nothing comes too late by that.
//
// It can be killed at any time. All that it keeps is what it has spent, and only if Config.BudgetFile says where.
package keeper
