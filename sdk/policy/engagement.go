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
	// Escrow is the deposit of a negotiation that the wallet creates, in base units of the mint.
	Escrow uint64 `json:"escrow,omitzero"`
	// DecayRateBps is the share that each offer costs that deposit, in basis points; nil if it is not on
	// record.
	DecayRateBps *uint16 `json:"decay_rate_bps,omitempty"`
	// CreatedAt is the creation time of the deal, in Unix seconds. It is zero until the wallet signs a
	// message that names the deal.
	CreatedAt int64 `json:"created_at,omitzero"`
	// Until is when the negotiation is over at the latest, in Unix seconds. Its totals are pruned then.
	Until int64 `json:"until"`
	// Intent is the intent with which the engagement was counted.
	Intent Digest `json:"intent,omitzero"`
}

// Deal is one deal at a negotiation's address, which several deals can use one after the other.
type Deal struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	CreatedAt   int64            `json:"created_at"`
}

// Commitment is a sealed price that the wallet committed to. The price itself is not stored.
type Commitment struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	// Hash is the commitment: see protocol.ZopaCommitment.
	Hash Digest `json:"hash"`
	// Until is when the negotiation is over at the latest, in Unix seconds.
	Until int64 `json:"until"`
	// Intent is the intent with which the commitment was counted.
	Intent Digest `json:"intent,omitzero"`
	// Used is the counted cost of its reveals, in lamports.
	Used uint64 `json:"used,omitzero"`
}

const (
	// bargainingLife is longer than the bargaining of a deal, which ends a day after its creation at the
	// latest.
	bargainingLife = 2 * secondsPerDay
	// milestonesLife is longer than the time that a deal lasts after its milestone deadline: twice the
	// longest review window.
	milestonesLife = 15 * secondsPerDay
	// nonceLife covers the expected time until a creation with a durable nonce is executed, and the longest
	// life of its deal.
	nonceLife = 2 * 365 * secondsPerDay
)

// lifeOf returns when a deal that is created now is over at the latest, in Unix seconds.
func lifeOf(now, milestoneDeadline int64, durable bool) int64 {
	switch {
	case durable:
		return now + nonceLife
	case milestoneDeadline > 0:
		return min(milestoneDeadline, now+nonceLife) + milestonesLife
	}
	return now + bargainingLife
}

// bind assigns a deal to the first creation of its negotiation that has none yet.
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

// uncounted returns the deposit of a deal that no counted creation accounts for: a creation that was signed
// twice is executed twice if the first deal is closed in between. It is false if the deal is accounted for.
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

// latestDeal returns the created_at of the latest deal at an address that the wallet signed for.
func (u *Snapshot) latestDeal(negotiation solana.PublicKey) (latest int64) {
	for _, engagement := range u.Engagements[negotiation] {
		latest = max(latest, engagement.CreatedAt)
	}
	return latest
}

// commitmentOf returns the hash of the commitment that an instruction reveals.
func commitmentOf(v *protocol.RevealZopaPrice) Digest {
	return protocol.ZopaCommitment(v.Negotiation, v.CreatedAt, v.Agent, v.Price, v.Nonce)
}

// owes reports whether a message must be signed because it reveals a committed price, regardless of the used
// limits: a withheld reveal costs the bond. All reveals of one commitment together may cost at most as much
// as one transaction may. A message that also pays somebody or agrees to a price is not owed, except for the
// midpoint of the revealed prices.
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

// checkEngagements denies a negotiation that is on record in another mint: its prices would be read as the
// other mint's.
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
