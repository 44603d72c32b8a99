package policy

import (
	"errors"
	"math"
	"slices"

	"github.com/gagliardetto/solana-go"
)

// Unlimited is a limit that nothing exceeds.
const Unlimited uint64 = math.MaxUint64

// Limits are maximum spends, in the mint's base units or in lamports. An amount equal to the limit is
// allowed. Zero allows nothing at all, so set unwanted limits to Unlimited. Refunds and returned rent do not
// reduce the amount spent.
type Limits struct {
	// PerTransaction limits one transaction.
	PerTransaction uint64 `file:"perTransaction"`
	// PerNegotiation limits the total spent per negotiation, and the price plus decay offered or accepted as
	// a buyer.
	PerNegotiation uint64 `file:"perNegotiation"`
	// PerCounterparty limits the total ever spent with one counterparty: a negotiation's counterparty, or the
	// receiver when transferring.
	PerCounterparty uint64 `file:"perCounterparty"`
	// PerDay limits the total spent per UTC day: see Config.Now.
	PerDay uint64 `file:"perDay"`
	// ApproveAbove is the highest amount, and price with a buyer's decay, that needs no approval by
	// Config.Approve.
	ApproveAbove uint64 `file:"approveAbove"`
}

// TokenLimits limit spending and prices in one mint.
type TokenLimits struct {
	Limits
	// MaxTotal is the maximum cost per deal as a buyer, in the mint's base units: the price offered, accepted
	// or committed to, plus all offers' decay up to the deal. Zero allows no deal. PerNegotiation limits the
	// same sum.
	MaxTotal uint64 `file:"maxTotal"`
	// MinPrice is the lowest price that the wallet offers, accepts or commits to as a seller, in the mint's
	// base units, before the protocol's fee.
	MinPrice uint64 `file:"minPrice"`
	// BuyerBand and SellerBand limit the prices that the wallet offers, accepts or commits to as a buyer and
	// as a seller, beside MaxTotal and MinPrice. The zero value is no band.
	BuyerBand  Band `file:"buyerBand"`
	SellerBand Band `file:"sellerBand"`
}

// AgreementLimits limit the shares that the wallet gives up by settle_by_agreement, in basis points. Zero
// allows nothing.
type AgreementLimits struct {
	// MaxToSellerBps is the highest share of the undecided price that goes to the seller while the wallet is
	// the buyer.
	MaxToSellerBps uint16 `file:"maxToSellerBps"`
	// MaxToBuyerBps is the highest share of the undecided price that goes to the buyer while the wallet is
	// the seller.
	MaxToBuyerBps uint16 `file:"maxToBuyerBps"`
	// MaxBondToBuyerBps is the highest share of the bond that goes to the buyer while the wallet is the
	// seller.
	MaxBondToBuyerBps uint16 `file:"maxBondToBuyerBps"`
}

// limits returns the mint's limits, or the lamport limits for the zero mint.
func (c *Config) limits(mint solana.PublicKey) Limits {
	if mint.IsZero() {
		return c.Lamports
	}
	return c.Tokens[mint].Limits
}

// check compares a message's spends with the limits. spends excludes fees.
func (u *Snapshot) check(config *Config, day int64, digest Digest, spends, fees []Spend) error {
	tx := map[solana.PublicKey]uint64{}
	for _, spend := range slices.Concat(spends, fees) {
		tx[spend.Mint] = sum(tx[spend.Mint], spend.Amount)
		limit := config.limits(spend.Mint).PerTransaction
		if requested := tx[spend.Mint]; requested > limit || requested == Unlimited {
			return overLimit(RulePerTransaction, spend, solana.PublicKey{}, limit, 0, requested)
		}
	}
	onDay := u.carried(digest, day)
	negotiations, counterparties := map[Scope]uint64{}, map[Scope]uint64{}
	for _, spend := range slices.Concat(u.excess(digest, spends), fees) {
		limits := config.limits(spend.Mint)
		if key := (Scope{spend.Mint, spend.Negotiation}); !spend.Negotiation.IsZero() {
			negotiations[key] = sum(negotiations[key], spend.Amount)
			if used := u.Negotiations[key]; exceeds(negotiations[key], used, limits.PerNegotiation) {
				return overLimit(RulePerNegotiation, spend, spend.Negotiation, limits.PerNegotiation, used, negotiations[key])
			}
		}
		if key := (Scope{spend.Mint, spend.Counterparty}); !spend.Counterparty.IsZero() {
			counterparties[key] = sum(counterparties[key], spend.Amount)
			if used := u.Counterparties[key]; exceeds(counterparties[key], used, limits.PerCounterparty) {
				return overLimit(RulePerCounterparty, spend, spend.Counterparty, limits.PerCounterparty, used, counterparties[key])
			}
		}
		onDay[spend.Mint] = sum(onDay[spend.Mint], spend.Amount)
		if used := u.usedOn(day, spend.Mint); exceeds(onDay[spend.Mint], used, limits.PerDay) {
			return overLimit(RulePerDay, spend, solana.PublicKey{}, limits.PerDay, used, onDay[spend.Mint])
		}
	}
	return nil
}

func overLimit(rule Rule, spend Spend, subject solana.PublicKey, limit, used, requested uint64) error {
	return &Denial{
		Rule: rule, Instruction: spend.Instruction, Mint: spend.Mint, Subject: subject,
		Limit: limit, Used: used, Requested: requested,
	}
}

// isUsed reports whether err is a denial that depends on earlier usage.
func isUsed(err error) bool {
	var denial *Denial
	return errors.As(err, &denial) && slices.Contains([]Rule{RulePerNegotiation, RulePerCounterparty, RulePerDay}, denial.Rule) && denial.Used > 0
}
