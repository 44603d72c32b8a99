package policy

import (
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Engagement is a negotiation that the wallet has created or joined.
type Engagement struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	Mint        solana.PublicKey `json:"mint"`
	Buyer       solana.PublicKey `json:"buyer"`
	Seller      solana.PublicKey `json:"seller"`
	// Escrow is the deposit when the wallet creates a negotiation, in the mint's base units.
	Escrow uint64 `json:"escrow,omitzero"`
	// DecayRateBps is the share that each offer costs that deposit, in basis points; nil if it is not on
	// record.
	DecayRateBps *uint16 `json:"decay_rate_bps,omitempty"`
	// CreatedAt is the creation time of the deal, in Unix seconds. It stays 0 until the wallet signs
	// something naming the deal.
	CreatedAt int64 `json:"created_at,omitzero"`
	// Until is the latest end time, in Unix seconds. Totals are pruned then.
	Until int64 `json:"until"`
	// Intent is the intent that counted the engagement.
	Intent Digest `json:"intent,omitzero"`
}

// Deal is one of the successive deals that can use a negotiation address.
type Deal struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	CreatedAt   int64            `json:"created_at"`
}

// Commitment is a sealed price that the wallet committed to. The price itself is not stored.
type Commitment struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	// Hash is the commitment: see protocol.ZopaCommitment.
	Hash Digest `json:"hash"`
	// Until is the negotiation's latest end time, in Unix seconds.
	Until int64 `json:"until"`
	// Intent is the intent that counted the commitment.
	Intent Digest `json:"intent,omitzero"`
	// Used is the reveals' counted cost, in lamports.
	Used uint64 `json:"used,omitzero"`
}

const (
	// bargainingLife is longer than any deal's bargaining, which ends at most a day after creation.
	bargainingLife = 2 * secondsPerDay
	// milestonesLife is longer than any deal's lifetime beyond the milestone deadline: twice the longest
	// review window.
	milestonesLife = 15 * secondsPerDay
	// nonceLife covers the expected time until a durable nonce creation is executed, and the longest deal
	// lifetime.
	nonceLife = 2 * 365 * secondsPerDay
)

// lifeOf returns the latest end time, in Unix seconds, for a deal created at the current time.
func lifeOf(now, milestoneDeadline int64, durable bool) int64 {
	switch {
	case durable:
		return now + nonceLife
	case milestoneDeadline > 0:
		return min(milestoneDeadline, now+nonceLife) + milestonesLife
	}
	return now + bargainingLife
}

// bind assigns a deal to the negotiation's first creation without a deal.
func (u *Snapshot) bind(deal Deal) {
	engagements := u.Engagements[deal.Negotiation]
	isDeal := func(e Engagement) bool { return e.CreatedAt == deal.CreatedAt }
	isFree := func(e Engagement) bool { return e.CreatedAt == 0 }
	if slices.ContainsFunc(engagements, isDeal) {
		return
	}
	if i := slices.IndexFunc(engagements, isFree); i >= 0 {
		engagements[i].CreatedAt = deal.CreatedAt
	}
}

// uncounted returns a deal's deposit if no counted creation accounts for the deal: a creation signed twice is
// executed twice if the first deal is closed in between. Otherwise it returns false.
func (u *Snapshot) uncounted(deal Deal) (Engagement, bool) {
	engagements := u.Engagements[deal.Negotiation]
	if len(engagements) == 0 || slices.ContainsFunc(engagements, func(e Engagement) bool {
		return e.CreatedAt == deal.CreatedAt || e.CreatedAt == 0
	}) {
		return Engagement{}, false
	}
	extra := engagements[0]
	for _, other := range engagements {
		extra.Escrow = max(extra.Escrow, other.Escrow)
	}
	extra.CreatedAt = deal.CreatedAt
	return extra, true
}

// latestDeal returns created_at of the latest deal signed by the wallet for an address.
func (u *Snapshot) latestDeal(negotiation solana.PublicKey) (latest int64) {
	for _, engagement := range u.Engagements[negotiation] {
		latest = max(latest, engagement.CreatedAt)
	}
	return latest
}

// commitmentOf returns the commitment hash revealed by an instruction.
func commitmentOf(v *protocol.RevealZopaPrice) Digest {
	return protocol.ZopaCommitment(v.Negotiation, v.CreatedAt, v.Agent, v.Price, v.Nonce)
}

// owes reports whether the message reveals a committed price and so must be signed regardless of used limits:
// a withheld reveal costs the bond. All reveals for the same commitment may together cost no more than
// PerTransaction. Messages that also pay somebody or agree to a price are not owed, except for the midpoint
// of the revealed prices.
func (u *Snapshot) owes(config *Config, read *reading) bool {
	if len(read.reveals) != 1 || len(read.prices) > read.midpoints || read.paysOthers() {
		return false
	}
	commitment := u.Commitments[read.reveals[0]]
	cost, onlyLamports := lamportsOf(read.spends, read.fees)
	return commitment != nil && onlyLamports && !exceeds(cost, commitment.Used, config.Lamports.PerTransaction)
}

// lamportsOf returns the sum of spends, and whether they are all in lamports.
func lamportsOf(spends, fees []Spend) (total uint64, only bool) {
	only = true
	for _, spend := range slices.Concat(spends, fees) {
		if spend.Mint.IsZero() {
			total = sum(total, spend.Amount)
		} else {
			only = false
		}
	}
	return total, only
}

// checkEngagements denies negotiations recorded with a different mint: prices would be read in the wrong
// mint.
func (u *Snapshot) checkEngagements(engagements []Engagement) error {
	for _, engagement := range engagements {
		for _, other := range u.Engagements[engagement.Negotiation] {
			if other.Mint != engagement.Mint {
				return &Denial{
					Rule: RuleNegotiation, Instruction: -1, Subject: engagement.Negotiation,
					Cause: fmt.Errorf("the wallet used another mint for it before, %s", other.Mint),
				}
			}
		}
	}
	return nil
}
