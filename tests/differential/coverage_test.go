package differential

import (
	"fmt"
	"maps"
	"slices"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// Codes that several instructions return for the same reasons.
var (
	// escrowCodes are returned for a wrong mint, token account, vault or token program.
	escrowCodes = []model.Code{model.ConstraintHasOne, model.ConstraintRaw, model.ConstraintSeeds,
		model.InvalidProgramID}
	// clockCodes are returned once a deadline has passed.
	clockCodes = []model.Code{model.Expired, model.ResponseWindowExpired}
	// milestoneCodes are returned for a wrong index, state, signer or created_at.
	milestoneCodes = []model.Code{model.InvalidState, model.Unauthorized, model.InvalidParams,
		model.StaleState}
)

// reachedCodes lists the codes that each instruction must return, besides success and the codes in
// frameworkCodes.
var reachedCodes = map[string][]model.Code{
	"initialize_config": {model.InsufficientFunds, model.ConstraintSeeds, model.InvalidProgramID,
		model.Unauthorized, model.InvalidParams},
	"update_config":     {model.Unauthorized, model.InvalidParams},
	"set_paused":        {model.Unauthorized},
	"propose_authority": {model.Unauthorized},
	"accept_authority":  {model.Unauthorized},
	"create_negotiation": {model.InsufficientFunds, model.AccountFrozen, model.ConstraintRaw,
		model.ConstraintSeeds, model.InvalidProgramID, model.InvalidParams, model.Paused, model.StaleState,
		model.UnsupportedMint},
	"accept_invitation": append([]model.Code{model.InsufficientFunds, model.AccountFrozen,
		model.CPIGuardTransferBlocked, model.AccountNotEnoughKeys, model.InvalidState, model.Unauthorized,
		model.Expired, model.Overflow, model.StaleState}, escrowCodes...),
	"submit_offer": append([]model.Code{model.InvalidState, model.Unauthorized, model.NotYourTurn,
		model.OfferTooLow, model.OfferExceedsEscrow, model.MaxRoundsReached, model.InvalidParams,
		model.NoZopa, model.StaleState}, clockCodes...),
	"accept_offer": slices.Concat([]model.Code{model.InvalidState, model.Unauthorized, model.NotYourTurn,
		model.StaleState}, escrowCodes, clockCodes),
	"reject_negotiation": slices.Concat([]model.Code{model.AccountNotEnoughKeys, model.InvalidState,
		model.Unauthorized, model.StaleState}, escrowCodes, clockCodes),
	"expire_negotiation": append([]model.Code{model.AccountNotEnoughKeys, model.InvalidState},
		escrowCodes...),
	"close_negotiation": append([]model.Code{model.InvalidState, model.PayoutPending}, escrowCodes...),
	"claim_payout": append([]model.Code{model.InvalidState, model.Unauthorized, model.InvalidParams,
		model.StaleState, model.PayoutPending}, escrowCodes...),
	"submit_zopa_commitment": append([]model.Code{model.InvalidState, model.Unauthorized, model.NotYourTurn,
		model.InvalidParams, model.StaleState}, clockCodes...),
	"reveal_zopa_price": slices.Concat([]model.Code{model.AccountNotEnoughKeys, model.InvalidState,
		model.Unauthorized, model.NotYourTurn, model.InvalidParams, model.ZopaCommitmentMismatch,
		model.StaleState}, escrowCodes, clockCodes),
	"claim_milestone":   slices.Concat(milestoneCodes, clockCodes),
	"dispute_milestone": append([]model.Code{model.ResponseWindowExpired}, milestoneCodes...),
	"release_milestone": slices.Concat(milestoneCodes, escrowCodes),
	"resolve_dispute": slices.Concat([]model.Code{model.Expired, model.ConstraintHasOne, model.ConstraintRaw,
		model.ConstraintSeeds}, milestoneCodes),
	"settle_deadline": {model.InvalidState, model.ConstraintHasOne, model.ConstraintRaw,
		model.ConstraintSeeds},
	"settle_by_agreement": {model.InvalidState, model.InvalidParams, model.StaleState, model.Expired,
		model.ConstraintHasOne, model.ConstraintRaw},
}

// rareCodes lists codes that only a long run must reach.
var rareCodes = map[string][]model.Code{
	"create_negotiation":  {model.CPIGuardTransferBlocked, model.MintRequiredForTransfer},
	"accept_invitation":   {model.MintRequiredForTransfer},
	"submit_offer":        {model.Overflow},
	"accept_offer":        {model.NoZopa},
	"resolve_dispute":     {model.InvalidProgramID},
	"settle_deadline":     {model.InvalidProgramID},
	"settle_by_agreement": {model.ConstraintSeeds, model.InvalidProgramID},
}

// frameworkCodes are returned by every instruction for malformed accounts and data.
var frameworkCodes = []model.Code{
	model.InstructionMissing, model.InstructionFallbackNotFound, model.InstructionDidNotDeserialize,
	model.ConstraintMut, model.DiscriminatorNotFound, model.DiscriminatorMismatch,
	model.AccountDidNotDeserialize, model.AccountNotEnoughKeys, model.AccountOwnedByWrongProgram,
	model.AccountNotSigner, model.DeclaredProgramIDMismatch,
}

// frequentOutcomes lists outcomes that most runs of any length reach.
var frequentOutcomes = []string{
	"accepted after the last round", "accepted by the buyer", "accepted by the seller",
	"accepted for the whole effective escrow", "accepted with milestones",
	"bond deposited", "bond divided by agreement", "bond forfeited", "bond returned", "bond split",
	"claimed by the buyer", "claimed by the seller",
	"claimed to an account with a delegate or close authority", "claimed while milestones are open",
	"close refused in the second of the creation",
	"closed by a third party", "closed by the buyer", "closed by the seller",
	"closed with a delivery to the buyer", "closed with a delivery to the seller", "closed with a donation",
	"closed with nothing for the treasury", "commitment by the buyer", "commitment by the seller",
	"config: authority proposed", "config: paused", "config: resumed", "config: settings changed",
	"configured", "created", "created again after closing", "created at a prefunded address",
	"created under Token-2022", "created with a bond", "created with eight milestones",
	"created with metadata of kind 1", "created with metadata of kind 2", "created with milestones",
	"created with the longest review window", "created with wrapped SOL", "created with ZOPA",
	"created_at of an earlier negotiation stops an instruction",
	"deadline extended", "extension not confirmed", "extension requested",
	"deadline settled: claim, no dispute, refund", "deadline settled: no claim, no dispute, refund",
	"delivered to a signer's account with a delegate or close authority", "delivered to the buyer",
	"delivered to the seller", "recorded because of a close authority", "recorded because of a delegate",
	"recorded for the buyer", "recorded for the seller",
	"dispute resolved for the buyer", "dispute resolved for the seller", "dispute resolved with a split",
	"expired past the global deadline before the reveals", "expired past the global deadline while Created",
	"expired past the response window before the reveals", "expired past the response window while Proposed",
	"invitation accepted",
	"milestone claimed", "milestone disputed", "milestone released after silence",
	"milestone released in review", "no zone", "zone", "zone of a single price", "reveal by the buyer",
	"offer by the buyer", "offer by the seller",
	"rejected by the buyer before the reveals", "rejected by the buyer while Created",
	"rejected by the seller before the reveals", "rejected by the seller while Created",
	"settled after 1 milestones", "settled after 2 milestones", "settled after 3 milestones",
	"settled by agreement", "settled by agreement after decisions",
	"settled by agreement with an open dispute", "stale created_at stops claim_milestone",
	"stale created_at stops reject_negotiation", "stale created_at stops submit_offer",
	"stale created_at stops submit_zopa_commitment",
}

// infrequentOutcomes lists outcomes that a run with the default length must reach at least once.
var infrequentOutcomes = []string{
	"config: authority accepted",
	"deadline settled: claim, no dispute, no refund", "deadline settled: no claim, dispute, no refund",
	"deadline settled: no claim, dispute, refund",
	"dispute resolved after the milestone deadline",
	"expired past the global deadline before the first offer",
	"expired past the global deadline instead of the seller's reveal",
	"expired past the global deadline while Countered", "expired past the global deadline while Proposed",
	"expired past the response window before the first offer",
	"expired past the response window instead of the seller's reveal",
	"expired past the response window while Countered",
	"expired past the response window while the midpoint stands", "midpoint accepted by the buyer",
	"midpoint accepted by the seller", "midpoint replaced by an offer",
	"rejected by the buyer before the first offer", "rejected by the buyer instead of the seller's reveal",
	"rejected by the buyer while Countered", "rejected by the buyer while Proposed",
	"rejected by the buyer while the midpoint stands", "rejected by the seller before the first offer",
	"rejected by the seller instead of the seller's reveal", "rejected by the seller while Countered",
	"rejected by the seller while Proposed", "rejected by the seller while the midpoint stands",
	"rejection refused that expects a forfeited bond",
	"settled after 4 milestones", "settled after 5 milestones", "settled after 6 milestones",
	"settled after 7 milestones", "settled after 8 milestones",
	"settled by agreement after the milestone deadline",
	"stale created_at stops accept_offer", "stale created_at stops claim_payout",
	"stale created_at stops dispute_milestone", "stale created_at stops release_milestone",
	"stale created_at stops resolve_dispute", "stale created_at stops reveal_zopa_price",
	"stale created_at stops settle_by_agreement",
}

// rareOutcomes lists outcomes that only a long run must reach.
var rareOutcomes = []string{
	"deadline settled: claim, dispute, no refund", "deadline settled: claim, dispute, refund",
	"expired past the global deadline while the midpoint stands",
}

// Minimum counts for a run with the default length. Every run uses new seeds, so the minimum counts are far
// lower than the expected counts: at least 15 for the smallest minimum, 60 for frequent outcomes. In a longer
// run the minimum counts are half as large in proportion to the length.
const (
	minCode             = 1
	minCodeInAll        = 1
	minFrameworkCode    = 10
	minFrequentOutcome  = 14
	minInfrequent       = 1
	minRare             = 1
	longRunInstructions = 20 * defaultInstructions
)

// gaps returns the codes and outcomes that are missing, too rare or not listed.
func (s *stats) gaps() []string {
	c := &coverage{stats: s}
	c.checkCodes()
	for _, outcome := range frequentOutcomes {
		c.require(outcome, s.outcomes[outcome], minFrequentOutcome)
	}
	for _, outcome := range infrequentOutcomes {
		c.require(outcome, s.outcomes[outcome], minInfrequent)
	}
	for _, outcome := range rareOutcomes {
		c.requireInLongRun(outcome, s.outcomes[outcome])
	}
	listed := slices.Concat(frequentOutcomes, infrequentOutcomes, rareOutcomes)
	for _, outcome := range slices.Sorted(maps.Keys(s.outcomes)) {
		if !slices.Contains(listed, outcome) {
			c.gaps = append(c.gaps, outcome+": not listed")
		}
	}
	closed := s.outcomes["closed by the buyer"] + s.outcomes["closed by the seller"] +
		s.outcomes["closed by a third party"]
	if created := s.outcomes["created"]; 2*closed < created {
		c.gaps = append(c.gaps, fmt.Sprintf("only %d of %d negotiations are closed", closed, created))
	}
	return c.gaps
}

type coverage struct {
	stats *stats
	gaps  []string
}

func (c *coverage) require(item string, count, minimum int) {
	minimum = max(minimum, minimum*c.stats.instructions/(2*defaultInstructions))
	if count < minimum {
		c.gaps = append(c.gaps, fmt.Sprintf("%s: %d times, minimum %d", item, count, minimum))
	}
}

func (c *coverage) requireInLongRun(item string, count int) {
	if c.stats.instructions >= longRunInstructions && count < minRare {
		c.gaps = append(c.gaps, fmt.Sprintf("%s: %d times, minimum %d", item, count, minRare))
	}
}

func (c *coverage) checkCodes() {
	total := map[model.Code]int{}
	for name, codes := range c.stats.codes {
		listed := slices.Concat(frameworkCodes, reachedCodes[name], rareCodes[name],
			[]model.Code{model.Success})
		for code, count := range codes {
			total[code] += count
			if name != "" && !slices.Contains(listed, code) {
				c.gaps = append(c.gaps, fmt.Sprintf("%s returns %v: not listed", name, code))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reachedCodes)) {
		for _, code := range append([]model.Code{model.Success}, reachedCodes[name]...) {
			c.require(fmt.Sprintf("%s returns %v", name, code), c.stats.codes[name][code], minCode)
		}
		for _, code := range rareCodes[name] {
			c.requireInLongRun(fmt.Sprintf("%s returns %v", name, code), c.stats.codes[name][code])
		}
	}
	for _, code := range slices.Sorted(maps.Keys(total)) {
		c.require(code.String(), total[code], minCodeInAll)
	}
	for _, code := range frameworkCodes {
		c.require(code.String(), total[code], minFrameworkCode)
	}
}
