package main

import (
	"strings"
	"unicode"
)

// initialisms are the words that Go writes in capitals.
var initialisms = map[string]string{"id": "ID", "pda": "PDA"}

// goName turns snake_case, UPPER_CASE or a plain word into an exported Go name.
func goName(name string) string {
	var out strings.Builder
	for word := range strings.SplitSeq(strings.ToLower(name), "_") {
		if capitals, ok := initialisms[word]; ok {
			out.WriteString(capitals)
			continue
		}
		if word != "" {
			out.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return out.String()
}

// paramName turns snake_case into a Go parameter name.
func paramName(name string) string {
	first, rest, more := strings.Cut(strings.ToLower(name), "_")
	if !more {
		return first
	}
	return first + goName(rest)
}

// sentence continues a subject with an IDL's documentation: "MaxRounds is" + "The most rounds." gives
// "MaxRounds is the most rounds."
func sentence(subject string, docs []string) string {
	if len(docs) == 0 {
		return subject
	}
	lines := append([]string{subject + " " + lowerFirst(docs[0])}, docs[1:]...)
	return strings.Join(lines, " ")
}

// lowerFirst changes the first letter to lower case unless the first word is an abbreviation, such as
// SHA-256.
func lowerFirst(text string) string {
	runes := []rune(text)
	if len(runes) > 1 && !unicode.IsUpper(runes[1]) {
		runes[0] = unicode.ToLower(runes[0])
	}
	return string(runes)
}

const commentWidth = 106

// comment breaks text into Go comment lines.
func comment(text string) string {
	var lines []string
	line := "//"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > commentWidth {
			lines = append(lines, line)
			line = "//"
		}
		line += " " + word
	}
	return strings.Join(append(lines, line), "\n")
}

// subject begins an instruction's documentation with the name: "SubmitOffer" + "Offers a price." gives
// "SubmitOffer offers a price."; a text with its own subject follows after a colon.
func subject(name string, docs []string) string {
	text := joined(docs)
	if strings.HasPrefix(text, "The ") {
		return sentence(name+":", docs)
	}
	return sentence(name, docs)
}

func joined(docs []string) string { return strings.Join(docs, " ") }
