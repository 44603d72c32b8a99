package policy

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/token"
)

const policyHelp = `A policy limits what a wallet signs. With --policy FILE every transaction is decoded before it is signed: what
it pays, to whom, for which negotiation, at what price. A transaction that is not allowed, or that cannot be
decoded completely, is not signed, and the exit code is 10.

FILE is JSON. Amounts are base units of the mint, or lamports. "lamports", "tokens" and their limits are
required; 0 allows nothing:

  {
    "lamports": {"perTransaction": 20000000, "perNegotiation": 10000000, "perCounterparty": "unlimited",
                 "perDay": 100000000, "approveAbove": "unlimited"},
    "tokens": {"MINT": {"perTransaction": 5000000, "perNegotiation": 5000000, "perCounterparty": "unlimited",
               "perDay": 20000000, "approveAbove": 2000000, "maxTotal": 4000000, "minPrice": 0,
               "buyerBand": {"lower": 1000000, "upper": 4000000}}},
    "counterparties": ["ADDRESS"], "arbiters": ["ADDRESS"],
    "terms": {"maxDecayRateBps": 200, "maxRounds": 10, "minResponseWindow": "5m", "maxFeeBps": 50},
    "agreement": {"maxToSellerBps": 5000, "maxToBuyerBps": 5000, "maxBondToBuyerBps": 0},
    "instructions": ["compute_budget", "haggle.submit_offer", "haggle.accept_offer"], "stopFile": "stop"
  }

Without "counterparties", "arbiters" or "instructions" everyone and every usual one is allowed; with
"instructions" no other one, and "compute_budget" is in every transaction. Above "approveAbove" (0 if it is
left out) the command asks for approval at the terminal; without a terminal it does not sign. An approval
holds for 24 hours for retries with the same payments, receivers and prices, at no higher fee. Without
"agreement" the wallet does not sign "milestone settle". "terms" limit the negotiations that the wallet
creates or joins; a term that is left out has the value above. While
"stopFile" exists (its path is relative to FILE's folder), nothing is signed.

"buyerBand" and "sellerBand" are ranges of the prices that the wallet offers, accepts or seals as a buyer and
as a seller: a buyer's with the decay of all offers until the deal, a seller's before the fee. They can be
left out.

A sealed price is checked when the wallet commits to it; its reveal is then always signed. A seller's reveal
also accepts the midpoint, if "minPrice" and the allowed instructions permit that.

The state database (--state) stores the usage of the limits. Money counts when the wallet signs; a retry
counts once, and what expires or fails is given back. All processes that use the database share the usage,
on several machines with --state postgres://USER@HOST/DATABASE.`

func Command(s *session.Session) *cobra.Command {
	return command.Group("policy", "Limit what the wallet signs; print the usage of the limits", policyHelp,
		newPolicyCheckCommand(s), newPolicyUsageCommand(s))
}

// limitView is a limit formatted as a string: JavaScript rounds such numbers.
type limitView uint64

func (l limitView) MarshalJSON() ([]byte, error) { return []byte(strconv.Quote(l.String())), nil }

func (l limitView) String() string {
	if uint64(l) == policy.Unlimited {
		return "unlimited"
	}
	return strconv.FormatUint(uint64(l), 10)
}

// text writes the limit for people.
func (l limitView) text(address solana.PublicKey, amount amounts) string {
	if uint64(l) == policy.Unlimited {
		return "unlimited"
	}
	return amount(address, uint64(l))
}

// amounts formats base units of a mint, or lamports if the mint is zero.
type amounts func(mint solana.PublicKey, units uint64) string

// readMints reads mints for decimals and symbols if the command line names a cluster. If a mint cannot be
// read, amounts are in base units.
func readMints(ctx context.Context, s *session.Session, mints []solana.PublicKey) amounts {
	if s.Connection.URL != "" || s.Connection.ConfigPath != "" {
		for _, mint := range mints {
			if _, known := token.WellKnownDecimals(mint); !known && !mint.IsZero() {
				_, _ = s.Mint(ctx, mint)
			}
		}
	}
	return s.AmountOf
}

type limitsView struct {
	// Mint is the mint that the limits apply to; unset means lamports.
	Mint            solana.PublicKey `json:"mint,omitzero"`
	PerTransaction  limitView        `json:"per_transaction"`
	PerNegotiation  limitView        `json:"per_negotiation"`
	PerCounterparty limitView        `json:"per_counterparty"`
	PerDay          limitView        `json:"per_day"`
	ApproveAbove    limitView        `json:"approve_above"`
	MaxTotal        *limitView       `json:"max_total,omitempty"`
	MinPrice        *limitView       `json:"min_price,omitempty"`
	// BuyerBand and SellerBand are nil if there is none.
	BuyerBand  *bandView `json:"buyer_band,omitempty"`
	SellerBand *bandView `json:"seller_band,omitempty"`
}

