package amount

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"
)

// Units is an amount in an [Error] text, in the mint's base units or in lamports.
type Units uint64

// Formatter formats an amount. It takes the mint's base units, or lamports if the mint is zero.
type Formatter = func(mint solana.PublicKey, units uint64) string

// Error is an error with amounts in the text. The Error method writes them as base units, because errors do
// not know decimals and symbols.
type Error interface {
	error
	// TextWith returns Error's text with each amount formatted by the function.
	TextWith(write Formatter) string
}

// Errorf returns an [Error] like [fmt.Errorf]. Each value of type [Units] is an amount of the mint, or
// lamports if the mint is zero; use the verb %v.
func Errorf(mint solana.PublicKey, format string, values ...any) Error {
	return &formatted{mint: mint, format: format, values: values}
}

type formatted struct {
	mint   solana.PublicKey
	format string
	values []any
}

func (e *formatted) Error() string { return e.with(inUnits).Error() }

func (e *formatted) TextWith(write Formatter) string { return e.with(write).Error() }

// Unwrap returns the errors formatted with %w.
func (e *formatted) Unwrap() []error { return causes(e.with(inUnits)) }

func (e *formatted) with(write Formatter) error {
	values := make([]any, len(e.values))
	for i, value := range e.values {
		if units, is := value.(Units); is {
			value = write(e.mint, uint64(units))
		}
		values[i] = value
	}
	return fmt.Errorf(e.format, values...)
}

func inUnits(mint solana.PublicKey, units uint64) string {
	if mint.IsZero() {
		return fmt.Sprintf("%d lamports", units)
	}
	return fmt.Sprintf("%d base units", units)
}

// InText formats the amounts in an error's text. The text must contain err.Error(). InText replaces the texts
// of all [Error] values wrapped by err.
func InText(text string, err error, write Formatter) string {
	found := errorsIn(err)
	// Longest first: an error's text contains the wrapped errors' texts.
	slices.SortStableFunc(found, func(a, b Error) int { return len(b.Error()) - len(a.Error()) })
	texts := make(map[string]string, len(found))
	for _, known := range found {
		plain, written := known.Error(), known.TextWith(write)
		for _, cause := range causes(known) {
			written = InText(written, cause, write)
		}
		// Amounts of different mints with the same text remain base units.
		if other, seen := texts[plain]; seen && other != written {
			written = plain
		}
		texts[plain] = written
	}
	var replaced []string
	for _, known := range found {
		replaced = append(replaced, known.Error(), texts[known.Error()])
	}
	return strings.NewReplacer(replaced...).Replace(text)
}

// errorsIn returns all amount errors in an error's tree.
func errorsIn(err error) (found []Error) {
	if known, is := err.(Error); is {
		found = append(found, known)
	}
	for _, cause := range causes(err) {
		found = append(found, errorsIn(cause)...)
	}
	return found
}

func causes(err error) []error {
	switch wrapping := err.(type) {
	case interface{ Unwrap() error }:
		if cause := wrapping.Unwrap(); cause != nil {
			return []error{cause}
		}
	case interface{ Unwrap() []error }:
		return wrapping.Unwrap()
	}
	return nil
}
