// Package llm lets language models bargain within limits that the owner sets. The model proposes, the engine
// decides:
//
//	player, err := llm.NewPlayer(model, llm.Options{
//		Principal: "Buy a summary of the paper. Cheap matters more than fast.",
//		Budget:    llm.Budget{Tokens: 1_000_000},
//	})
//	config := agent.Config{Mints: limits, Decide: player.Decide, Admit: player.Admit}
//
// Packages openai and anthropic connect models; a [Model] of one's own needs one method.
//
// # Turns
//
// At each turn a strategy of package bargain computes a move and a target, the offer to make if nothing is
// accepted. The band contains the offers near the target's utility, and none below the reservation value:
// [Options].SlackBps and [Options].LeadBps set the distance. Models receive [Facts]: numbers of the
// negotiation, the band, candidates with values, and the permitted moves. They return a move and a reason as
// JSON.
//
//   - An offer outside the band moves to the nearest price inside.
//   - An acceptance needs a standing offer inside or above the band, or a strategy that accepts.
//   - An end needs [Options].MayWalkAway.
//   - After any other answer or failure, the strategy moves.
//
// On a last turn a strategy that accepts does so without asking a model. With a single possible move no model
// is asked either. So no agreement is worse than the strategy's target less the owner's slack.
//
// # Text
//
// Models receive no counterparty text. Protocols with text pass it as [Quote]: quoted data in a separate JSON
// member, which never reaches limits, band or checks. Records contain the model's reason, bounded and without
// control characters. Nothing sends it.
//
// # Time, failures and money
//
// Decisions return before the turn's deadline less [Options].Reserve. Requests that fail temporarily are
// retried while time permits, after the pause in Retry-After. After five consecutive failures a circuit
// breaker blocks requests to that model for 30 seconds. [Budget] limits tokens and cost per negotiation and
// in total; once used up, the strategy plays alone. Repeated turns at an unchanged position reuse the first
// answer.
//
// # Records
//
// [Options].Decided receives each decision with facts, answers, corrections and costs. [Player.Spending]
// returns counts by negotiation and model. Records and logs contain no keys and no error texts; prompts are
// logged only with [Options].LogPrompts.
//
// # Other protocols
//
// [Chooser] uses no chain. Runtimes of other protocols call [Chooser.Choose] with a [Position] from
// [bargain.Assess], and [Chooser.Consider] with an [Invitation].
package llm
