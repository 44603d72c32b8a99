package verify

import "github.com/haggle-protocol/haggle/sdk/bargain/proof"

// gap is a property not shown by a valid proof.
type gap struct {
	name, text string
	// applies reports whether the proof contains the gap.
	applies func(p *proof.Proof, seedDecides bool) bool
}

// gaps follows the table in docs/PROOFS.md.
var gaps = []gap{
	{"moves", "the moves were the model's: they cannot be replayed, and the model is a claim",
		func(p *proof.Proof, _ bool) bool { return p.Reveal.Model != nil }},
	{"late_commitment", "the strategy was fixed after the buyer's first offer, and may have been chosen by it",
		func(p *proof.Proof, _ bool) bool { return p.Side == proof.Seller }},
	{"seed", "the seed decides moves, and the agent may have tried several before it committed",
		func(_ *proof.Proof, seedDecides bool) bool { return seedDecides }},
	{"selection", "the agent may have committed in other negotiations, and reveal only the proofs that suit it",
		func(*proof.Proof, bool) bool { return true }},
}

// gapsOf returns the gaps in a proof that is valid, unfinished or shows a deviation.
func gapsOf(p *proof.Proof, seedDecides bool) (found []gap) {
	for _, gap := range gaps {
		if gap.applies(p, seedDecides) {
			found = append(found, gap)
		}
	}
	return found
}
