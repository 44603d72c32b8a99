package report

import (
	"io"
	"testing"
	"text/template"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCount(t *testing.T) {
	for number, want := range map[uint64]string{
		0: "0", 999: "999", 1_000: "1,000", 5_000: "5,000", 1_000_000: "1,000,000", 1_234_567: "1,234,567",
		6_493_680: "6,493,680",
	} {
		require.Equal(t, want, Count(number))
	}
}

func TestTable(t *testing.T) {
	table := NewTable("", "a", "b")
	table.Row("x", "", "2")
	require.Equal(t, "| | a | b |\n|---|---:|---:|\n| x | | 2 |\n", table.String())
	require.Panics(t, func() { table.Row("x", "1") })
}

func TestQuantile(t *testing.T) {
	var hundred []time.Duration
	for second := range 100 {
		hundred = append(hundred, time.Duration(second+1)*time.Second)
	}
	require.Equal(t, 50*time.Second, Quantile(hundred, 50))
	require.Equal(t, 99*time.Second, Quantile(hundred, 99))
	require.Equal(t, 100*time.Second, Quantile(hundred, 100))
	require.Equal(t, time.Second, Quantile(hundred, 0))
	three := []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}
	require.Equal(t, 2*time.Second, Quantile(three, 50))
	require.Equal(t, time.Second, Quantile([]time.Duration{time.Second}, 99))
	require.Zero(t, Quantile([]time.Duration(nil), 50))
	require.Equal(t, uint64(2), Quantile([]uint64{1, 2, 3, 4}, 50))
}

func TestMachine(t *testing.T) {
	require.Regexp(t, `^\d+ cores(, \d+ GiB of memory)?, \w+/\w+, go1\.`, Machine())
}

func TestAPlotIsWritten(t *testing.T) {
	require.NoError(t, WriteSVG(io.Discard, NewPlot("title", "x", "y")))
}

func TestFindingsAreCountedAndTheFirstKept(t *testing.T) {
	var f Findings
	require.Empty(t, f.Texts())
	for number := range 3 * findingsKept {
		f.Add("finding %d", number)
	}
	require.Equal(t, 3*findingsKept, f.Count)
	texts := f.Texts()
	require.Len(t, texts, findingsKept+1)
	require.Equal(t, "finding 0", texts[0])
	require.Equal(t, "and 40 more", texts[findingsKept])
}

func TestFill(t *testing.T) {
	page, err := Fill("{{range .}}{{count .}} {{end}}{{twice}}", template.FuncMap{"twice": func() int { return 2 }},
		[]any{1000, int64(-2000), uint64(3000)})
	require.NoError(t, err)
	require.Equal(t, "1,000 -2,000 3,000 2", page)
	_, err = Fill("{{.missing.name}}", nil, 1)
	require.Error(t, err)
}

func TestNumbersOfThings(t *testing.T) {
	require.Equal(t, "1 session", Counted(1, "session", ""))
	require.Equal(t, "1,000 sessions", Counted(1_000, "session", ""))
	require.Equal(t, "0 strategies", Counted(0, "strategy", "strategies"))
}
