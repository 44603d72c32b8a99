package terms

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// block is a range of characters.
type block struct{ first, last rune }

// excluded lists the characters forbidden in names, sorted: invisible characters, so that names never differ
// only invisibly, and characters that change how a terminal or a log shows the others. The ranges are
// explicit, so that clients and gateways agree whatever version of Unicode their libraries have. Unassigned
// characters are allowed, except in planes 4 to 14, and where Unicode reserves code points for controls or
// noncharacters.
var excluded = []block{
	{0x0000, 0x001F},        // control characters
	{0x007F, 0x00A0},        // control characters, and the no-break space
	{0x00AD, 0x00AD},        // soft hyphen
	{0x034F, 0x034F},        // combining grapheme joiner
	{0x0600, 0x0605},        // Arabic signs that enclose following digits
	{0x061C, 0x061C},        // Arabic letter mark, which changes the direction
	{0x06DD, 0x06DD},        // Arabic sign that encloses the digits after it
	{0x070F, 0x070F},        // Syriac abbreviation mark
	{0x0890, 0x0891},        // Arabic currency signs that enclose following digits
	{0x08E2, 0x08E2},        // Arabic sign that encloses the digits after it
	{0x115F, 0x1160},        // Hangul fillers
	{0x1680, 0x1680},        // Ogham space
	{0x17B4, 0x17B5},        // Khmer inherent vowels
	{0x180B, 0x180F},        // Mongolian variation selectors and vowel separator
	{0x2000, 0x200F},        // spaces, joiners and marks of direction
	{0x2028, 0x202F},        // line and paragraph separators, controls of direction, narrow space
	{0x205F, 0x206F},        // mathematical space, invisible operators, controls of direction
	{0x2800, 0x2800},        // empty Braille pattern
	{0x3000, 0x3000},        // ideographic space
	{0x3164, 0x3164},        // Hangul filler
	{0xD800, 0xF8FF},        // surrogates, private use
	{0xFDD0, 0xFDEF},        // noncharacters
	{0xFE00, 0xFE0F},        // variation selectors
	{0xFEFF, 0xFEFF},        // byte order mark
	{0xFFA0, 0xFFA0},        // Hangul filler
	{0xFFF0, 0xFFFF},        // reserved for controls, annotations, replacement characters
	{0x110BD, 0x110BD},      // Kaithi sign that encloses the digits after it
	{0x110CD, 0x110CD},      // Kaithi sign that encloses the digits after it
	{0x13430, 0x1345F},      // controls and blanks of Egyptian hieroglyphs
	{0x16FE4, 0x16FE4},      // Khitan filler
	{0x1BCA0, 0x1BCAF},      // controls of shorthand
	{0x1D159, 0x1D159},      // null note head
	{0x1D173, 0x1D17A},      // controls of musical notation
	{0x1FFFE, 0x1FFFF},      // noncharacters
	{0x2FFFE, 0x2FFFF},      // noncharacters
	{0x3FFFE, utf8.MaxRune}, // planes without characters, tags, variation selectors, private use
}

// NamePattern returns the regular expression for the characters in names, for JSON schemas. It contains no
// escapes, because regular expression dialects write character escapes differently.
func NamePattern() string {
	form := ranges('!')
	return "^ *[" + form + "][ " + form + "]*$"
}

// ranges returns the ranges between the excluded characters, starting with the character first, as in a
// regular expression.
func ranges(first rune) string {
	var text strings.Builder
	for _, e := range excluded {
		switch {
		case first == e.first-1:
			text.WriteRune(first)
		case first < e.first:
			text.WriteString(string(first) + "-" + string(e.first-1))
		}
		first = max(first, e.last+1)
	}
	return text.String()
}

// CheckName fails unless a name consists of 1 to [MaxName] characters of valid UTF-8 that [NamePattern]
// matches: all have a form that a terminal or a log prints, and at least one is not a space.
func CheckName(name string) error {
	switch {
	case strings.Trim(name, " ") == "":
		return errors.New("empty; set a name")
	case !utf8.ValidString(name):
		return errors.New("not valid UTF-8")
	case utf8.RuneCountInString(name) > MaxName:
		return fmt.Errorf("%d characters; use at most %d", utf8.RuneCountInString(name), MaxName)
	}
	for _, char := range name {
		at, _ := slices.BinarySearchFunc(excluded, char, func(e block, char rune) int { return int(e.last - char) })
		if excluded[at].first <= char {
			return fmt.Errorf("contains the unprintable character %U", char)
		}
	}
	return nil
}
