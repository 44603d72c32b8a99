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

	"github.com/haggle-protocol/haggle/cmd/haggle/index"
	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/proving"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/lab/report"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
)

const verifyHelp = `Verifies that an agent bargained by the strategy that it had committed to: it checks the
commitment and replays each of the agent's offers, and its acceptance or rejection. "haggle agent --proof"
writes the file.

The file is self-contained, so that no node is needed. With --url the command also compares terms, offers with
their metadata, and the end with the chain. With --strategy-hash it compares the commitment with the one that
you received before the agent's first move.

The agent's first offer carries the commitment. If the agent accepted or rejected without an offer, the chain
has no commitment, and --url requires --strategy-hash.

Over several issues the proof has the texts of domain and profile, and the documents that the agent had. Each
is checked against the hash in its offer. A document of the agent says which document it answers. If it names
none, the agent must have bargained as if it had none. Nothing shows that a document was missing: the output
counts these offers. It also counts the other side's documents that are not valid in the agent's domain, or
have another price than their offer. Compare the domain with the agreed one: an agent cannot accept values
that its domain lacks.

If the negotiation expired at the agent's turn, the agent has deviated: its strategy always has a move, and
the output has it. The chain does not show why the agent did not make it.

The output lists what a valid proof does not show: docs/PROOFS.md has the whole table.

A language model is a claim, which nothing proves: the proof shows its name and the hash of the prompt to
which the agent had committed. Its moves cannot be replayed. If the agent had also committed to a band of
prices, each of its offers and its acceptance must lie within it; otherwise the agent has deviated. A buyer's
price counts with the decay of all offers until then, a seller's before the fee.

With --agent the command reads an index (haggle index --help), and counts an agent's negotiations, the
commitments in its first offers, and those that the given proofs reveal. A proof counts if it is valid and
the index has the same negotiation. An unrevealed commitment is no failure, because a file can be lost. But
an agent that reveals only the proofs that suit it leaves others unrevealed. docs/PROOFS.md has the limits.

The exit code is 0 for a valid proof, 12 for an invalid one, and 13 if the agent has deviated. A file without
the end of the negotiation is unfinished: what it has is valid, but moves may be missing. Then the exit code
is 9.`

// verified is the output for a proof that is valid, unfinished or shows a deviation.
type verified struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	Side        proof.Side       `json:"side"`
	Commitment  string           `json:"commitment"`
	// Strategy is nil for a language model. Model and Prompt, a SHA-256, are omitted for a strategy.
	Strategy *proof.Strategy `json:"strategy,omitempty"`
	Model    string          `json:"model,omitempty"`
	Prompt   string          `json:"prompt_sha256,omitempty"`
	// Band is the price band that a model's agent had committed to; nil if there is none. Outside is the
	// first price outside the band.
	Band    *proof.Band `json:"band,omitempty"`
	Outside *outside    `json:"outside,omitempty"`
	// Replayed reports whether the moves have been replayed. Offers is the number of replayed offers. Ended
	// reports whether the acceptance or rejection has been replayed, too. With a band, both are about the
	// moves that have been compared with the band.
	Replayed bool `json:"replayed"`
	Offers   int  `json:"offers"`
	Ended    bool `json:"ended"`
	// Finished reports whether the proof contains the negotiation's end.
	Finished bool `json:"finished"`
	// OnChain reports whether the moves in the proof match the chain.
	OnChain bool `json:"on_chain"`
	// Published reports whether the side's first offer carries the commitment. If the side made no offer, it
	// is false.
	Published bool `json:"published"`
	// Unread is the number of opponent offers whose document the agent declared missing when making the next
	// offer. LastUnread reports whether the proof lacks the last offer's document, as of that turn. Neither
	// is proved.
	Unread     int  `json:"unread"`
	LastUnread bool `json:"last_unread"`
	// Invalid is the number of opponent documents that the proof contains, but that are not valid in the
	// agent's domain, or state a price different from the offer's. The agent bargained as if they were
	// missing.
	Invalid int `json:"invalid_documents"`
	// NotShown lists properties that the proof does not show: "moves", "late_commitment", "seed" and "selection".
	// docs/PROOFS.md explains them.
	NotShown []string `json:"not_shown"`
	// Missed is the strategy's move at the agent's turn when the negotiation expired: offer, accept or
	// reject. It is omitted if the negotiation ended differently.
	Missed string `json:"missed_move,omitempty"`
}

// outside is a price outside the band, in base units: an offered or an accepted price.
type outside struct {
	// Offer is the number of the offer, from 1.
	Offer    int    `json:"offer"`
	Accepted bool   `json:"accepted"`
	Price    uint64 `json:"price,string"`
}

