// Package verify has the command "haggle verify".
package verify

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/proving"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
)

const verifyHelp = `Verifies that an agent bargained by the strategy that it had committed to: it checks the commitment
and replays each of the agent's offers, and its acceptance or rejection. "haggle agent --proof" writes the
file.

The file is self-contained, so that no node is needed. With --url the command also compares terms, offers with
their metadata, and last move with the chain. With --commitment it compares the commitment with the one that
you received before the agent's first move.

The agent's first offer carries the commitment. If the agent accepted or rejected without an offer, the chain
has no commitment, and --url requires --commitment.

A language model's moves cannot be replayed: its proof shows only the model and the hash of the prompt that
it had committed to. The exit code is 0 for a valid proof, otherwise 3.`

// verified is a valid proof in the output.
type verified struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	Side        proof.Side       `json:"side"`
	Commitment  string           `json:"commitment"`
	// Strategy is nil for a language model. Model and Prompt, a SHA-256, are empty for a strategy.
	Strategy *proof.Strategy `json:"strategy,omitempty"`
	Model    string          `json:"model,omitempty"`
	Prompt   string          `json:"prompt_sha256,omitempty"`
	// Replayed reports that the moves have been replayed. Offers is the number of replayed offers. Ended
	// reports that the acceptance or rejection has been replayed, too.
	Replayed bool `json:"replayed"`
	Offers   int  `json:"offers"`
	Ended    bool `json:"ended"`
	// OnChain reports that the proof is equal to the chain.
	OnChain bool `json:"on_chain"`
	// Published reports that the first offer of the side carries the commitment. It is false if the side made
	// no offer.
	Published bool `json:"published"`
}

// Command returns "haggle verify".
func Command(s *session.Session) *cobra.Command {
	var commitment string
	cmd := &cobra.Command{
		Use: "verify PROOF", Short: "Verify that an agent played the strategy that it had committed to",
		Long: verifyHelp, Example: "  haggle verify proof.json\n  haggle verify proof.json --url devnet",
	}
	cmd.Flags().StringVar(&commitment, "commitment", "", "commitment that the proof must have, in hex")
	command.Documents(cmd, verified{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		var expected proof.Hash
		if commitment != "" {
			if err := expected.UnmarshalText([]byte(commitment)); err != nil {
				return exitcode.Usagef("--commitment: %w", err)
			}
		}
		file, err := os.Open(arguments[0])
		if err != nil {
			return err
		}
		defer file.Close()
		p, err := proof.Read(file)
		if err != nil {
			return refused(err)
		}
		result, err := p.Verify()
		if err == nil && commitment != "" && p.Commitment != expected {
			err = errors.New("--commitment: the proof has another commitment")
		}
		if err != nil {
			return refused(err)
		}
		onChain := cmd.Flags().Changed("url")
		if onChain {
			client, err := s.Client()
			if err != nil {
				return err
			}
			err = proving.Compare(ctx, client, p)
			switch {
			case errors.Is(err, proving.ErrUnpublished) && commitment == "":
				return refused(fmt.Errorf(
					"%w: pass the commitment that you received before its move with --commitment", err))
			case errors.Is(err, proving.ErrChain):
				return refused(err)
			case err != nil && !errors.Is(err, proving.ErrUnpublished):
				return err
			}
		}
		document := verified{
			Negotiation: solana.PublicKey(p.Terms.Negotiation), Side: p.Side,
			Commitment: hex.EncodeToString(p.Commitment[:]), Strategy: p.Reveal.Strategy,
			Replayed: result.Replayed, Offers: result.Offers, Ended: result.Ended, OnChain: onChain,
			Published: result.Published,
		}
		if model := p.Reveal.Model; model != nil {
			document.Model, document.Prompt = model.Name, hex.EncodeToString(model.Prompt[:])
		}
		return s.Print(document, lines(p, result, onChain)...)
	})
	return cmd
}

// refused returns the error of an invalid proof.
func refused(err error) error { return &exitcode.Error{Kind: exitcode.Refused, Err: err} }

func lines(p *proof.Proof, result proof.Result, onChain bool) (lines []string) {
	if result.Replayed {
		last := ""
		if result.Ended {
			last = " and its last move"
		}
		lines = append(lines, fmt.Sprintf("valid: the %s played %s: replayed %d offers%s",
			p.Side, p.Reveal.Strategy.Name, result.Offers, last))
	} else {
		lines = append(lines, fmt.Sprintf(
			"valid: the %s had committed to the model %q; its moves cannot be replayed", p.Side, p.Reveal.Model.Name))
	}
	switch {
	case onChain && result.Published:
		return append(lines, "the chain has the same negotiation, and the commitment in the first offer")
	case onChain:
		return append(lines, "the chain has the same negotiation; the commitment is the one that you passed")
	}
	return append(lines, "not compared with the chain: see --url")
}
