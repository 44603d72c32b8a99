// Package model lets language models choose the counter offers of publishers' strategies. The rules of
// package engine decide first, and all that they decide alone stays: acceptances, rejections, approvals and
// negotiation ends. If a strategy names a model, the model chooses counter offers: it gets the rules' facts
// and returns a price and a reason:
//
//	models, err := model.New(model.Config{Models: available, Budget: llm.Budget{Tokens: 1_000_000}})
//	decision, err := model.Rules(&strategy, state, proposal)
//	if models.Asks(&strategy, decision) {
//		answer, err := models.Answer(ctx, model.Question{
//			Strategy: &strategy, State: state, Proposal: proposal, Deadline: time.Now().Add(time.Minute),
//		})
//	}
//
// The price lies in the decision's band: see package engine. A price outside is moved to the nearest price
// inside. After any other response, a failure, the deadline, or if the budget is used up, the rules' own
// counter offer is the answer, and the [Report] contains the reason.
//
// Models get numbers, purpose names, the strategy's system prompt, and the client's verified name as quoted
// data: nothing else that a client writes. The minimum price is not among the facts. A system prompt that
// contains it lets the model's prices depend on it, within the band.
//
// The model's text is untrusted. It is in [Report], which is for the publisher; no answer to a client contains it.
package model
