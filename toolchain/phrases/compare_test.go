package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommentsOfAFile(t *testing.T) {
	found := commentsOf("a.go", `package a

// Pay pays the price.
//
//go:generate something
var x = "http://host" // the caller's price
/// a line of Rust
//! and one of its modules
`)
	var lines []string
	for _, c := range found {
		lines = append(lines, strings.Join(c.words, " "))
	}
	require.Equal(t, []string{"pay pays the price", "", "the caller's price", "a line of rust", "and one of its modules"}, lines)
}

// TestPhrasesOfGrammarAreCompared has one that is rare in the style, one that is common there, and a subject.
func TestPhrasesOfGrammarAreCompared(t *testing.T) {
	comments := func(text string, times int) []comment {
		return commentsOf("a.go", strings.Repeat("// "+text+"\n", times))
	}
	s := newStyle(append(comments("the end of it is the server of the end", 1_000), comments("one that is", 1)...))
	found := s.compare(append(comments("one that is", 10), comments("the server of it is", 10)...))
	require.Contains(t, found.phrases, "one that")
	require.NotContains(t, found.phrases, "of it")
	require.NotContains(t, found.phrases, "server of")
	require.Equal(t, 80, found.words)
	require.InDelta(t, 100*30./80, found.share, 0.01)
	require.Equal(t, "a.go:1: one that is", found.phrases["one that"].place)
}
