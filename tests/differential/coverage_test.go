package differential

import (
	"fmt"
	"maps"
	"slices"

	"github.com/haggle-protocol/haggle/internal/model"
)

// Codes that every kind of instruction answers for the same reasons.
var (
	// escrowCodes are those of the instructions that move money: a wrong mint, token account, vault, token program.
	escrowCodes = []model.Code{model.ConstraintHasOne, model.ConstraintRaw, model.ConstraintSeeds, model.InvalidProgramID}
	// clockCodes are those of acting too late.
	clockCodes = []model.Code{model.Expired, model.ResponseWindowExpired}
)

// reached are the answers that each instruction must have given in a run of the usual length, besides those of framework.
var reached = map[string][]model.Code{
	"initialize_config": {model.TooLittle, model.ConstraintSeeds, model.InvalidProgramID, model.Unauthorized, model.InvalidParams},
	"update_config":     {model.Unauthorized, model.InvalidParams},
	"set_paused":        {model.Unauthorized},
	"propose_authority": {model.Unauthorized},
	"accept_authority":  {model.Unauthorized},
	"create_negotiation": {model.TooLittle, model.AccountFrozen, model.GuardedTransfer, model.ConstraintRaw, model.ConstraintSeeds,
		model.InvalidProgramID, model.InvalidParams, model.Paused, model.UnsupportedMint},
	"accept_invitation": append([]model.Code{model.TooLittle, model.AccountFrozen, model.GuardedTransfer, model.AccountNotEnoughKeys,
		model.InvalidState, model.Unauthorized, model.Expired, model.Overflow, model.StaleState}, escrowCodes...),
	"submit_offer": append([]model.Code{model.InvalidState, model.Unauthorized, model.NotYourTurn, model.OfferTooLow,
		model.OfferExceedsEscrow, model.MaxRoundsReached, model.InvalidParams, model.NoZopa, model.StaleState}, clockCodes...),
	"accept_offer": slices.Concat([]model.Code{model.InvalidState, model.Unauthorized, model.NotYourTurn, model.NoZopa, model.StaleState},
		escrowCodes, clockCodes),
	"reject_negotiation": slices.Concat([]model.Code{model.AccountNotEnoughKeys, model.InvalidState, model.Unauthorized, model.StaleState},
		escrowCodes, clockCodes),
	"expire_negotiation": append([]model.Code{model.AccountNotEnoughKeys, model.InvalidState}, escrowCodes...),
	"close_negotiation":  append([]model.Code{model.InvalidState, model.PayoutPending}, escrowCodes...),
	"claim_payout": append([]model.Code{model.InvalidState, model.Unauthorized, model.InvalidParams, model.StaleState, model.PayoutPending},
		escrowCodes...),
	"submit_zopa_commitment": append([]model.Code{model.InvalidState, model.Unauthorized, model.NotYourTurn, model.InvalidParams}, clockCodes...),
	"reveal_zopa_price": slices.Concat([]model.Code{model.AccountNotEnoughKeys, model.InvalidState, model.Unauthorized, model.NotYourTurn,
		model.InvalidParams, model.ZopaCommitmentMismatch}, escrowCodes, clockCodes),
	"claim_milestone":   append([]model.Code{model.InvalidState, model.Unauthorized, model.InvalidParams}, clockCodes...),
	"dispute_milestone": {model.InvalidState, model.Unauthorized, model.InvalidParams, model.ResponseWindowExpired},
	"release_milestone": append([]model.Code{model.InvalidState, model.Unauthorized, model.InvalidParams}, escrowCodes...),
	"resolve_dispute":   append([]model.Code{model.InvalidState, model.Unauthorized, model.InvalidParams, model.Expired}, escrowCodes...),
	"settle_deadline":   append([]model.Code{model.InvalidState}, escrowCodes...),
}

// rare are answers that need the end of time, and so may come up or not.
var rare = map[string][]model.Code{
	"submit_offer": {model.Overflow}, "submit_zopa_commitment": {model.Overflow}, "reveal_zopa_price": {model.Overflow},
}

// framework are the answers that any instruction gives to accounts and data that are not what it takes.
var framework = []model.Code{
	model.InstructionMissing, model.InstructionFallbackNotFound, model.InstructionDidNotDeserialize, model.ConstraintMut,
	model.DiscriminatorNotFound, model.DiscriminatorMismatch, model.AccountDidNotDeserialize, model.AccountNotEnoughKeys,
	model.AccountOwnedByWrongProgram, model.AccountNotSigner, model.DeclaredProgramIDMismatch,
}

