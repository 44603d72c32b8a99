package negotiation

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

const createHelp = `Escrows the maximum price and invites a seller. The keypair is the buyer's.

The escrow goes to the seller, up to the price that both agree on, or back to the buyer. Each offer
of either side costs it a share (the decay). So a deal costs the buyer the price and the decay of all
offers before it: the output has examples. With an even number of --rounds, such as the default, the
seller makes the last offer and can demand all that the escrow still covers. Then the command warns.

The defaults are the program's constants, so no node can choose worse terms. The ranges:
  --escrow      from 100000u          --rounds      1 to 20 offers of both sides together
  --decay-bps   0 to 1000             --window      60s to 1h to answer
  --deadline    60s to 1d from now    --min-offer-bps  100 to 9000 of the escrow's worth

With --bond the seller deposits a bond, which it gets back at the end. With --zopa both sides first
compare hidden reservation prices (haggle zopa --help), which requires a bond. With --milestones the
price is paid in tranches (haggle milestone --help), and --arbiter decides disputes.

The negotiation keeps the protocol's fee of its creation. If the fee is above --max-fee-bps, nothing is
created. The default is the fee that the command has read (haggle config show), at most 50.

The key (--key) names the purchase, and the negotiation's session id and address follow from it. A
repeated command with that key creates nothing: if the state database (--state) contains the creation,
it prints the negotiation again, with "done_already" in JSON. Use a new key for each order. Without --key
each command is a new purchase with a random key. It prints the key before it sends anything; to repeat
the command safely, add that key.

With --wrap-sol the escrow is SOL, which the same transaction wraps. --trust and --allowlist check the
seller before anything is escrowed (haggle negotiation --help).`

const createExample = `  haggle negotiation create --seller ADDRESS --mint ADDRESS --escrow 5 --service "Summarise a paper" \
      --rounds 8 --decay-bps 150 --deadline 30m
  haggle negotiation create ... --zopa --bond 0.5
  haggle negotiation create ... --milestones 3000,7000 --arbiter ADDRESS --delivery 14d
  haggle negotiation create --seller ADDRESS --wrap-sol --escrow 0.25 --service "Summarise a paper"
  haggle negotiation create ... --key order-1234    # a repetition creates nothing
  haggle negotiation create ... --json | jq -r .negotiation`

type createFlags struct {
	seller, mint, account connection.Address
	escrow                amount.Text
	service               serviceFlags
	terms                 termsFlags
	deadline, window      duration.Flag
	rounds                uint8
	decayBps, minOfferBps uint16
	key                   string
	bond                  amount.Text
	maxFeeBps             uint16
	proposeBond           bool
	zopa                  bool
	milestones            milestoneFlags
	wrapSOL               bool
	trust                 connection.TrustFlags
}

func newCreateCommand(s *session.Session) *cobra.Command {
	f := &createFlags{
		deadline: duration.Flag(30 * time.Minute),
		window:   duration.Flag(time.Duration(protocol.DefaultResponseWindow) * time.Second),
	}
	cmd := &cobra.Command{
		Use: "create", Short: "Escrow and invite a seller (buyer)", Long: createHelp, Example: createExample,
	}
	flags := cmd.Flags()
	flags.Var(&f.seller, "seller", "address of the invited seller")
	flags.Var(&f.mint, "mint", "mint of the payment (default with --wrap-sol: SPL Token's wrapped SOL)")
	flags.Var(&f.escrow, "escrow", "deposit: the maximum price")
	f.service.register(cmd, "the service")
	flags.Var(&f.deadline, "deadline", "time from now until the negotiation ends")
	flags.Var(&f.window, "window", "response window")
	flags.Uint8Var(&f.rounds, "rounds", protocol.DefaultMaxRounds, "number of offers that can be made")
	flags.Uint16Var(&f.decayBps, "decay-bps", protocol.DefaultDecayRateBps, "share that the escrow loses each round, in basis points")
	flags.Uint16Var(&f.minOfferBps, "min-offer-bps", protocol.DefaultMinOfferBps, "least offer, in basis points of the escrow's worth")
	flags.StringVar(&f.key, "key", "",
		"name of the purchase, for example an order's number: the same key creates one negotiation (default: a random one)")
	flags.Var(&f.account, "token-account", "token account that pays (default: the buyer's associated one)")
	flags.Var(&f.bond, "bond", "bond that the seller deposits (default: none)")
	flags.BoolVar(&f.proposeBond, "propose-bond", false, "require the bond that pays the seller's delay whenever there is no deal")
	cmd.MarkFlagsMutuallyExclusive("bond", "propose-bond")
	flags.Uint16Var(&f.maxFeeBps, "max-fee-bps", 0, "highest protocol fee, in basis points of the price (default: the fee that was read, at most 50)")
	flags.BoolVar(&f.zopa, "zopa", false, "first compare hidden reservation prices; requires --bond")
	f.milestones.register(cmd)
	f.terms.register(cmd)
	flags.BoolVar(&f.wrapSOL, "wrap-sol", false, "pay the escrow from the buyer's lamports, wrapped in the same transaction")
	f.trust.Register(flags)
	command.Documents(cmd, createdView{}, onchain.DryRunView{})
	cmd.RunE = s.Limited(func(ctx context.Context, _ []string) error { return f.run(ctx, s, cmd) })
	return cmd
}

