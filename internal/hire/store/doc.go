// Package store is a home's database: conversations with their audit chains, events, pinned keys and
// deliveries. It uses a SQLite file or PostgreSQL, with a single set of statements for both.
//
// The caller stores messages transactionally:
//
//	tx, err := opened.Begin(ctx)
//	...
//	defer tx.Cancel()
//	c, err := tx.Lock(ctx, conversation, seeker, worker, now)
//	next, err := c.State.Next(message, now, rules)
//	number, err := tx.Append(ctx, c, store.Arrival{Message: message, At: now, State: next})
//	err = tx.Commit()
//
// A transaction locks first the conversation and then the recipient, so deadlocks are impossible. Reads never
// wait for transactions.
package store
