package protocol_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/internal/anchor"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// The benchmarks are named <what>/<type>/<whose>: internal/benchreport puts ours beside anchor-go's.

// benchmarkSet are the fixtures that are measured: values that are neither all zero nor all alike.
const benchmarkSet = "distinct 1"

func BenchmarkDecodeAccount(b *testing.B) {
	for _, f := range loadFixtures(b).Accounts {
		value := newRecord(b, f.Name)
		compare(b, f, func() error { return value.Decode(f.Data) }, func() error {
			_, err := anchor.ParseAnyAccount(f.Data)
			return err
		})
	}
}

func BenchmarkDecodeEvent(b *testing.B) {
	for _, f := range loadFixtures(b).Events {
		value := newRecord(b, f.Name)
		compare(b, f, func() error { return value.Decode(f.Data) }, func() error {
			_, err := anchor.ParseAnyEvent(f.Data)
			return err
		})
	}
}

func BenchmarkRecogniseEvent(b *testing.B) {
	for _, f := range loadFixtures(b).Events {
		compare(b, f, func() error {
			_, err := protocol.DecodeEvent(f.Data)
			return err
		}, func() error {
			_, err := anchor.ParseAnyEvent(f.Data)
			return err
		})
	}
}

// Both are given every account, so that neither derives an address.
func BenchmarkBuildInstruction(b *testing.B) {
	theirs := anchorBuilds()
	for _, f := range loadFixtures(b).Instructions {
		ix, err := protocol.DecodeInstruction(f.instructionMetas(), f.Data)
		require.NoError(b, err)
		ours := func() error {
			_, err := ix.Instruction()
			return err
		}
		if build, ok := theirs[f.Name]; ok {
			compare(b, f, ours, func() error { return build(ix) })
		} else {
			compare(b, f, ours, nil)
		}
	}
}

// anchorBuilds has anchor-go build the instructions that are sent most; those without arguments it builds wrongly.
func anchorBuilds() map[string]func(protocol.AnyInstruction) error {
	return map[string]func(protocol.AnyInstruction) error{
		"submit_offer": func(instruction protocol.AnyInstruction) error {
			ix := instruction.(*protocol.SubmitOffer)
			_, err := anchor.NewSubmitOfferInstruction(ix.CreatedAt, ix.ExpectedRound, ix.Amount, ix.DeadlineExtension, ix.Metadata,
				ix.Offerer, ix.Negotiation)
			return err
		},
		"accept_offer": func(instruction protocol.AnyInstruction) error {
			ix := instruction.(*protocol.AcceptOffer)
			_, err := anchor.NewAcceptOfferInstruction(ix.CreatedAt, ix.ExpectedRound, ix.ExpectedAmount, ix.ExpectedMetadata,
				ix.Acceptor, ix.Negotiation, ix.EscrowVault, ix.BuyerTokenAccount, ix.SellerTokenAccount, ix.TokenMint,
				ix.TokenProgram)
			return err
		},
		"reject_negotiation": func(instruction protocol.AnyInstruction) error {
			ix := instruction.(*protocol.RejectNegotiation)
			_, err := anchor.NewRejectNegotiationInstruction(ix.CreatedAt, ix.ExpectedRound,
				ix.Rejector, ix.Negotiation, ix.EscrowVault, ix.BuyerTokenAccount, ix.SellerTokenAccount, ix.TokenMint,
				ix.TokenProgram)
			return err
		},
		"claim_payout": func(instruction protocol.AnyInstruction) error {
			ix := instruction.(*protocol.ClaimPayout)
			_, err := anchor.NewClaimPayoutInstruction(ix.CreatedAt, ix.Amount,
				ix.Party, ix.Negotiation, ix.EscrowVault, ix.DestinationTokenAccount, ix.TokenMint, ix.TokenProgram)
			return err
		},
	}
}

// The logs are those of an offer that another program has passed on.
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

// compare measures what is done with a fixture by us and, if theirs is given, by anchor-go.
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
