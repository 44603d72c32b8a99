package main

import (
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
PASS
`

func TestThePageComparesWhatWasMeasured(t *testing.T) {
	r, err := parse(strings.NewReader(output))
	require.NoError(t, err)
	require.Equal(t, "A processor", r.cpu)
	page := r.page()
	require.Contains(t, page, "| `OfferSubmitted` | 50.0 | 1 | 112 | 1500 | 12 | 30 |\n")
	require.Contains(t, page, "| `OfferSubmitted` | 500.0 | 5 | 600 | – | – | – |\n")
}

func TestARunWithoutBenchmarksIsAnError(t *testing.T) {
	_, err := parse(strings.NewReader("PASS\n"))
	require.Error(t, err)
	_, err = parse(strings.NewReader("BenchmarkOther 1 2 ns/op\n"))
	require.Error(t, err)
}
