// Package prompt reads answers to questions. Ctrl-C ends the wait for an answer.
package prompt

import (
	"bufio"
	"context"
	"io"
	"strings"
)

// IsYes reports whether an answer is "y" or "yes". Every other answer refuses.
func IsYes(answer string) bool {
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
}

// Line reads a line, without the spaces around it. It returns the context's error if that ends first; the
// read itself cannot be cancelled, so the input must not be used afterwards.
func Line(ctx context.Context, in io.Reader) (string, error) {
	type answer struct {
		text string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		text, err := bufio.NewReader(in).ReadString('\n')
		if err == io.EOF && text != "" {
			err = nil
		}
		read <- answer{strings.TrimSpace(text), err}
	}()
	select {
	case answered := <-read:
		return answered.text, answered.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
