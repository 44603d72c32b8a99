package userinput

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALineIsRead(t *testing.T) {
	for written, text := range map[string]string{"yes\nno\n": "yes", " yes \r\n": "yes", "yes": "yes", "\n": ""} {
		answer, err := Line(t.Context(), strings.NewReader(written))
		require.NoError(t, err)
		require.Equal(t, text, answer)
	}
	_, err := Line(t.Context(), strings.NewReader(""))
	require.ErrorIs(t, err, io.EOF)
}

func TestAnInterruptEndsTheWaitForAnAnswer(t *testing.T) {
	in, writer := io.Pipe()
	defer writer.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	_, err := Line(ctx, in)
	require.ErrorIs(t, err, context.Canceled)
}
