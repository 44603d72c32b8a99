// Package userinput reads answers to questions. Ctrl-C ends waiting.
package userinput

import (
	"bufio"
	"context"
	"io"
	"strings"
)

// IsYes reports whether the answer is "y" or "yes". Every other answer refuses.
func IsYes(answer string) bool {
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
}

// Line reads a line and trims spaces. It returns the context's error if that ends first; the read itself
// cannot be cancelled, so the input must not be used afterwards.
func Line(ctx context.Context, in io.Reader) (string, error) {
	return Await(ctx, func() (string, error) {
		text, err := bufio.NewReader(in).ReadString('\n')
		if err == io.EOF && text != "" {
			err = nil
		}
		return strings.TrimSpace(text), err
	})
}

// Await returns the result of read, or the context's error if that ends first. read then continues.
func Await[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return *new(T), context.Cause(ctx)
	}
}
