package llm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// question is sent to all models, or to a named one.
type question struct {
	negotiation string
	model       string
	principal   string
	temperature *float64
	// facts go into the request; key identifies the question in the cache.
	facts      json.RawMessage
	key        any
	quotes     []Quote
	rules      string
	schemaName string
	schema     json.RawMessage
	deadline   time.Time
}

// callersOf returns the named model, or all of them if the name is empty. It returns nil for an unknown name.
func (c *Chooser) callersOf(model string) []*caller {
	if model == "" {
		return c.callers
	}
	at := slices.IndexFunc(c.callers, func(c *caller) bool { return c.name == model })
	if at < 0 {
		return nil
	}
	return c.callers[at : at+1]
}

// ask asks the question's models at once, or returns cached results. It adds an answer without content to the record for
// each result. It returns ctx's cause if ctx ends.
func (c *Chooser) ask(ctx context.Context, q question, record *draft) ([]called, error) {
	callers := c.callersOf(q.model)
	request := Request{
		Instructions: instructions(q.rules, cmp.Or(q.principal, c.options.Principal), len(q.quotes) > 0),
		SchemaName:   q.schemaName, Schema: q.schema, MaxTokens: c.options.MaxTokens, Temperature: q.temperature,
	}
	var err error
	if request.Input, err = input(q.facts, q.quotes); err != nil {
		return nil, err
	}
	if record.key, err = c.keyOf(q, request); err != nil {
		return nil, err
	}
	results, known := c.cache.Get(record.key)
	if !known {
		c.logPrompt(q.negotiation, request)
		results = make([]called, len(callers))
		var all sync.WaitGroup
		for i, caller := range callers {
			all.Go(func() { results[i] = caller.ask(ctx, q.negotiation, request, q.deadline) })
		}
		all.Wait()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	record.Cached, record.Answers = known, make([]Answer, len(results))
	for i, caller := range callers {
		r := &results[i]
		record.Answers[i] = Answer{
			Model: caller.name, Failure: r.failure, Status: r.status, Usage: r.spent.requestUsage(),
			Duration: r.duration,
		}
		record.spent.add(r.spent)
		if !known {
			c.logResponse(q.negotiation, caller.name, r)
		}
	}
	return results, nil
}

// keep caches results.
func (c *Chooser) keep(record *draft, results []called) {
	if record.Cached {
		return
	}
	kept := make([]called, len(results))
	for i, r := range results {
		kept[i] = called{json: r.json, failure: r.failure, status: r.status}
	}
	c.cache.Put(record.key, kept)
}

// keyOf returns a question's cache key: a hash of the request, except for the remaining time.
func (c *Chooser) keyOf(q question, request Request) (key [32]byte, err error) {
	text, err := json.Marshal([]any{
		q.negotiation, q.model, request.Instructions, request.Temperature, request.SchemaName, request.Schema, q.key,
		bounded(q.quotes),
	})
	return sha256.Sum256(text), err
}

// finish completes and logs a record, and calls Decided.
func (c *Chooser) finish(record *draft) error {
	record.Usage, record.Duration = record.spent.requestUsage(), time.Since(record.begun)
	for i := range record.Answers {
		if a := &record.Answers[i]; a.Failure != "" && !record.Cached {
			c.options.Logger.Warn("no answer of a language model", "negotiation", record.Negotiation, "model", a.Model,
				"failure", a.Failure, "http status", a.Status, "requests", a.Usage.Requests, "duration", a.Duration)
		}
	}
	if record.Fallback == aloneNoUsage {
		c.options.Logger.Warn("no usable answer of a language model: carrying out the default", "negotiation", record.Negotiation,
			"reason", record.Fallback, "round", record.Round, "move", record.Move.Move)
	}
	c.options.Logger.Debug("decision of a language model", "negotiation", record.Negotiation, "question",
		record.Question, "move", record.Move.Move, "correction", record.Correction, "fallback", record.Fallback,
		"cached", record.Cached, "requests", record.Usage.Requests, "cost", record.Usage.Cost,
		"duration", record.Duration)
	if c.options.Decided == nil {
		return nil
	}
	return c.options.Decided(record.Record)
}

// logPrompt logs a prompt with LogPrompts.
func (c *Chooser) logPrompt(negotiation string, request Request) {
	if c.options.LogPrompts {
		c.options.Logger.Info("prompt", "negotiation", negotiation, "instructions", request.Instructions,
			"input", request.Input, "schema", string(request.Schema))
	}
}

// logResponse logs a response with LogPrompts.
func (c *Chooser) logResponse(negotiation, model string, r *called) {
	if c.options.LogPrompts && r.failure == "" {
		c.options.Logger.Info("response", "negotiation", negotiation, "model", model, "json", string(r.json))
	}
}
