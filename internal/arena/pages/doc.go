// Package pages shows markets to spectators, in a browser: the floor, who talks with whom, trades as they
// happen, the price, and the countdowns of tentative agreements. They show public events, and nothing else.
//
// A page is HTML from templ. Server events replace page parts (htmx), so no JavaScript build is needed. Names
// and texts are written by strangers: they are escaped, bounded, and free from control characters, and only
// scripts among the server's files can run.
package pages

//go:generate ../../../toolchain/templ generate -path .
