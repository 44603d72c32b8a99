// Package service runs an arena's markets: it takes them from the store, applies messages in sequence, lets
// time pass, and delivers the events.
//
// A message counts once stored. Receipt and events follow storage, so everything shown by a killed process is
// known to the next process. Each market is run by a single goroutine; messages that arrive together are
// stored together.
package service
