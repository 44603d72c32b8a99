// Package service runs the markets of an arena: it takes them from the store, applies messages in their order, lets time
// pass, and delivers the events.
//
// A message counts once it is stored. Its receipt and its events come after that, so a process that is killed has shown
// nothing that the next one does not have. One goroutine runs a market; messages that arrive together are stored together.
package service
