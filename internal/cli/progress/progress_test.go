package progress

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReportsBeginAfterTheDelayAndNameTheStage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		reporter := Start(&out, "reading", false)
		time.Sleep(Delay - time.Millisecond)
		synctest.Wait()
		require.Empty(t, out.String(), "a fast command writes nothing")
		reporter.Stage("confirming")
		time.Sleep(time.Millisecond)
		synctest.Wait()
		require.Equal(t, "confirming (2s)\n", out.String())

		resume := reporter.Pause()
		time.Sleep(FirstInterval)
		synctest.Wait()
		require.Equal(t, "confirming (2s)\n", out.String(), "nothing is written over a question")
		resume()
		time.Sleep(2 * FirstInterval)
		synctest.Wait()
		require.Equal(t, "confirming (2s)\nconfirming (17s)\n", out.String())

		reporter.Report("resolving")
		require.Equal(t, "confirming (2s)\nconfirming (17s)\nresolving (17s)\n", out.String())

		reporter.Stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, "confirming (2s)\nconfirming (17s)\nresolving (17s)\n", out.String())
	})
}

func TestReportsAreDocumentsWithJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		reporter := Start(&out, "reading", true)
		time.Sleep(Delay)
		synctest.Wait()
		require.JSONEq(t, `{"progress":{"stage":"reading","seconds":2}}`, out.String())
		reporter.Stop()
	})
}

func TestNoReporterReportsNothing(t *testing.T) {
	var none *Reporter
	none.Stage("reading")
	none.Pause()()
	none.Report("reading")
	none.Stop()
}