// bandView is a price range in the mint's base units: a buyer's range includes the decay for all offers until
// the deal.
type bandView struct {
	Lower limitView `json:"lower"`
	Upper limitView `json:"upper"`
}

// viewBand returns nil if there is no band.
func viewBand(band policy.Band) *bandView {
	if band == (policy.Band{}) {
		return nil
	}
	return &bandView{limitView(band.Lower), limitView(band.Upper)}
}

func (b *bandView) text(mint solana.PublicKey, amount amounts) string {
	if b == nil {
		return ""
	}
	return b.Lower.text(mint, amount) + " to " + b.Upper.text(mint, amount)
}

type policyView struct {
	Limits         []limitsView       `json:"limits"`
	Programs       []solana.PublicKey `json:"programs,omitempty"`
	Instructions   []string           `json:"instructions"`
	Counterparties []solana.PublicKey `json:"counterparties,omitempty"`
	Arbiters       []solana.PublicKey `json:"arbiters,omitempty"`
	Destinations   []solana.PublicKey `json:"destinations,omitempty"`
	Terms          termLimits         `json:"terms"`
	Agreement      *agreementLimits   `json:"agreement,omitempty"`
	StopFile       string             `json:"stop_file,omitempty"`
	Stopped        bool               `json:"stopped"`
	// SignsNothing is the reason why the policy signs nothing; omitted if it can sign.
	SignsNothing string `json:"signs_nothing,omitempty"`
}

// termLimits holds the worst terms for negotiations that the wallet creates or joins: shares in basis points,
// the response window in seconds.
type termLimits struct {
	MaxDecayRateBps   uint16 `json:"max_decay_rate_bps"`
	MaxRounds         uint8  `json:"max_rounds"`
	MinResponseWindow int64  `json:"min_response_window"`
	MaxFeeBps         uint16 `json:"max_fee_bps"`
}

func (l termLimits) text() string {
	return fmt.Sprintf("decay up to %s per round, up to %d rounds, at least %d s to answer, fee up to %s",
		format.Percent(l.MaxDecayRateBps), l.MaxRounds, l.MinResponseWindow, format.Percent(l.MaxFeeBps))
}

// agreementLimits holds the highest shares that the wallet gives up by agreement, in basis points.
type agreementLimits struct {
	MaxToSellerBps    uint16 `json:"max_to_seller_bps"`
	MaxToBuyerBps     uint16 `json:"max_to_buyer_bps"`
	MaxBondToBuyerBps uint16 `json:"max_bond_to_buyer_bps"`
}

func (l *agreementLimits) text() string {
	if l == nil {
		return "none"
	}
	return fmt.Sprintf("as buyer up to %s of the undecided price to the seller; as seller up to %s of it and %s of the bond to the buyer",
		format.Percent(l.MaxToSellerBps), format.Percent(l.MaxToBuyerBps), format.Percent(l.MaxBondToBuyerBps))
}

func newPolicyCheckCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "check FILE", Short: "Check a policy file and print what it allows",
		Long: `Reads a policy as --policy does, and prints its limits. A missing money limit, an unknown or repeated key
and an unknown instruction are errors. With --url or --config, amounts of a mint are tokens; otherwise those
of most mints are base units.`,
		Example: "  haggle policy check policy.json",
	}
	command.Documents(cmd, policyView{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		config, err := connection.ReadPolicy(arguments[0])
		if err != nil {
			return err
		}
		v := viewPolicy(config)
		return s.Print(v, v.text(readMints(ctx, s, sortedMints(config.Tokens))))
	})
	return cmd
}