func (f *createFlags) run(ctx context.Context, s *session.Session, cmd *cobra.Command) error {
	if f.key == "" && cmd.Flags().Changed("key") {
		return exitcode.Usagef("--key: must not be empty")
	}
	service, given, err := f.service.value()
	if err != nil {
		return err
	}
	if err := f.complete(given); err != nil {
		return err
	}
	if err := f.checkRanges(cmd); err != nil {
		return err
	}
	if err := f.wrap(); err != nil {
		return err
	}
	if err := engage(ctx, &f.trust, f.seller.Key()); err != nil {
		return err
	}
	client, key, err := s.ClientAndKey(ctx)
	if err != nil {
		return err
	}
	if key.PublicKey() == f.seller.Key() {
		return exitcode.Usagef("--seller: must differ from the keypair's own address, %s", f.seller.Key())
	}
	escrow, err := s.Units(ctx, f.mint.Key(), "--escrow", f.escrow)
	if err != nil {
		return err
	}
	if escrow < protocol.MinEscrowLamports {
		return f.escrowTooLow(ctx, s)
	}
	bond := uint64(0)
	if f.proposeBond {
		bond = protocol.ProposedBond(escrow, f.rounds, f.decayBps)
	}
	if !f.bond.IsZero() {
		if bond, err = s.Units(ctx, f.mint.Key(), "--bond", f.bond); err != nil {
			return err
		}
	}
	if f.zopa && bond == 0 {
		return exitcode.Usagef("--bond: must not be zero with --zopa")
	}
	milestones, err := f.milestones.value()
	if err != nil {
		return err
	}
	metadata, err := f.terms.metadata(ctx, s, f.mint.Key())
	if err != nil {
		return err
	}
	deposited, err := s.PinnedMint(ctx, f.mint.Key())
	if err != nil {
		return err
	}
	request := haggle.CreateRequest{
		Buyer: key.PublicKey(), Seller: f.seller.Key(), Mint: f.mint.Key(), Decimals: deposited.Decimals,
		EscrowAmount: escrow, ServiceHash: service, MaxRounds: f.rounds, DecayRateBps: &f.decayBps,
		ResponseWindow: time.Duration(f.window), Deadline: time.Duration(f.deadline),
		MinOfferBps: f.minOfferBps, Metadata: metadata, Deposit: haggle.Deposit{TokenAccount: f.account.Key(), WrapSOL: f.wrapSOL},
		Bond: bond, Zopa: f.zopa, Milestones: milestones, Key: cmp.Or(f.key, rand.Text()),
	}
	if cmd.Flags().Changed("max-fee-bps") {
		request.MaxFeeBps = &f.maxFeeBps
	}
	return f.create(ctx, s, client, key, request)
}

