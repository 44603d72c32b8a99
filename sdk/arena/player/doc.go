// Package player provides agents for an arena that bargain by strategies of package bargain:
//
//	p, err := player.New(player.Personalities()[0], player.Options{Estimate: 62, Risk: 50 * arena.SetPrice})
//	t, err := trader.New(p.Trader(trader.Config{URL: url, Operator: operator, Key: key, Name: "ada"}))
//	err = t.Run(ctx)
//
// A player negotiates one sale in a chat with texts, and packages of sales with up to four others in a chat of stacked
// alternating offers (SAOP), by the same strategy.
//
// A player has an estimate: the probability of YES. It buys below and sells above it, and leaves itself an edge. Money
// decisions follow from the estimate, the prices of the market, and the offers alone. Texts of others have no effect on
// them.
package player