func viewPolicy(config *policy.Config) policyView {
	v := policyView{
		Limits:   []limitsView{viewLimits(solana.PublicKey{}, config.Lamports)},
		Programs: config.Programs, Instructions: config.Instructions, Counterparties: config.Counterparties,
		Arbiters: config.Arbiters, Destinations: config.Destinations, StopFile: config.StopFile, Stopped: config.Stopped() != nil,
	}
	for _, address := range sortedMints(config.Tokens) {
		limits := config.Tokens[address]
		shown := viewLimits(address, limits.Limits)
		shown.MinPrice, shown.MaxTotal = new(limitView(limits.MinPrice)), new(limitView(limits.MaxTotal))
		shown.BuyerBand, shown.SellerBand = viewBand(limits.BuyerBand), viewBand(limits.SellerBand)
		v.Limits = append(v.Limits, shown)
	}
	terms := config.Terms.WithDefaults()
	v.Terms = termLimits{
		*terms.MaxDecayRateBps, terms.MaxRounds, int64(terms.MinResponseWindow / time.Second), *terms.MaxFeeBps,
	}
	if limits := config.Agreement; limits != nil {
		v.Agreement = &agreementLimits{limits.MaxToSellerBps, limits.MaxToBuyerBps, limits.MaxBondToBuyerBps}
	}
	if v.Instructions == nil {
		v.Instructions = policy.DefaultInstructions()
	}
	if err := config.CheckUsable(); err != nil {
		v.SignsNothing = exitcode.Message(err)
	}
	return v
}

func sortedMints(limits map[solana.PublicKey]policy.TokenLimits) []solana.PublicKey {
	return slices.SortedFunc(maps.Keys(limits), func(a, b solana.PublicKey) int { return bytes.Compare(a[:], b[:]) })
}

func viewLimits(mint solana.PublicKey, limits policy.Limits) limitsView {
	return limitsView{
		Mint: mint, PerTransaction: limitView(limits.PerTransaction), PerNegotiation: limitView(limits.PerNegotiation),
		PerCounterparty: limitView(limits.PerCounterparty), PerDay: limitView(limits.PerDay), ApproveAbove: limitView(limits.ApproveAbove),
	}
}

func (v policyView) text(amount amounts) string {
	var parts []string
	for _, limits := range v.Limits {
		parts = append(parts, limits.text(amount))
	}
	stop := ""
	if v.StopFile != "" {
		stop = v.StopFile + " (does not exist)"
		if v.Stopped {
			stop = v.StopFile + " exists: nothing is signed"
		}
	}
	parts = append(parts, format.Rows{
		{"programs", orEveryone(v.Programs, "all that can be decoded")},
		{"instructions", strings.Join(v.Instructions, ", ")},
		{"counterparties", orEveryone(v.Counterparties, "everyone")},
		{"arbiters", orEveryone(v.Arbiters, "everyone")},
		{"paid at", orEveryone(v.Destinations, "the wallet's own accounts")},
		{"terms", v.Terms.text()},
		{"agreements", v.Agreement.text()},
		{"stop file", stop},
		{"signs nothing", v.SignsNothing},
	}.String())
	return strings.Join(parts, "\n")
}

func (v limitsView) text(amount amounts) string {
	title := "SOL"
	if !v.Mint.IsZero() {
		title = "mint " + v.Mint.String()
	}
	rows := format.Rows{
		{"per transaction", v.PerTransaction.text(v.Mint, amount)},
		{"per negotiation", v.PerNegotiation.text(v.Mint, amount)},
		{"per counterparty", v.PerCounterparty.text(v.Mint, amount)},
		{"per day", v.PerDay.text(v.Mint, amount)},
		{"asks above", v.ApproveAbove.text(v.Mint, amount)},
	}
	if v.MaxTotal != nil && v.MinPrice != nil {
		rows = append(rows, [2]string{"highest total", v.MaxTotal.text(v.Mint, amount)}, [2]string{"lowest price", v.MinPrice.text(v.Mint, amount)})
	}
	rows = append(rows, [2]string{"prices as buyer", v.BuyerBand.text(v.Mint, amount)},
		[2]string{"prices as seller", v.SellerBand.text(v.Mint, amount)})
	return title + "\n" + rows.String()
}

func orEveryone(allowed []solana.PublicKey, everyone string) string {
	switch {
	case allowed == nil:
		return everyone
	case len(allowed) == 0:
		return "none"
	}
	return strings.Join(solana.PublicKeySlice(allowed).ToBase58(), ", ")
}

func newPolicyUsageCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "usage", Short: "Print the usage of a policy's limits",
		Long: `Prints the usage in the state database (--state): what was spent today (in UTC), on each negotiation that is
not over, and with each counterparty. With --policy it prints the limits, too. It also works while an agent
signs. The usage is the one of the wallet of --keypair.`,
		Example: "  haggle policy usage --keypair buyer.json --policy policy.json",
	}
	command.Documents(cmd, usageView{})
	cmd.RunE = s.Limited(func(ctx context.Context, _ []string) error { return policyUsage(ctx, s) })
	return cmd
}

