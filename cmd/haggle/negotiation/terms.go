package negotiation

import (
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/flags"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// termsFlags holds the terms beside the price: invitation or offer metadata.
type termsFlags struct {
	qualityTier uint8
	sla         time.Duration
	quantity    uint32
	strategy    string
	benchmark   amount.Text
	document    string
}

func (t *termsFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Uint8Var(&t.qualityTier, "quality-tier", 0, "terms: quality tier, on a scale that the parties choose")
	flags.DurationVar(&t.sla, "sla", 0, `terms: time to answer, in milliseconds on chain ("250ms", "2s")`)
	flags.Uint32Var(&t.quantity, "quantity", 0, "terms: number of units")
	flags.StringVar(&t.strategy, "strategy-hash", "", "terms: commitment to a strategy, 32 bytes in hex")
	flags.Var(&t.benchmark, "benchmark-price", "terms: reference price, from public information only")
	flags.StringVar(&t.document, "terms-document", "",
		"replaces the other terms: a document, of which only the SHA-256 goes on chain (a file, or the hash in hex)")
}

// metadata returns the 64 bytes; all zeros if no flag is given.
func (t *termsFlags) metadata(ctx context.Context, s *session.Session, mint solana.PublicKey) (metadata [protocol.MaxMetadataLen]byte, err error) {
	if t.sla < 0 || t.sla%time.Millisecond != 0 || t.sla/time.Millisecond > 1<<32-1 {
		return metadata, exitcode.Usagef("--sla: %s: must be whole milliseconds below 2^32", t.sla)
	}
	terms := protocol.Terms{QualityTier: t.qualityTier, SLAMillis: uint32(t.sla / time.Millisecond), Quantity: t.quantity}
	if t.strategy != "" {
		if terms.StrategyHash, err = flags.ParseHash("--strategy-hash", t.strategy); err != nil {
			return metadata, err
		}
	}
	if !t.benchmark.IsZero() {
		if terms.BenchmarkPrice, err = s.Units(ctx, mint, "--benchmark-price", t.benchmark); err != nil {
			return metadata, err
		}
	}
	switch {
	case terms == (protocol.Terms{}) && t.document == "":
		return metadata, nil
	case t.document == "":
		return terms.Metadata(), nil
	case terms != (protocol.Terms{}):
		return metadata, exitcode.Usagef("--terms-document cannot be combined with other terms: put them into the document")
	}
	hash, err := flags.FileOrHash("--terms-document", t.document)
	return protocol.TermsDocument(hash).Metadata(), err
}

// serviceFlags names a service by description, which is hashed, or by hash.
type serviceFlags struct {
	description string
	hash        string
}

func (f *serviceFlags) register(cmd *cobra.Command, purpose string) {
	cmd.Flags().StringVar(&f.description, "service", "", purpose+": its description, of which only the SHA-256 goes on chain")
	cmd.Flags().StringVar(&f.hash, "service-hash", "", purpose+": the SHA-256 of its description, in hex")
	cmd.MarkFlagsMutuallyExclusive("service", "service-hash")
}

// value returns the service hash. Given reports whether any flag is set.
func (f *serviceFlags) value() (hash [32]byte, given bool, err error) {
	switch {
	case f.hash != "":
		hash, err = flags.ParseHash("--service-hash", f.hash)
		return hash, true, err
	case f.description != "":
		return protocol.ServiceHash(f.description), true, nil
	}
	return hash, false, nil
}

// termsView is decoded metadata: terms (kind 1) or a document's hash (kind 2).
type termsView struct {
	QualityTier *uint8 `json:"quality_tier,omitempty"`
	// SLAMillis is the time to answer in milliseconds.
	SLAMillis      *uint32        `json:"sla_ms,omitempty"`
	Quantity       *uint32        `json:"quantity,omitempty"`
	StrategyHash   string         `json:"strategy_hash,omitempty"`
	BenchmarkPrice *amount.Tokens `json:"benchmark_price,omitempty"`
	// DocumentHash is the SHA-256 of the document containing all terms. If set, other fields are missing.
	DocumentHash string `json:"document_hash,omitempty"`
}

func viewTerms(metadata [protocol.MaxMetadataLen]byte, tokens func(uint64) amount.Tokens) *termsView {
	decoded, err := protocol.DecodeMetadata(metadata)
	switch {
	case err != nil:
		return nil
	case decoded.Document != nil:
		return &termsView{DocumentHash: hex.EncodeToString(decoded.Document[:])}
	case decoded.Terms == nil:
		return nil
	}
	terms := decoded.Terms
	return &termsView{
		QualityTier: &terms.QualityTier, SLAMillis: &terms.SLAMillis, Quantity: &terms.Quantity,
		StrategyHash: hex.EncodeToString(terms.StrategyHash[:]), BenchmarkPrice: new(tokens(terms.BenchmarkPrice)),
	}
}

// text returns a space and the summary in brackets; empty if there are no terms.
func (v *termsView) text() string {
	if v == nil {
		return ""
	}
	return " (" + v.summary() + ")"
}

func (v *termsView) summary() string {
	if v == nil {
		return ""
	}
	if v.DocumentHash != "" {
		return "document " + v.DocumentHash
	}
	text := fmt.Sprintf("quality tier %d, SLA %d ms, quantity %d, benchmark %s",
		*v.QualityTier, *v.SLAMillis, *v.Quantity, v.BenchmarkPrice)
	if v.StrategyHash != hex.EncodeToString(make([]byte, len(protocol.Terms{}.StrategyHash))) {
		text += ", strategy " + v.StrategyHash
	}
	return text
}
