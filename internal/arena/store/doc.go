// Package store is an arena's database: markets, and each market's message audit chain. It uses a SQLite file
// or PostgreSQL, with a single set of statements for both.
//
// A market belongs to a single process at a time. The process takes the market for a while, loads the book
// from the chain, and appends entries accepted by the book:
//
//	err := opened.Take(ctx, market, holder, now, until)
//	log, err := opened.Load(ctx, market)
//	entry, events, err := log.Book.Enter(message, now, salt)
//	err = opened.Append(ctx, log, holder, entry)
//
// An entry counts once it is appended. Once the market is lost, the process cannot append: another holder's
// name, or a longer chain, prevents it, no matter how late the process's clock is.
package store
