// Package pages shows markets to spectators, in a browser: the floor, who talks with whom, trades as they happen, the
// price, and the countdowns of tentative agreements. They show public events, and nothing else.
//
// A page is HTML from templ. Its parts are replaced by events from the server (htmx), so that it needs no build of
// JavaScript. Names and texts are written by strangers: they are escaped, bounded, and without control characters, and no
// script but the server's own files can run.
package pages

//go:generate ../../../toolchain/templ generate -path .
