package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// comment is a line of a comment.
type comment struct {
	file  string
	line  int
	words []string
}

var (
	wordPattern = regexp.MustCompile(`[a-z]+(?:'[a-z]+)?`)
	wholeLine   = regexp.MustCompile(`^\s*//[/!]?\s?(.*)`)
	endOfLine   = regexp.MustCompile(`\s//\s(.*)`)
)

// directives begin the comments that are no prose.
var directives = []string{"go:", "+build", "Copyright", "Use of this", "license", "nolint"}

// commentsOf returns the comments of a Go or Rust file.
func commentsOf(file, content string) (comments []comment) {
	for i, line := range strings.Split(content, "\n") {
		found := wholeLine.FindStringSubmatch(line)
		if found == nil {
			found = endOfLine.FindStringSubmatch(line)
		}
		begins := func(directive string) bool { return strings.HasPrefix(found[1], directive) }
		if found == nil || slices.ContainsFunc(directives, begins) {
			continue
		}
		words := wordPattern.FindAllString(strings.ToLower(found[1]), -1)
		comments = append(comments, comment{file, i + 1, words})
	}
	return comments
}

// longest is the number of words of the longest phrases.
const longest = 3

// phrases calls act with each phrase of up to three words.
func (c *comment) phrases(act func(at, length int, phrase string)) {
	for length := 1; length <= longest; length++ {
		for at := 0; at+length <= len(c.words); at++ {
			act(at, length, strings.Join(c.words[at:at+length], " "))
		}
	}
}

// count returns the frequencies of phrases, and the number of words.
func count(comments []comment) (phrases map[string]int, words int) {
	phrases = map[string]int{}
	for i := range comments {
		words += len(comments[i].words)
		comments[i].phrases(func(_, _ int, phrase string) { phrases[phrase]++ })
	}
	return phrases, words
}

// subjects are the frequent nouns and verbs of programming: a phrase that has one belongs to a subject.
var subjects = strings.Fields(`
	string value type value file error function name bytes byte data key method code set field slice int time reader writer call
	called calls read write length size buf server client request response header test format input output connection http
	context package values element pointer nil err struct interface map number bit bits index url path tls certificate types
	list names encoding token signature x n s t b p r i f c e w d m v go ctx`)

// style is the English that comments are compared with.
type style struct {
	phrases map[string]int
	words   int
	// common are the words of grammar.
	common map[string]bool
}

// commonWords is the number of most frequent words that can be words of grammar.
const commonWords = 330

func newStyle(reference []comment) *style {
	s := &style{common: map[string]bool{}}
	s.phrases, s.words = count(reference)
	var single []string
	for phrase := range s.phrases {
		if !strings.Contains(phrase, " ") {
			single = append(single, phrase)
		}
	}
	slices.SortFunc(single, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.phrases[b], s.phrases[a]), cmp.Compare(a, b))
	})
	for _, word := range single[:min(commonWords, len(single))] {
		s.common[word] = !slices.Contains(subjects, word)
	}
	return s
}

// phrase is a phrase that the comments have more often than the style.
type phrase struct {
	count int
	// ratio is the frequency in the comments divided by that in the style.
	ratio float64
	// place is a line with the phrase.
	place string
}

// comparison is the result for some comments.
type comparison struct {
	words   int
	phrases map[string]*phrase
	// share is the share of the words that are inside of such phrases, in percent.
	share float64
}

const (
	// leastRatio and leastCount select the phrases. In large texts, a phrase is also in one of wordsPerPhrase words.
	leastRatio     = 5
	leastCount     = 6
	wordsPerPhrase = 25_000
)

func (s *style) compare(comments []comment) *comparison {
	counted, words := count(comments)
	c := &comparison{words: words, phrases: map[string]*phrase{}}
	for text, n := range counted {
		ratio := float64(n) / float64(words) / (float64(s.phrases[text]+1) / float64(s.words))
		grammar := !slices.ContainsFunc(strings.Fields(text), func(word string) bool { return !s.common[word] })
		if n >= max(leastCount, words/wordsPerPhrase) && ratio >= leastRatio && grammar {
			c.phrases[text] = &phrase{count: n, ratio: ratio}
		}
	}
	inside := 0
	for _, line := range comments {
		covered := make([]bool, len(line.words))
		line.phrases(func(at, length int, text string) {
			found := c.phrases[text]
			if found == nil {
				return
			}
			if found.place == "" {
				found.place = fmt.Sprintf("%s:%d: %.90s", line.file, line.line, strings.Join(line.words, " "))
			}
			for i := range length {
				covered[at+i] = true
			}
		})
		for _, is := range covered {
			if is {
				inside++
			}
		}
	}
	if words > 0 {
		c.share = 100 * float64(inside) / float64(words)
	}
	return c
}

// covers returns the number of words of all occurrences of a phrase.
func (c *comparison) covers(text string) int {
	return c.phrases[text].count * (strings.Count(text, " ") + 1)
}
