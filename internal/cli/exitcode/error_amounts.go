package exitcode

import (
	"errors"
	"log/slog"

	"github.com/haggle-protocol/haggle/sdk/amount"
)

// WithAmounts adds to an error a function that formats the error's amounts. Message, DocumentOf and Report for
// people use this function; JSON documents contain base units. A nil error stays nil.
func WithAmounts(err error, write amount.Formatter) error {
	if err == nil {
		return nil
	}
	return &withAmounts{err, write}
}

type withAmounts struct {
	error
	write amount.Formatter
}

// Unwrap returns the error.
func (w *withAmounts) Unwrap() error { return w.error }

// messageWithAmounts formats the amounts in an error's message.
func messageWithAmounts(message string, err error) string {
	var named *withAmounts
	if !errors.As(err, &named) {
		return message
	}
	return amount.InText(message, named.error, named.write)
}

// withoutAmounts removes the function from the outermost error.
func withoutAmounts(err error) error {
	if named, is := err.(*withAmounts); is {
		return named.error
	}
	return err
}

// LogAmounts returns a function for [slog.HandlerOptions] that writes logged amounts, and those in logged errors,
// as WithAmounts does.
func LogAmounts(write amount.Formatter) func(groups []string, attribute slog.Attr) slog.Attr {
	return func(_ []string, attribute slog.Attr) slog.Attr {
		value := attribute.Value.Any()
		if err, is := value.(error); is && errors.As(err, new(amount.Error)) {
			attribute.Value = slog.StringValue(amount.InText(err.Error(), err, write))
		} else if logged, is := value.(interface {
			TextWith(write amount.Formatter) string
		}); is {
			attribute.Value = slog.StringValue(logged.TextWith(write))
		}
		return attribute
	}
}
