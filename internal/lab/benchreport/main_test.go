package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const output = `goos: linux
goarch: amd64
cpu: A processor
BenchmarkDecodeEvent/OfferSubmitted/haggle-2         	20000000	        50.0 ns/op	     112 B/op	       1 allocs/op
BenchmarkDecodeEvent/OfferSubmitted/haggle-2         	20000000	        70.0 ns/op	     112 B/op	       1 allocs/op
BenchmarkDecodeEvent/OfferSubmitted/anchor-go-2      	  100000	      1500 ns/op	     400 B/op	      12 allocs/op
BenchmarkParseLogs/OfferSubmitted/haggle             	 2000000	       500 ns/op	     600 B/op	       5 allocs/op
BenchmarkCall/one_node-2                             	    2000	      7000 ns/op	     600 B/op	       5 allocs/op
BenchmarkCall/requests_alone-2                       	    2000	      6000 ns/op	     500 B/op	       4 allocs/op
BenchmarkAction/plain-2                              	    2000	    250000 ns/op	 6.000 requests/op	     600 B/op	       5 allocs/op
BenchmarkAction/requests_alone-2                     	    2000	    100000 ns/op	 6.000 requests/op	     500 B/op	       4 allocs/op
BenchmarkSubscriptions/10000-2                       	      15	 120558654 ns/op	      7396 B/subscription	       199.0 ms/reconnect
BenchmarkChain/start/process-2                       	      20	  80000000 ns/op
BenchmarkChain/start/validator-2                     	      20	2400000000 ns/op
BenchmarkChain/answer/process-2                      	      20	    500000 ns/op
BenchmarkChain/answer/validator-2                    	      20	   1000000 ns/op
BenchmarkChain/confirmation/process-2                	      20	  50000000 ns/op
BenchmarkChain/confirmation/validator-2              	      20	 500000000 ns/op
BenchmarkNegotiation/100_steps-2                      	   54716	      4430 ns/op	     768 B/op	      10 allocs/op
BenchmarkNegotiation/100_steps-2                      	   54716	      4530 ns/op	     768 B/op	      10 allocs/op
BenchmarkNegotiation/100_steps-2                      	   54716	      9830 ns/op	     768 B/op	      10 allocs/op
BenchmarkTables/levels_of_a_curve-2                   	   54716	     64300 ns/op	     768 B/op	      10 allocs/op
PASS
`

func TestThePageComparesWhatWasMeasured(t *testing.T) {
	r := &benchmarks{}
	require.NoError(t, r.read(strings.NewReader(output)))
	require.Equal(t, "A processor", r.cpu)
	page, err := r.page()
	require.NoError(t, err)
	for _, row := range []string{
		"| `OfferSubmitted` | 50.0 | 1 | 112 | 1500 | 12 | 30 |\n",
		"| `OfferSubmitted` | 500.0 | 5 | 600 | – | – | – |\n",
		"| one node | 7.0 | 1 | 5 | 600 |\n", "| plain | 250.0 | 150 | 5 | 600 |\n",
		"| requests alone | 100.0 | – | 4 | 500 |\n",
		"| 10000 | 121 | 7396 | 199 |\n", "| start, until it confirms blocks | 80.0 | 2400.0 | 30 |\n",
		"| 100 steps | 4.5 | 23 | 10 | 768 |\n", "| levels of a curve | 64.3 |\n", "Medians of 3 runs (, A processor).",
	} {
		require.Contains(t, page, row)
	}
}

func TestOneSectionIsReplaced(t *testing.T) {
	const section = "## A session of the bargaining engine\n"
	for _, after := range []string{"", "\n## Later\n\ntext\n"} {
		page, err := replaceSection("# Page\n\n## Earlier\n\n"+section+"\nold\n"+after, section+"\nnew\n")
		require.NoError(t, err)
		require.Equal(t, "# Page\n\n## Earlier\n\n"+section+"\nnew\n"+after, page)
	}
	_, err := replaceSection("# Page\n", section)
	require.ErrorContains(t, err, "the page has no section")
}

// anchor-go's client is generated and measured without adding files to the repository.
func TestAnchorGoIsMeasured(t *testing.T) {
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	overlay, err := writeOverlay(root, t.TempDir())
	require.NoError(t, err)
	m := measurements[0]
	m.length, m.count = "1x", "1"
	command := exec.Command("go", m.arguments(overlay)...)
	command.Dir = root
	measured, err := command.CombinedOutput()
	require.NoError(t, err, "%s", measured)
	r := &benchmarks{}
	require.NoError(t, r.read(bytes.NewReader(measured)))
	for _, group := range []string{"DecodeAccount/Negotiation", "DecodeEvent/OfferSubmitted",
		"RecogniseEvent/OfferSubmitted", "BuildInstruction/accept_offer"} {
		group, name, _ := strings.Cut(group, "/")
		require.NotNil(t, r.find(group, name+"/anchor-go"), group)
		require.NotNil(t, r.find(group, name+"/haggle"), group)
	}
	require.NoDirExists(t, filepath.Join(root, "sdk", "internal", "anchor"))
}

func TestARunWithoutBenchmarksIsAnError(t *testing.T) {
	require.Error(t, (&benchmarks{}).read(strings.NewReader("PASS\n")))
	require.Error(t, (&benchmarks{}).read(strings.NewReader("BenchmarkOther 1 2 ns/op\n")))
	r := &benchmarks{}
	require.NoError(t, r.read(strings.NewReader("BenchmarkCall/one_node-2 1 2 ns/op\n")))
	_, err := r.page()
	require.ErrorContains(t, err, "requests_alone is missing")
}
