package examples

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// pythonWorker is a running examples/python/hire_worker.py, with the seeker's side in a conversation.
type pythonWorker struct {
	t               *testing.T
	key             ed25519.PrivateKey
	id              string
	state           hire.State
	input           io.Writer
	output, reasons *bufio.Scanner
}

func startPythonWorker(t *testing.T, price string) *pythonWorker {
	packages := packagesOf(t, "python")
	key, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "worker.json")
	require.NoError(t, key.Save(file))
	// The worker ends when stdin is closed, later than the test's context.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	command := exec.CommandContext(ctx, "python3", "python/hire_worker.py", "--key", file, "--price", price)
	command.Env = append(os.Environ(), "PYTHONPATH="+packages, "PYTHONDONTWRITEBYTECODE=1")
	input, err := command.StdinPipe()
	require.NoError(t, err)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	reasons, err := command.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		defer cancel()
		require.NoError(t, input.Close())
		require.NoError(t, command.Wait())
	})
	_, seeker, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	return &pythonWorker{
		t: t, key: seeker, id: key.PublicKey().String(), input: input, output: bufio.NewScanner(output),
		reasons: bufio.NewScanner(reasons),
	}
}

func (w *pythonWorker) message(payload hire.Payload) *hire.Message {
	m, err := hire.Sign(w.key, hire.Draft{
		From: hire.Address(w.key.Public().(ed25519.PublicKey)), To: w.id, At: time.Now(), Conversation: "conv_1",
		Payload: payload,
	})
	require.NoError(w.t, err)
	return m
}

// tell sends a line, and returns the next line of the worker.
func (w *pythonWorker) tell(line string, from *bufio.Scanner) string {
	w.t.Helper()
	_, err := io.WriteString(w.input, line+"\n")
	require.NoError(w.t, err)
	require.True(w.t, from.Scan(), "the worker has ended")
	return from.Text()
}

// answered sends a message and returns the worker's reply.
func (w *pythonWorker) answered(payload hire.Payload) hire.Payload {
	w.t.Helper()
	sent := w.message(payload)
	var err error
	w.state, err = w.state.Next(sent, time.Now(), hire.Rules{})
	require.NoError(w.t, err)
	answer, err := hire.Parse([]byte(w.tell(string(sent.Text()), w.output)))
	require.NoError(w.t, err)
	key, err := hire.KeyOf(w.id)
	require.NoError(w.t, err)
	require.NoError(w.t, answer.Verify(key))
	w.state, err = w.state.Next(answer, time.Now(), hire.Rules{})
	require.NoError(w.t, err)
	return answer.Payload()
}

func (w *pythonWorker) reply() hire.Reply { return hire.Reply{InReplyTo: w.state.Last} }

// A worker written from docs/HIRE.md alone agrees with the SDK on every message.
func TestPythonWorkerIsHired(t *testing.T) {
	w := startPythonWorker(t, "5 USDC")
	deadline := hire.NewTime(time.Now().Add(time.Hour))
	w.answered(&hire.Inquiry{Need: hire.NewText("Ein Logo für \u2028 \"Zürich\" \x01\x7f 🦀 <&>")})
	require.Equal(t, hire.PhaseIdle, w.state.Phase)
	answer := w.answered(&hire.Proposal{Reply: w.reply(), Task: hire.NewText("logo"), Budget: "4 USDC", Deadline: deadline})
	require.Equal(t, hire.Price("5 USDC"), answer.(*hire.Counter).Price)
	w.answered(&hire.Clarification{Reply: w.reply(), Questions: []hire.Text{hire.NewText("in SVG?")}})

	refused := func(line string, reason hire.Reason) {
		t.Helper()
		require.Equal(t, string(reason), w.tell(line, w.reasons))
	}
	accept := w.message(&hire.Accept{Reply: w.reply(), Terms: w.state.Terms})
	refused(strings.Replace(string(accept.Text()), "5 USDC", "6 USDC", 1), hire.ReasonSignature)
	refused(strings.Replace(string(accept.Text()), "{", `{"type":"accept",`, 1), hire.ReasonMalformed)
	refused(string(w.message(&hire.Accept{Reply: w.reply(), Terms: hire.Terms{Price: "1 USDC", Deadline: deadline}}).Text()), hire.ReasonTerms)
	refused(string(w.message(&hire.Accept{Terms: w.state.Terms}).Text()), hire.ReasonOrder)

	w.answered(&hire.Accept{Reply: w.reply(), Terms: w.state.Terms})
	require.Equal(t, hire.PhaseContracted, w.state.Phase)
	require.NotEmpty(t, w.state.SeekerAccept)
	require.NotEmpty(t, w.state.WorkerAccept)
}
