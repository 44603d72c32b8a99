package protocol_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// The benchmarks are named <operation>/<type>/<codec>: internal/lab/benchreport puts ours beside anchor-go's.

// benchmarkSet lists the measured fixtures. Their values are neither all zero nor all equal.
const benchmarkSet = "distinct 1"

// anchorGo is anchor-go's client of the same IDL. internal/lab/benchreport generates it and sets the
// functions; otherwise only this package is measured.
var anchorGo struct {
	decodeAccount, decodeEvent func(data []byte) error
	// build lists the most frequent instructions; anchor-go builds those without arguments incorrectly.
	build map[string]func(protocol.AnyInstruction) error
}

// withData calls a function of anchorGo, or returns nil if it is not set.
func withData(decode func([]byte) error, data []byte) func() error {
	if decode == nil {
		return nil
	}
	return func() error { return decode(data) }
}

func BenchmarkDecodeAccount(b *testing.B) {
	for _, f := range loadFixtures(b).Accounts {
		value := newRecord(b, f.Name)
		compare(b, f, func() error { return value.Decode(f.Data) }, withData(anchorGo.decodeAccount, f.Data))
	}
}

func BenchmarkDecodeEvent(b *testing.B) {
	for _, f := range loadFixtures(b).Events {
		value := newRecord(b, f.Name)
		compare(b, f, func() error { return value.Decode(f.Data) }, withData(anchorGo.decodeEvent, f.Data))
	}
}

func BenchmarkRecogniseEvent(b *testing.B) {
	for _, f := range loadFixtures(b).Events {
		compare(b, f, func() error {
			_, err := protocol.DecodeEvent(f.Data)
			return err
		}, withData(anchorGo.decodeEvent, f.Data))
	}
}

// Both receive every account, so neither derives addresses.
func BenchmarkBuildInstruction(b *testing.B) {
	for _, f := range loadFixtures(b).Instructions {
		ix, err := protocol.DecodeInstruction(f.instructionMetas(), f.Data)
		require.NoError(b, err)
		ours := func() error {
			_, err := ix.Instruction()
			return err
		}
		if build, ok := anchorGo.build[f.Name]; ok {
			compare(b, f, ours, func() error { return build(ix) })
		} else {
			compare(b, f, ours, nil)
		}
	}
}

// The logs contain an offer forwarded by another program.
func BenchmarkParseLogs(b *testing.B) {
	logs := []string{
		"Program " + router + " invoke [1]",
		"Program log: Instruction: Route",
		"Program " + us + " invoke [2]",
		logged(offer(1_000_000)),
		"Program " + us + " consumed 711 of 198000 compute units",
		"Program " + us + " success",
		"Program " + router + " success",
	}
	compare(b, fixture{Name: "OfferSubmitted", Set: benchmarkSet}, func() error {
		_, err := protocol.ParseLogs(logs)
		return err
	}, nil)
}

// compare measures an operation on a fixture with our codec and, if theirs is given, with anchor-go's.
func compare(b *testing.B, f fixture, ours, theirs func() error) {
	if f.Set != benchmarkSet {
		return
	}
	b.Run(f.Name+"/haggle", func(b *testing.B) { measure(b, ours) })
	if theirs != nil {
		b.Run(f.Name+"/anchor-go", func(b *testing.B) { measure(b, theirs) })
	}
}

func measure(b *testing.B, do func() error) {
	b.ReportAllocs()
	for b.Loop() {
		if err := do(); err != nil {
			b.Fatal(err)
		}
	}
}