// deviation returns the deviation shown by a valid proof; nil if there is none.
func deviation(p *proof.Proof, result proof.Result) error {
	switch found := result.Outside; {
	case result.Missed != "":
		return fmt.Errorf("%s deviated: the negotiation expired instead of its strategy's move (%s)", p.Side, result.Missed)
	case found == nil:
		return nil
	case found.Accepted:
		return fmt.Errorf("%s deviated: it accepted offer %d at %s", p.Side, found.Offer, beyond(p, found))
	default:
		return fmt.Errorf("%s deviated: its offer %d is %s", p.Side, found.Offer, beyond(p, found))
	}
}

// beyond formats a price and the band that excludes it.
func beyond(p *proof.Proof, found *proof.Outside) string {
	counted := "before the fee"
	if p.Side == proof.Buyer {
		counted = "with the decay"
	}
	band := p.Reveal.Model.Band
	return fmt.Sprintf("%d base units %s, outside of its band of %d to %d", found.Price, counted, band.Lower, band.Upper)
}

// Command returns "haggle verify".
func Command(s *session.Session) *cobra.Command {
	var strategyHash, agent, database string
	cmd := &cobra.Command{
		Use: "verify [PROOF]...", Short: "Verify that an agent played the strategy that it had committed to",
		Long: verifyHelp, Example: `  haggle verify proof.json
  haggle verify proof.json --url devnet
  haggle verify proof.json --strategy-hash COMMITMENT
  haggle verify --agent ADDRESS proofs/*.json --db sqlite:haggle.db`,
	}
	cmd.Flags().StringVar(&strategyHash, "strategy-hash", "", "commitment that the proof must have, in hex")
	cmd.Flags().StringVar(&agent, "agent", "", "agent whose commitments in an index are counted, with PROOFs as the revealed ones")
	cmd.Flags().StringVar(&database, "db", "",
		"with --agent: index to read, sqlite:PATH or postgres://HOST/NAME (default: the index of haggle index)")
	command.Documents(cmd, verified{}, commitments{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		onChain := cmd.Flags().Changed("url")
		switch {
		case agent != "" && (onChain || strategyHash != ""):
			return exitcode.Usagef("--agent compares the proofs with an index: leave out --url and --strategy-hash")
		case agent != "":
			return countCommitments(ctx, s, agent, index.Address(database), arguments)
		case cmd.Flags().Changed("db"):
			return exitcode.Requires("--db", "--agent", "a proof is compared with the chain by --url")
		case len(arguments) != 1:
			return exitcode.Usagef("%d proofs given: name one, or count an agent's with --agent", len(arguments))
		}
		if !onChain && cmd.Flags().Changed("commitment") {
			return exitcode.Requires("--commitment", "--url", "the commitment of the proof is --strategy-hash")
		}
		p, err := read(arguments[0], strategyHash)
		if err != nil {
			return err
		}
		result, err := p.Verify()
		if err != nil {
			return invalid(err)
		}
		if onChain {
			client, err := s.Client()
			if err != nil {
				return err
			}
			if err := compare(ctx, client, p, strategyHash != ""); err != nil {
				return err
			}
		}
		document := verified{
			Negotiation: solana.PublicKey(p.Terms.Negotiation), Side: p.Side,
			Commitment: hex.EncodeToString(p.Commitment[:]), Strategy: p.Reveal.Strategy,
			Replayed: result.Replayed, Offers: result.Offers, Ended: result.Ended, Finished: p.Last != nil,
			OnChain: onChain, Published: result.Published,
			Unread: result.Unread, LastUnread: result.LastUnread, Invalid: result.Invalid,
			Missed: result.Missed,
		}
		gaps := gapsOf(p, p.SeedDecides())
		for _, gap := range gaps {
			document.NotShown = append(document.NotShown, gap.name)
		}
		if model := p.Reveal.Model; model != nil {
			document.Model, document.Prompt = model.Name, hex.EncodeToString(model.Prompt[:])
			document.Band = model.Band
		}
		if found := result.Outside; found != nil {
			document.Outside = &outside{found.Offer, found.Accepted, found.Price}
		}
		if err := s.Print(document, lines(p, result, gaps, onChain)...); err != nil {
			return err
		}
		if err := deviation(p, result); err != nil {
			return &exitcode.Error{Kind: exitcode.Deviated, Err: err}
		}
		if p.Last != nil {
			return nil
		}
		return &exitcode.Error{Kind: exitcode.Undecided,
			Err: errors.New("proof unfinished: the file does not have the end of the negotiation"),
			Hint: "the agent completes its file at the end; to follow the negotiation: haggle negotiation watch " +
				document.Negotiation.String()}
	})
	return cmd
}

