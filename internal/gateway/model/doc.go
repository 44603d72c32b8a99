// Package model lets language models choose the counter offers of publishers' strategies. The rules of package
// engine decide first, and all that they decide alone stays: acceptances, rejections, approvals and the end of a
// negotiation. For a counter offer of a strategy that names a model, the model gets the rules' facts and returns a
// price and a reason:
//
//	models, err := model.New(model.Config{Models: available, Budget: llm.Budget{Tokens: 1_000_000}})
//	decision, err := model.Rules(&strategy, state, proposal)
//	if models.Asks(&strategy, decision) {
//		answer, err := models.Answer(ctx, model.Question{Strategy: &strategy, State: state, Proposal: proposal})
//	}
//
// The price is one of the band of the decision: see package engine. A price outside is moved to the nearest one
// inside. After any other answer, a failure, the deadline, and without budget, the rules' own counter offer is the
// answer, and the [Report] has the reason.
//
// Models get numbers, names of purposes, the system prompt of the strategy, and the client's verified name as quoted
// data: nothing else that a client writes. The minimum price is not among the facts. A system prompt that contains it
// lets the model's prices depend on it, within the band.
//
// The model's text is untrusted. It is in [Report], which is for the publisher; no answer to a client contains it.
package model
