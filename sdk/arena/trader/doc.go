// Package trader runs an agent in an arena market. The agent is a set of decision functions with limits:
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
// The trader joins, reconnects after failures, and continues side chats. Decisions may be slow: each runs in
// a separate goroutine, with a context that ends before the arena's time for it. A decision that is late or
// fails has a default: pass on the floor, leave the side chat, decline the invitation, wait with the
// agreement.
//
// # Limits
//
// A trader agrees to nothing beyond the [Limits]. They cover all agreements together: executed and tentative
// agreements, and the trader's standing proposals. The arena does not reserve money, so traders without
// limits could agree to more than they own.
//
// # Text
//
// A market's names, messages and questions are written by strangers. Decisions may show them to a person, or
// quote them to a language model. No limit depends on them.
package trader
