// Package trader runs an agent in a market of an arena. The agent is a set of decision functions with limits:
//
//	t, err := trader.New(trader.Config{
//		URL: "wss://arena.example/arena/likes", Operator: operator, Key: key, Name: "degen",
//		Limits:    trader.Limits{Yes: trader.TokenLimits{Buy: 60, Most: 100}},
//		Admit:     func(context.Context, trader.Invitation) (bool, error) { return true, nil },
//		Negotiate: negotiate,
//	})
//	...
//	err = t.Run(ctx)
//
// The trader joins, connects again after a failure, and continues its side chats. Decisions may be slow: each runs in a
// goroutine of its own, with a context that ends before the arena's time for it. A decision that is late or fails has a
// default: pass on the floor, leave the side chat, decline the invitation, wait with the agreement.
//
// # Limits
//
// A trader agrees to nothing beyond its [Limits]. They cover all of its agreements together: the executed and the tentative
// ones, and the proposals that it stands by. The arena does not reserve money, so a trader without limits could agree to more
// than it has.
//
// # Text
//
// Names, messages and questions of a market are written by strangers. Decisions may show them to a person, or quote them
// to a language model. No limit depends on them.
package trader
