// Package store is an arena's database: markets, and for each the audit chain of its messages. It uses a SQLite file or
// PostgreSQL, with one set of statements for both.
//
// A market belongs to one process at a time. A process takes it for a while, loads its book from the chain, and appends
// the entries that the book has accepted:
//
//	err := opened.Take(ctx, market, holder, now, until)
//	log, err := opened.Load(ctx, market)
//	entry, events, err := log.Book.Enter(message, now, salt)
//	err = opened.Append(ctx, log, holder, entry)
//
// An entry counts once it is appended. A process that has lost the market cannot append: another holder's name, or a
// longer chain, refuses it, however late its clock is.
package store
