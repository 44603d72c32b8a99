package terms_test

import (
	"regexp"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Names contain no character classed as invisible by Go's Unicode tables, and can contain every other
// printable character.
func TestNamesHaveVisibleCharacters(t *testing.T) {
	hidden := []*unicode.RangeTable{
		unicode.Cc, unicode.Cf, unicode.Co, unicode.Z, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector, unicode.Bidi_Control, unicode.Noncharacter_Code_Point, unicode.Join_Control,
	}
	// These look blank, though Unicode does not class these as invisible.
	blank := map[rune]bool{0x2800: true, 0xFFFC: true, 0xFFFD: true, 0x16FE4: true, 0x1D159: true}
	for char := rune(0x13440); char <= 0x13455; char++ {
		blank[char] = true
	}
	pattern := regexp.MustCompile(terms.NamePattern())
	for char := rune(0); char <= utf8.MaxRune; char++ {
		name := "a" + string(char)
		if !utf8.ValidRune(char) {
			continue // a surrogate, which UTF-8 does not have
		}
		err := terms.CheckName(name)
		if pattern.MatchString(name) != (err == nil) {
			t.Fatalf("%U: the pattern and the check differ: %v", char, err)
		}
		switch {
		case char == ' ':
			require.NoError(t, err)
		case unicode.In(char, hidden...) || blank[char]:
			if err == nil {
				t.Errorf("%U can be in a name", char)
			}
		case unicode.IsPrint(char) && err != nil:
			t.Errorf("%U: %s", char, err)
		}
	}
}

// A client's library can have another version of Unicode than the gateway. So the gateway accepts names with
// characters that are too new for one side.
func TestNamesDoNotDependOnTheVersionOfUnicode(t *testing.T) {
	for _, char := range []rune{
		0x0378,  // not assigned
		0x1C89,  // a letter since Unicode 16.0
		0x2FFFD, // not assigned
	} {
		require.NoError(t, terms.CheckName(string(char)), "%U", char)
	}
	for _, char := range []rune{
		0x2065, 0xFFF0, // reserved for controls
		0x40000, 0xE0080, // planes without characters
	} {
		require.ErrorContains(t, terms.CheckName("a"+string(char)), "unprintable character", "%U", char)
	}
}

func TestNamesOfSpaces(t *testing.T) {
	pattern := regexp.MustCompile(terms.NamePattern())
	for name, valid := range map[string]bool{
		"": false, " ": false, "   ": false, "a": true, " a ": true, "a b": true, "a\n": false, "\u3000": false,
	} {
		require.Equal(t, valid, terms.CheckName(name) == nil, "%q", name)
		require.Equal(t, valid, pattern.MatchString(name), "%q", name)
	}
}