// usedView contains the amount spent, in the mint's base units or in lamports if there is no mint, and the
// limit.
type usedView struct {
	Negotiation  solana.PublicKey `json:"negotiation,omitzero"`
	Counterparty solana.PublicKey `json:"counterparty,omitzero"`
	Mint         solana.PublicKey `json:"mint,omitzero"`
	Used         string           `json:"used"`
	Limit        *limitView       `json:"limit,omitempty"`

	amount uint64
}

type usageView struct {
	Wallet solana.PublicKey `json:"wallet,omitzero"`
	// Open is the number of counted transactions with an unknown outcome.
	Open           int        `json:"open"`
	Day            string     `json:"day"`
	Today          []usedView `json:"today"`
	Negotiations   []usedView `json:"negotiations"`
	Counterparties []usedView `json:"counterparties"`
}

func policyUsage(ctx context.Context, s *session.Session) error {
	records, err := s.Connection.Usage(ctx)
	if err != nil {
		return err
	}
	totals, err := policy.TotalsOf(records, time.Now())
	if err != nil {
		return err
	}
	var config *policy.Config
	if s.Connection.PolicyPath != "" {
		if config, err = connection.ReadPolicy(s.Connection.PolicyPath); err != nil {
			return err
		}
	}
	var mints []solana.PublicKey
	for _, total := range slices.Concat(totals.Today, totals.Negotiations, totals.Counterparties) {
		mints = append(mints, total.Mint)
	}
	v := viewUsage(totals, config)
	return s.Print(v, v.text(readMints(ctx, s, mints)))
}

func viewUsage(totals policy.Totals, config *policy.Config) usageView {
	v := usageView{
		Wallet: totals.Wallet, Open: totals.Open, Day: totals.Day.Format(time.DateOnly),
		Today: []usedView{}, Negotiations: []usedView{}, Counterparties: []usedView{},
	}
	limit := func(total policy.Total, of func(policy.Limits) uint64) *limitView {
		if config == nil {
			return nil
		}
		limits := config.Lamports
		if !total.Mint.IsZero() {
			limits = config.Tokens[total.Mint].Limits
		}
		shown := limitView(of(limits))
		return &shown
	}
	for _, total := range totals.Today {
		v.Today = append(v.Today, usedView{
			Mint: total.Mint, Used: fmt.Sprint(total.Amount), amount: total.Amount, Limit: limit(total, func(l policy.Limits) uint64 { return l.PerDay }),
		})
	}
	for _, total := range totals.Negotiations {
		v.Negotiations = append(v.Negotiations, usedView{
			Negotiation: total.Account, Mint: total.Mint, Used: fmt.Sprint(total.Amount), amount: total.Amount,
			Limit: limit(total, func(l policy.Limits) uint64 { return l.PerNegotiation }),
		})
	}
	for _, total := range totals.Counterparties {
		v.Counterparties = append(v.Counterparties, usedView{
			Counterparty: total.Account, Mint: total.Mint, Used: fmt.Sprint(total.Amount), amount: total.Amount,
			Limit: limit(total, func(l policy.Limits) uint64 { return l.PerCounterparty }),
		})
	}
	return v
}

func (v usageView) text(amount amounts) string {
	if v.Wallet.IsZero() {
		return "nothing was used"
	}
	open := "no open transactions"
	switch {
	case v.Open == 1:
		open = "1 open transaction"
	case v.Open > 1:
		open = fmt.Sprintf("%d open transactions", v.Open)
	}
	lines := []string{fmt.Sprintf("wallet %s, %s", v.Wallet, open), "on " + v.Day + " (UTC)"}
	lines = append(lines, usedText(v.Today, amount)...)
	lines = append(lines, "on negotiations")
	lines = append(lines, usedText(v.Negotiations, amount)...)
	lines = append(lines, "with counterparties")
	return strings.Join(append(lines, usedText(v.Counterparties, amount)...), "\n")
}

func usedText(used []usedView, amount amounts) (lines []string) {
	if len(used) == 0 {
		return []string{"  nothing"}
	}
	for _, u := range used {
		line := "  " + amount(u.Mint, u.amount)
		if !u.Mint.IsZero() {
			line += " of mint " + u.Mint.String()
		}
		if u.Limit != nil {
			line += " (limit " + u.Limit.text(u.Mint, amount) + ")"
		}
		switch {
		case !u.Negotiation.IsZero():
			line += ": " + u.Negotiation.String()
		case !u.Counterparty.IsZero():
			line += ": " + u.Counterparty.String()
		}
		lines = append(lines, line)
	}
	return lines
}