// complete returns an error naming every missing required flag.
func (f *createFlags) complete(withService bool) error {
	var missing []string
	for _, required := range []struct {
		given bool
		flag  string
	}{
		{!f.seller.Key().IsZero(), "--seller"},
		{!f.mint.Key().IsZero() || f.wrapSOL, "--mint (or --wrap-sol)"},
		{!f.escrow.IsZero(), "--escrow"},
		{withService, "--service (or --service-hash), which the seller checks"},
		{!f.zopa || !f.bond.IsZero() || f.proposeBond, "--bond, which --zopa requires: without a bond the seller could read the buyer's " +
			"price and reject"},
	} {
		if !required.given {
			missing = append(missing, required.flag)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &exitcode.Error{Kind: exitcode.Usage, Err: errors.New("missing: " + strings.Join(missing, "; ")),
		Hint: "haggle negotiation create --help"}
}

// wrap sets the mint of --wrap-sol.
func (f *createFlags) wrap() error {
	if !f.wrapSOL {
		return nil
	}
	if f.mint.Key().IsZero() {
		f.mint = connection.Address(solana.WrappedSol)
	}
	if _, wraps := token.WrappedSOLProgram(f.mint.Key()); !wraps {
		return exitcode.Usagef("--wrap-sol: mint %s is not wrapped SOL: use %s or, in Token-2022, %s", f.mint.Key(), solana.WrappedSol, token.WrappedSOL2022)
	}
	return nil
}

// engage refuses a counterparty that --trust or --allowlist does not allow.
func engage(ctx context.Context, trust *connection.TrustFlags, counterparty solana.PublicKey) error {
	gate, err := trust.Gate()
	if err != nil || gate == nil {
		return err
	}
	return gate.Check(ctx, counterparty)
}

// checkRanges refuses flags that the program would reject.
func (f *createFlags) checkRanges(cmd *cobra.Command) error {
	for _, given := range []struct {
		flag               string
		value, least, most int64
		text               func(int64) string
	}{
		{"rounds", int64(f.rounds), int64(protocol.MinRounds), int64(protocol.MaxRounds), number},
		{"decay-bps", int64(f.decayBps), 0, int64(protocol.MaxDecayRateBps), number},
		{"min-offer-bps", int64(f.minOfferBps), int64(protocol.MinOfferBpsFloor), int64(protocol.MinOfferBpsCeiling), number},
		{"max-fee-bps", int64(f.maxFeeBps), 0, int64(protocol.MaxProtocolFeeBps), number},
		{"window", f.window.Seconds(), protocol.MinResponseWindow, protocol.MaxResponseWindow, length},
		{"deadline", f.deadline.Seconds(), protocol.MinDeadlineSeconds, protocol.MaxDeadlineSeconds, length},
	} {
		if cmd.Flags().Changed(given.flag) && (given.value < given.least || given.value > given.most) {
			return exitcode.Usagef("--%s %s: must be %s to %s", given.flag, given.text(given.value), given.text(given.least), given.text(given.most))
		}
	}
	return nil
}

func number(value int64) string { return fmt.Sprint(value) }

func length(seconds int64) string { return duration.Format(time.Duration(seconds) * time.Second) }

func (f *createFlags) create(
	ctx context.Context, s *session.Session, client *haggle.Client, key haggle.Signer,
	request haggle.CreateRequest,
) error {
	action, err := client.CreateNegotiation(request).Build(ctx)
	var (
		used *haggle.SessionUsedError
		done *haggle.AlreadyDone
	)
	switch {
	case errors.As(err, &used):
		return exitcode.WithHint(
			fmt.Errorf("--key %q: used before by a creation that the journal does not have: %w",
				request.Key, err),
			"its history: haggle negotiation watch "+used.Negotiation.String())
	case errors.As(err, &done) && done.Receipt != nil:
		// The first creation has taken the money that this one would need.
		if err := checkRepetition(ctx, client, &request, done.Negotiation); err != nil {
			return err
		}
		receipt := &onchain.Receipt{Receipt: done.Receipt, Repeated: true}
		return creation{negotiation: done.Negotiation, key: request.Key, receipt: receipt}.print(s)
	case errors.Is(err, protocol.ErrStaleState):
		return exitcode.WithHint(err, "to agree to the fee, set --max-fee-bps")
	case err != nil:
		return explainShortage(ctx, s, client, &request, err)
	}
	tokens, err := s.TokensOf(ctx, request.Mint)
	if err != nil {
		return err
	}
	// The document of --json contains the warning.
	warning := onchain.LastOfferWarning(request.MaxRounds, "--rounds")
	if warning != nil && !s.JSON {
		action.Warnings = append(action.Warnings, warning)
	}
	if f.key == "" && !s.DryRun {
		reportKey(s, request.Key)
	}
	receipt, err := onchain.Do(ctx, s, client, action, key)
	var refused *protocol.ProgramError
	if errors.As(err, &refused) && refused.Code == protocol.ErrStaleState && refused.Instruction >= 0 {
		return exitcode.WithHint(err, fmt.Sprintf("the protocol's fee is above %d basis points: "+
			"read it with haggle config show, then set --max-fee-bps", action.Creation.Params.MaxFeeBps))
	}
	if err != nil {
		return withKey(err, action.Negotiation, request.Key)
	}
	if receipt.Repeated {
		if err := checkRepetition(ctx, client, &request, action.Negotiation); err != nil {
			return err
		}
	}
	escrowed := fmt.Sprintf("%s escrowed, the seller is invited", tokens(request.EscrowAmount))
	return creation{
		negotiation: action.Negotiation, key: request.Key, receipt: receipt, escrowed: escrowed, warning: warning,
		costs: costsOf(&action.Creation.Params, tokens), noDeal: noDealOf(&action.Creation.Params, tokens),
	}.print(s)
}

// reportKey writes a random key to stderr before anything is sent: a command that is killed prints no result.
func reportKey(s *session.Session, key string) {
	text := fmt.Sprintf("key %s: to repeat this creation safely, add --key %s", key, key)
	if s.JSON {
		s.Report(text) // stderr has documents only
		return
	}
	fmt.Fprintln(s.Stderr, text)
}

// checkRepetition returns an error if an earlier command created the negotiation on other terms.
func checkRepetition(
	ctx context.Context, client *haggle.Client, request *haggle.CreateRequest, negotiation solana.PublicKey,
) error {
	err := client.CheckRepetition(ctx, *request, negotiation)
	if !errors.Is(err, haggle.ErrNotAsExpected) {
		return err
	}
	return &exitcode.Error{Kind: exitcode.Refused,
		Err: fmt.Errorf("negotiation %s was created before, on other terms: nothing was sent", negotiation),
		Hint: "a further negotiation needs another --key; to read this one: haggle negotiation show " +
			negotiation.String()}
}

// createdView is the creation result.
type createdView struct {
	onchain.View
	// Key names the purchase: --key, or a random key. A repeated command with this key creates nothing.
	Key string `json:"key"`
	// SessionID is the session id that follows from the key.
	SessionID string `json:"session_id"`
	// Vault is the escrow's token account.
	Vault string `json:"vault"`
	// Costs are examples of deals with their costs to the buyer. They are missing if an earlier command has
	// created the negotiation.
	Costs []dealCost `json:"costs,omitempty"`
	// NoDeal is the cost if the negotiation ends without agreement in the dearest way. It is missing if the
	// costs are missing.
	NoDeal *noDealCost `json:"no_deal,omitempty"`
	// Warning warns about an even number of offers.
	Warning string `json:"warning,omitempty"`
}

// creation is a negotiation created by this command or by an earlier command.
type creation struct {
	negotiation solana.PublicKey
	key         string
	receipt     *onchain.Receipt
	// escrowed, costs, noDeal and warning describe a creation by this command.
	escrowed string
	costs    []dealCost
	noDeal   *noDealCost
	warning  error
}

func (c creation) print(s *session.Session) error {
	vault, _, err := protocol.FindVaultAddress(c.negotiation)
	if err != nil {
		return err
	}
	v := createdView{
		onchain.ViewOf(c.negotiation, (*protocol.CreateNegotiation)(nil).InstructionName(), c.receipt),
		c.key, fmt.Sprint(haggle.SessionIDFor(c.key)), vault.String(), c.costs, c.noDeal, "",
	}
	if c.warning != nil {
		v.Warning = c.warning.Error()
	}
	created := fmt.Sprintf("created: %s; %s", c.negotiation, c.escrowed)
	if c.receipt.Repeated {
		v.Costs, v.NoDeal = nil, nil // the terms can be others than those of this command
		created = fmt.Sprintf("created already: %s; nothing was sent", c.negotiation)
	}
	lines := []string{created, "key: " + c.key, v.Text()}
	for _, cost := range v.Costs {
		lines = append(lines, cost.String())
	}
	if v.NoDeal != nil {
		lines = append(lines, v.NoDeal.String())
	}
	return s.Print(v, append(lines,
		fmt.Sprintf("next: haggle -C SELLER.yml negotiation accept-invitation %s   (the seller)", c.negotiation))...)
}

// withKey adds the hint that prevents a second escrow when a creation's outcome is unknown.
func withKey(err error, negotiation solana.PublicKey, key string) error {
	if exitcode.KindOf(err) != exitcode.Unknown {
		return err
	}
	return exitcode.WithHint(err, fmt.Sprintf("first read the state: haggle negotiation show %s; "+
		"to repeat the creation safely, add its key, which creates only one negotiation: --key %q", negotiation, key))
}