// often are what has to happen all the time.
var often = []string{
	"accepted after the last round", "accepted by the buyer", "accepted by the seller", "accepted for the whole effective escrow",
	"accepted with milestones",
	"administration: authority accepted", "administration: authority proposed", "administration: paused", "administration: resumed",
	"administration: settings changed",
	"bond deposited", "bond forfeited", "bond returned",
	"claimed by the buyer", "claimed by the seller",
	"closed by a stranger", "closed by the buyer", "closed by the seller", "closed delivering to the buyer",
	"closed delivering to the seller", "closed with a donation", "closed with nothing for the treasury",
	"commitment of the buyer", "commitment of the seller",
	"configured", "created", "created again after closing", "created where lamports had been sent ahead", "created under Token-2022",
	"created with a bond", "created with eight milestones", "created with metadata", "created with milestones",
	"created with sealed prices", "created with wrapped SOL",
	"deadline extended", "extension asked for", "extension not agreed to",
	"deadline settled: claim, no dispute, refund", "deadline settled: no claim, no dispute, refund",
	"delivered to the buyer", "delivered to the seller", "recorded for the buyer", "recorded for the seller",
	"dispute resolved for the buyer", "dispute resolved for the seller", "dispute resolved with a split",
	"expired past the deadline before the first offer", "expired past the deadline while Countered",
	"expired past the deadline while Created", "expired past the deadline while Proposed",
	"expired past the deadline while prices are sealed",
	"expired past the window before the first offer", "expired past the window instead of the seller's reveal",
	"expired past the window while Countered", "expired past the window while Proposed",
	"expired past the window while prices are sealed",
	"invitation accepted", "midpoint accepted by the buyer", "midpoint accepted by the seller",
	"milestone claimed", "milestone disputed", "milestone released after silence", "milestone released in review",
	"no zone", "zone", "zone of a single price", "reveal of the buyer",
	"offer by the buyer", "offer by the seller", "offer in the place of the midpoint",
	"rejected by the buyer before the first offer", "rejected by the buyer while Countered", "rejected by the buyer while Created",
	"rejected by the buyer while Proposed", "rejected by the buyer while prices are sealed",
	"rejected by the seller before the first offer", "rejected by the seller while Countered",
	"rejected by the seller while Created", "rejected by the seller while Proposed", "rejected by the seller while prices are sealed",
	"settled after 1 milestones", "settled after 2 milestones", "settled after 3 milestones", "settled after 8 milestones",
}

// seldom are what has to happen too, although much has to come before it.
var seldom = []string{
	"bond forfeited by the arbiter", "claimed while milestones are open",
	"deadline settled: claim, dispute, no refund", "deadline settled: claim, dispute, refund",
	"deadline settled: claim, no dispute, no refund",
	"deadline settled: no claim, dispute, no refund", "deadline settled: no claim, dispute, refund",
	"dispute resolved after the milestone deadline",
	"expired past the deadline instead of the seller's reveal",
	"expired past the deadline while the midpoint stands", "expired past the window while the midpoint stands",
	"rejected by the buyer instead of the seller's reveal", "rejected by the seller instead of the seller's reveal",
	"rejected by the buyer while the midpoint stands", "rejected by the seller while the midpoint stands",
	"settled after 4 milestones", "settled after 5 milestones", "settled after 6 milestones", "settled after 7 milestones",
}

// How often each of these must have come up among the usual number of instructions. Of a longer run half as much per instruction
// is asked, whatever its seeds are: in a million each code, and what happens all the time, 140 times.
const (
	leastOfAnswer    = 2
	leastOfCode      = 14
	leastOfFramework = 25
	leastOften       = 14
	leastSeldom      = 4
)

// gaps are what should have come up and did not, or not often enough, and what came up and is not listed.
func (t *tally) gaps() []string {
	var gaps []string
	short := func(what string, count, least int) {
		least = max(least, least*t.instructions/(2*usualInstructions))
		if count < least {
			gaps = append(gaps, fmt.Sprintf("%s: %d times, and should be %d", what, count, least))
		}
	}
	total := map[model.Code]int{}
	for name, codes := range t.codes {
		for code, count := range codes {
			total[code] += count
			if name != "" && code != model.Success && !slices.Contains(slices.Concat(framework, reached[name], rare[name]), code) {
				gaps = append(gaps, fmt.Sprintf("%s answers %v, which is not listed", name, code))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reached)) {
		for _, code := range append([]model.Code{model.Success}, reached[name]...) {
			short(fmt.Sprintf("%s answers %v", name, code), t.codes[name][code], leastOfAnswer)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(total)) {
		short(code.String(), total[code], leastOfCode)
	}
	for _, code := range framework {
		short(code.String(), total[code], leastOfFramework)
	}
	for _, outcome := range often {
		short(outcome, t.outcomes[outcome], leastOften)
	}
	for _, outcome := range seldom {
		short(outcome, t.outcomes[outcome], leastSeldom)
	}
	for _, outcome := range slices.Sorted(maps.Keys(t.outcomes)) {
		if !slices.Contains(often, outcome) && !slices.Contains(seldom, outcome) {
			gaps = append(gaps, outcome+" is not listed")
		}
	}
	closed := t.outcomes["closed by the buyer"] + t.outcomes["closed by the seller"] + t.outcomes["closed by a stranger"]
	if 2*closed < t.outcomes["created"] {
		gaps = append(gaps, fmt.Sprintf("of %d negotiations only %d come to an end", t.outcomes["created"], closed))
	}
	return gaps
}

// countCreations counts negotiations by what their address has been through before an instruction made them.
func (st *stage) countCreations(before *model.World) {
	for _, d := range st.cast.deals {
		if read(before, d.negotiation) != nil || read(st.world, d.negotiation) == nil {
			continue
		}
		if d.firstTerms != [32]byte{} {
			st.tally.outcomes["created again after closing"]++
		}
		if before.Accounts[d.negotiation].Lamports+before.Accounts[d.vault].Lamports > 0 {
			st.tally.outcomes["created where lamports had been sent ahead"]++
		}
	}
}
