package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/player"
	"github.com/haggle-protocol/haggle/internal/cli/proving"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
)

// proofTimeout limits the time to read a negotiation's history.
const proofTimeout = time.Minute

// committed is a commitment in the output, before the agent's first move.
type committed struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	// Commitment is in hex: see "haggle verify --strategy-hash".
	Commitment string `json:"commitment"`
}

// prove makes a player commit to its strategy and a buyer's limit, or to the model that chose it.
func (a *agentCommand) prove(play *player.Player, maxTotal uint64) error {
	if err := os.MkdirAll(a.proofs, 0o700); err != nil {
		return fmt.Errorf("--proof: %w", err)
	}
	if err := checkFolder("--proof", a.proofs); err != nil {
		return err
	}
	a.prover = &proving.Prover{
		Folder: a.proofs, Side: proof.Side(a.role), Committed: a.committed, Strategy: proof.Strategy{
			Name: play.Name, Opening: play.Opening, Reservation: play.Reservation, Seed: play.Seed,
			Step: play.Step, MaxTotal: maxTotal, OtherReservation: play.OtherReservation,
		},
	}
	if a.model != "" {
		prompt, err := os.ReadFile(a.prompt)
		if err != nil {
			return fmt.Errorf("--prompt: %w", err)
		}
		a.prover.Model = &proof.Model{Name: a.model, Prompt: sha256.Sum256(prompt), Band: a.band}
	}
	if a.llm.IsSet() {
		prompt, err := a.llm.PromptHash()
		if err != nil {
			return err
		}
		a.prover.Model = &proof.Model{Name: a.llm.Names(), Prompt: prompt, Band: a.band}
	}
	play.Commit = a.prover.Commit
	return nil
}

func (a *agentCommand) committed(negotiation solana.PublicKey, commitment proof.Hash) {
	text := hex.EncodeToString(commitment[:])
	if a.JSON {
		a.log.Document(committed{Negotiation: negotiation, Commitment: text})
		return
	}
	a.log.Note("%s commitment: %s", negotiation, text)
}

// finish writes the proof for an ended negotiation.
func (a *agentCommand) finish(negotiation solana.PublicKey) {
	ctx, cancel := context.WithTimeout(context.Background(), proofTimeout)
	defer cancel()
	paths, err := a.prover.Finish(ctx, a.client, negotiation)
	for _, path := range paths {
		a.log.Note("proof: %s", path)
	}
	switch {
	case errors.Is(err, proving.ErrNoEnd):
		a.log.Note("%s: no proof yet: %v; to write it later: haggle agent %s with the same flags",
			negotiation, proving.ErrNoEnd, negotiation)
	case err != nil:
		a.log.Note("%s: no proof: %v", negotiation, err)
	}
}
