package connection

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/mint"
	"github.com/haggle-protocol/haggle/sdk/policy"
)

// questions receives the prompts in sequence.
type questions chan string

func (q questions) Write(text []byte) (int, error) {
	q <- string(text)
	return len(text), nil
}

// An answer of "yes" belongs to the prompt on the screen, and must not approve another request.
func TestApprovalIsForTheDisplayedPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, typed := io.Pipe()
		asked := make(questions, 3)
		prompter := newPrompter(in, asked)
		ask := func(ctx context.Context, instruction string) <-chan error {
			answered := make(chan error, 1)
			go func() {
				answered <- prompter.approve(ctx, requestText(&policy.Request{Instructions: []string{instruction}}, mint.Offline))
			}()
			synctest.Wait()
			return answered
		}
		late, leave := context.WithCancel(t.Context())
		small := ask(late, "small_payment")
		large := ask(t.Context(), "large_payment")
		gone, cancel := context.WithCancel(t.Context())
		never := ask(gone, "never_payment")
		cancel()
		require.Len(t, asked, 1)
		require.Contains(t, <-asked, "small_payment")

		leave()
		_, err := typed.Write([]byte("yes\n"))
		require.NoError(t, err)
		require.ErrorIs(t, <-small, context.Canceled, "it comes too late")
		synctest.Wait()
		require.Contains(t, <-asked, "large_payment")
		select {
		case err := <-large:
			t.Fatalf("it was approved by the answer to another question: %v", err)
		default:
		}
		_, err = typed.Write([]byte("no\n"))
		require.NoError(t, err)
		require.True(t, errors.Is(<-large, errNotApproved))
		require.ErrorIs(t, <-never, context.Canceled)
		require.Empty(t, asked, "the prompt was cancelled")
	})
}