// read reads a proof, which must have the expected commitment unless that is empty.
func read(path, strategyHash string) (*proof.Proof, error) {
	var expected proof.Hash
	if strategyHash != "" {
		if err := expected.UnmarshalText([]byte(strategyHash)); err != nil {
			return nil, exitcode.Usagef("--strategy-hash: %w", err)
		}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := proof.Read(file)
	switch {
	case errors.Is(err, proof.ErrForm):
		return nil, &exitcode.Error{Kind: exitcode.Invalid, Err: fmt.Errorf("%s: %w", path, err),
			Hint: "haggle agent --proof writes the files that this version reads"}
	case err != nil:
		return nil, err
	case strategyHash != "" && p.Commitment != expected:
		return nil, invalid(fmt.Errorf("--strategy-hash: the proof has another commitment: %x", p.Commitment))
	}
	return p, nil
}

// compare compares a proof with the chain. received reports whether the user has received its commitment.
func compare(ctx context.Context, client *haggle.Client, p *proof.Proof, received bool) error {
	err := proving.Compare(ctx, client, p)
	switch {
	case errors.Is(err, proving.ErrUnpublished) && received:
		return nil
	case errors.Is(err, proving.ErrUnpublished):
		return exitcode.Requires("--url", "--strategy-hash", fmt.Sprintf(
			"%s: pass the commitment that you received before its move", err))
	case errors.Is(err, proving.ErrChain):
		return invalid(err)
	case errors.Is(err, proving.ErrNoHistory):
		return &exitcode.Error{Kind: exitcode.NotFound, Err: err,
			Hint: "check --url: the cluster may be another one, or the node may keep only recent events"}
	}
	return err
}

// invalid returns the error for an invalid proof.
func invalid(err error) error { return &exitcode.Error{Kind: exitcode.Invalid, Err: err} }

func lines(p *proof.Proof, result proof.Result, gaps []gap, onChain bool) (lines []string) {
	verdict := "valid"
	switch {
	case result.Missed != "" || result.Outside != nil:
		verdict = "deviated"
	case p.Last == nil:
		verdict = "unfinished"
	}
	if result.Replayed {
		lines = append(lines, fmt.Sprintf("%s: the %s played %s: replayed %s",
			verdict, p.Side, p.Reveal.Strategy.Name, replayed(result)))
	} else {
		lines = append(lines, fmt.Sprintf("%s: the %s claimed, before its first move, that the model %q chose; its moves cannot be replayed",
			verdict, p.Side, p.Reveal.Model.Name))
	}
	switch {
	case !result.Banded:
	case result.Outside != nil:
		lines = append(lines, deviation(p, result).Error())
	default:
		compared := report.Counted(result.Offers, "offer", "")
		if result.Ended {
			compared += " and its acceptance"
		}
		lines = append(lines, fmt.Sprintf("within its committed band of %d to %d base units: %s",
			p.Reveal.Model.Band.Lower, p.Reveal.Model.Band.Upper, compared))
	}
	if p.Last != nil && p.Last.By == "" {
		mover := proof.Buyer
		if len(p.Offers)%2 == 1 {
			mover = proof.Seller
		}
		lines = append(lines, fmt.Sprintf("the negotiation expired at the turn of the %s", mover))
	}
	if result.Missed != "" {
		lines = append(lines, "not made: the strategy's move was "+result.Missed)
	}
	if strategy := p.Reveal.Strategy; strategy != nil && strategy.Issues != nil {
		lines = append(lines, "the documents of its offers are those of the strategy, and have the commitment")
	}
	if result.Unread > 0 {
		lines = append(lines, fmt.Sprintf(
			"not proved: the documents of %s were missing; the agent's next offers say so",
			report.Counted(result.Unread, "answered offer", "")))
	}
	if result.LastUnread {
		lines = append(lines, "not proved: the document of the last offer was missing; only the proof says so")
	}
	if result.Invalid > 0 {
		lines = append(lines, fmt.Sprintf(
			"not proved: %s of the other side could not be accepted: not valid in the agent's domain, or at "+
				"another price",
			report.Counted(result.Invalid, "document", "")))
	}
	for _, gap := range gaps {
		lines = append(lines, "not shown: "+gap.text)
	}
	switch {
	case onChain && result.Published:
		return append(lines, "the chain has the same negotiation, and the commitment in the first offer")
	case onChain && p.Last == nil:
		return append(lines, "the chain has the same negotiation, and the offers in the file")
	case onChain:
		return append(lines, "the chain has the same negotiation; the commitment is the one that you passed")
	}
	return append(lines, "not compared with the chain: see --url")
}

// replayed writes the moves that have been replayed.
func replayed(result proof.Result) string {
	text := report.Counted(result.Offers, "offer", "")
	if result.Ended {
		text += " and its last move"
	}
	return text
}
