package agent

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/player"
	"github.com/haggle-protocol/haggle/internal/cli/statefolder"
	"github.com/haggle-protocol/haggle/internal/lab/simulation"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/agent/issues"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
)

// issueFlags holds the flags for an agent that bargains about several issues.
type issueFlags struct {
	domain, profile, price, documents, memory string
}

func (f *issueFlags) set() bool { return f.domain != "" }

// issueMove records a move about several issues. The price belongs to the offered or accepted outcome.
type issueMove struct {
	agent.Record
	// Outcome and Document describe the offered or accepted outcome: as text, and as the document's SHA-256
	// in hex. Both are empty if the move is "end".
	Outcome  string `json:"outcome"`
	Document string `json:"document"`
	// Refused says why the standing offer could not be accepted, if it could not.
	Refused string `json:"refused,omitempty"`
}

// checkPrice checks the flags for an agent that bargains about the price alone.
func (a *agentCommand) checkPrice() error {
	for _, flag := range []string{"profile", "documents", "memory", "price-issue"} {
		if a.changed(flag) {
			return exitcode.Requires("--"+flag, "--domain", "")
		}
	}
	switch {
	case a.llm.IsSet():
		return nil // the limits are enough
	case a.play.HasOpening() && (a.opening.IsZero() || a.reservation.IsZero()):
		return exitcode.Requires("--strategy", "--opening and --reservation, or --domain", "")
	case a.reservation.IsZero():
		return exitcode.Requires("--strategy", "--reservation, or --domain", "")
	}
	return nil
}

// checkIssues checks the flags that depend on --domain.
func (a *agentCommand) checkIssues() error {
	switch {
	case !a.issues.set():
		return a.checkPrice()
	case a.issues.profile == "" || a.issues.documents == "":
		return exitcode.Requires("--domain", "--profile and --documents", "")
	case a.play.IsOptimal():
		return exitcode.Excludes("--domain", "--strategy "+game.Name, "it plays for a price alone")
	case a.play.HasStep():
		return exitcode.Excludes("--domain", "--step", "it is a difference of prices")
	case !a.opening.IsZero() || !a.reservation.IsZero():
		return exitcode.Excludes("--domain", "--opening and --reservation", "leave them out")
	}
	if a.issues.memory == "" {
		memory, err := statefolder.Path(statefolder.Issues)
		if err != nil {
			return fmt.Errorf("--memory: %w", err)
		}
		a.issues.memory = memory
	}
	if err := checkFolder("--memory", a.issues.memory); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // the first negotiation creates a missing one
	}
	if err := checkFolder("--documents", a.issues.documents); err != nil {
		return err
	}
	return checkSeparate(folder{"--documents", a.issues.documents}, folder{"--memory", a.issues.memory},
		folder{"--proof", a.proofs})
}

// issuePlayer returns the player of --domain and --profile. One unit of the price issue is one token.
func (a *agentCommand) issuePlayer(play *player.Player) (*issues.Player, error) {
	profile, err := simulation.ReadProfile(a.issues.domain, a.issues.profile)
	if err != nil {
		return nil, exitcode.AsUsage(err, "haggle agent --help")
	}
	unit := uint64(1)
	for range a.log.Amounts.Decimals {
		unit *= 10
	}
	preferences, err := terms.Priced(profile, a.issues.price, unit)
	if err != nil {
		return nil, exitcode.Usagef("--price-issue: %w", err)
	}
	several := &issues.Player{
		Strategy: play.Strategy, Preferences: preferences, Seed: play.Seed,
		Documents: issues.Folder{Path: a.issues.documents},
		Memory:    issues.Folder{Path: a.issues.memory, Private: true},
		Decided:   func(turn agent.Turn, move issues.Move) error { return a.moved(play, turn, move) },
	}
	if a.prover != nil {
		return several, a.proveIssues(several, unit)
	}
	return several, nil
}

// proveIssues makes a player over several issues commit to the domain and profile texts, too.
func (a *agentCommand) proveIssues(several *issues.Player, unit uint64) error {
	domain, err := os.ReadFile(a.issues.domain)
	if err != nil {
		return fmt.Errorf("--domain: %w", err)
	}
	profile, err := os.ReadFile(a.issues.profile)
	if err != nil {
		return fmt.Errorf("--profile: %w", err)
	}
	a.prover.Strategy.Issues = &proof.Issues{
		Domain: string(domain), Profile: string(profile), Price: a.issues.price, Unit: unit,
	}
	// Use the preferences that a verifier reads, so that nothing else can decide a move.
	if several.Preferences, err = a.prover.Strategy.Issues.Preferences(); err != nil {
		return fmt.Errorf("--proof: %w", err)
	}
	several.Commit = a.prover.Commit
	a.prover.Document = func(
		ctx context.Context, negotiation solana.PublicKey, createdAt int64, hash [32]byte,
	) ([]byte, error) {
		return several.Document(ctx, negotiation, createdAt, a.side, hash)
	}
	return nil
}

// moved prints and records a move about several issues.
func (a *agentCommand) moved(play *player.Player, turn agent.Turn, move issues.Move) error {
	action := bargain.Action{Move: move.Move, Reason: move.Reason}
	document := issueMove{Record: agent.NewRecord(turn, play.Name, action, move.Price), Outcome: move.Text}
	document.Values = move.Values
	if move.Text != "" {
		document.Document = hex.EncodeToString(move.Document[:])
	}
	refused := ""
	if move.Refused != nil {
		document.Refused = move.Refused.Error()
		refused = "; refused: " + document.Refused
	}
	line, err := json.Marshal(document)
	if err != nil {
		return err
	}
	if a.JSON {
		a.log.Document(document)
	} else {
		a.log.Note("%s round %d: %s %s (%s%s)", document.Negotiation, document.Round, document.Move, move.Text,
			move.Reason, refused)
	}
	return play.Record(line)
}
