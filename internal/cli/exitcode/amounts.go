package exitcode

import (
	"errors"
	"log/slog"

	"github.com/haggle-protocol/haggle/sdk/amount"
)

// WithAmounts makes Report, for people, Message and DocumentOf write the amounts in the SDK's errors with a
// function. Otherwise, and in the JSON of Report, they are in base units. A nil error stays nil.
func WithAmounts(err error, write amount.Writer) error {
	if err == nil {
		return nil
	}
	return &withAmounts{err, write}
}

type withAmounts struct {
	error
	write amount.Writer
}

// Unwrap returns the error.
func (w *withAmounts) Unwrap() error { return w.error }

// messageWithAmounts writes the amounts in the message of an error.
func messageWithAmounts(message string, err error) string {
	var named *withAmounts
	if !errors.As(err, &named) {
		return message
	}
	return amount.InText(message, named.error, named.write)
}

// withoutAmounts undoes WithAmounts.
func withoutAmounts(err error) error {
	if named, is := err.(*withAmounts); is {
		return named.error
	}
	return err
}

// LogAmounts returns a function for [slog.HandlerOptions] that writes the amounts in logged errors as
// WithAmounts does.
func LogAmounts(write amount.Writer) func(groups []string, attribute slog.Attr) slog.Attr {
	return func(_ []string, attribute slog.Attr) slog.Attr {
		if err, is := attribute.Value.Any().(error); is && errors.As(err, new(amount.Error)) {
			attribute.Value = slog.StringValue(amount.InText(err.Error(), err, write))
		}
		return attribute
	}
}
