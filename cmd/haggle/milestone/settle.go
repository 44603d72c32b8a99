package milestone

import (
	"context"
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
)

const settleHelp = `Settles the negotiation by agreement: both parties divide the undecided part of the price and the bond.
Both sign the same transaction. One party prepares it, pays its fee, and prints it signed; the other
party repeats the command with the same shares and --complete, which signs and sends it:

  buyer     haggle milestone settle NEGOTIATION --seller-bps 2500
  seller    haggle milestone settle NEGOTIATION --seller-bps 2500 --complete TRANSACTION

A transaction with other shares or instructions is not signed. With --dry-run, --complete checks the
transaction, and simulates a settlement with its shares. The transaction must be completed within about a
minute or, with --nonce, within --valid-for.`

// agreementFlags holds the agreement terms.
type agreementFlags struct {
	sellerBps, bondToBuyerBps uint16
	validFor                  duration.Flag
	nonce                     connection.Address
	complete                  string
}

func newSettleCommand(s *session.Session) *cobra.Command {
	f := &agreementFlags{validFor: duration.Flag(time.Hour)}
	cmd := &cobra.Command{
		Use: "settle NEGOTIATION", Short: "Settle by agreement (both parties)", Long: settleHelp,
		Example:           "  haggle milestone settle NEGOTIATION --seller-bps 2500 --json | jq -r .transaction",
		ValidArgsFunction: onchain.CompleteNegotiations(s),
	}
	flags := cmd.Flags()
	flags.Uint16Var(&f.sellerBps, "seller-bps", 0, "the seller's share of the undecided price, in basis points, 0 to 10000")
	flags.Uint16Var(&f.bondToBuyerBps, "bond-to-buyer-bps", 0, "the buyer's share of the bond, in basis points, 0 to 10000")
	flags.Var(&f.validFor, "valid-for", "time until the agreement expires")
	flags.Var(&f.nonce, "nonce", "nonce account of the preparing party; the transaction then stays valid for --valid-for")
	flags.StringVar(&f.complete, "complete", "", "sign and send this transaction (base64) of the other party")
	command.Required(cmd, "seller-bps")
	command.Documents(cmd, agreementView{}, onchain.View{}, onchain.DryRunView{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error { return f.run(ctx, s, arguments[0]) })
	return cmd
}

func (f *agreementFlags) run(ctx context.Context, s *session.Session, written string) error {
	for flag, share := range map[string]uint16{"seller-bps": f.sellerBps, "bond-to-buyer-bps": f.bondToBuyerBps} {
		if uint64(share) > protocol.BpsDenominator {
			return exitcode.Usagef("--%s %d: must be 0 to %d", flag, share, protocol.BpsDenominator)
		}
	}
	if f.validFor <= 0 {
		return exitcode.Usagef("--valid-for must be positive")
	}
	t, err := onchain.Open(ctx, s, written)
	if err != nil {
		return err
	}
	n := t.Snapshot
	if _, isParty := n.SideOf(t.Key.PublicKey()); !isParty {
		return exitcode.WithHint(fmt.Errorf("%w: %s is not a party", haggle.ErrNotAsExpected, t.Key.PublicKey()),
			fmt.Sprintf("the parties are %s (buyer) and %s (seller): --keypair", n.Buyer, n.Seller))
	}
	if f.complete != "" {
		err = f.finish(ctx, t)
	} else {
		err = f.prepare(ctx, t)
	}
	return t.Explain(ctx, err)
}

// agreementView is a prepared transaction.
type agreementView struct {
	Negotiation    solana.PublicKey `json:"negotiation"`
	Action         string           `json:"action"`
	SellerBps      uint16           `json:"seller_bps"`
	BondToBuyerBps uint16           `json:"bond_to_buyer_bps"`
	ToSeller       amount.Tokens    `json:"to_seller"`
	Fee            amount.Tokens    `json:"fee"`
	ToBuyer        amount.Tokens    `json:"to_buyer"`
	BondToSeller   amount.Tokens    `json:"bond_to_seller"`
	BondToBuyer    amount.Tokens    `json:"bond_to_buyer"`
	// Transaction is base64, with the preparing party's signature.
	Transaction string `json:"transaction"`
}

// prepare prints a transaction with only one signature, out of two.
func (f *agreementFlags) prepare(ctx context.Context, t onchain.Step) error {
	n := t.Snapshot
	action, err := t.Client.At(n).SettleByAgreement(t.Key.PublicKey(), f.split()).Build(ctx)
	if err != nil {
		return err
	}
	if nonce := f.nonce.Key(); !nonce.IsZero() {
		action = action.With(haggle.WithNonce(nonce))
	}
	if t.Session.DryRun {
		return onchain.DryRun(ctx, t.Session, t.Client, action, t.Key)
	}
	transaction, err := action.Transaction(ctx)
	if err != nil {
		return err
	}
	if err := haggle.SignTransaction(ctx, transaction, t.Key); err != nil {
		return err
	}
	encoded, err := transaction.ToBase64()
	if err != nil {
		return err
	}
	tokens, err := t.Session.TokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	paid := n.AgreementAmounts(f.sellerBps, f.bondToBuyerBps)
	v := agreementView{
		Negotiation: n.Address, Action: action.Name, SellerBps: f.sellerBps, BondToBuyerBps: f.bondToBuyerBps,
		ToSeller: tokens(paid.ToSeller), Fee: tokens(paid.Fee), ToBuyer: tokens(paid.ToBuyer),
		BondToSeller: tokens(paid.BondToSeller), BondToBuyer: tokens(paid.BondToBuyer), Transaction: encoded,
	}
	return t.Session.Print(v, "prepared, not sent: "+agreementText(paid, tokens), encoded,
		"next: haggle milestone settle "+n.Address.String()+" "+f.shares()+" --complete TRANSACTION   (the other party)")
}

func (f *agreementFlags) split() haggle.Split {
	return haggle.Split{SellerBps: f.sellerBps, BondToBuyerBps: f.bondToBuyerBps, ValidFor: time.Duration(f.validFor)}
}

func (f *agreementFlags) shares() string {
	text := fmt.Sprintf("--seller-bps %d", f.sellerBps)
	if f.bondToBuyerBps > 0 {
		text += fmt.Sprintf(" --bond-to-buyer-bps %d", f.bondToBuyerBps)
	}
	return text
}

func agreementText(paid protocol.AgreementAmounts, tokens func(uint64) amount.Tokens) string {
	text := fmt.Sprintf("%s to the seller (after the fee of %s), %s to the buyer", tokens(paid.ToSeller), tokens(paid.Fee), tokens(paid.ToBuyer))
	if paid.BondToBuyer+paid.BondToSeller > 0 {
		text += fmt.Sprintf("; of the bond %s to the seller, %s to the buyer", tokens(paid.BondToSeller), tokens(paid.BondToBuyer))
	}
	return text
}

// finish signs and sends the counterparty's transaction if it contains the same shares.
func (f *agreementFlags) finish(ctx context.Context, t onchain.Step) error {
	n := t.Snapshot
	transaction, err := solana.TransactionFromBase64(strings.TrimSpace(f.complete))
	if err != nil {
		return exitcode.Usagef("--complete: not a transaction in base64: %w", err)
	}
	agreement, err := t.Client.ReviewAgreement(ctx, transaction, t.Key.PublicKey())
	switch {
	case errors.Is(err, haggle.ErrAgreement):
		return exitcode.WithHint(fmt.Errorf("%w: %w", haggle.ErrNotAsExpected, err), "nothing was signed; the other party has to prepare it again")
	case err != nil:
		return err
	case agreement.Terms.Negotiation != n.Address:
		return exitcode.Usagef("--complete: the transaction settles another negotiation, %s", agreement.Terms.Negotiation)
	case agreement.Terms.SellerBps != f.sellerBps || agreement.Terms.BondToBuyerBps != f.bondToBuyerBps:
		return exitcode.WithHint(fmt.Errorf("%w: the transaction gives the seller %d basis points of the undecided price, and the buyer %d of the bond",
			haggle.ErrNotAsExpected, agreement.Terms.SellerBps, agreement.Terms.BondToBuyerBps), "nothing was signed")
	}
	if t.Session.DryRun {
		payer := transaction.Message.AccountKeys[0]
		action := t.Client.Negotiation(n.Address).SettleByAgreement(payer, f.split())
		return onchain.DryRun(ctx, t.Session, t.Client, action, t.Key)
	}
	if err := haggle.SignTransaction(ctx, transaction, t.Key); err != nil {
		return err
	}
	tokens, err := t.Session.TokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	receipt, err := onchain.Submit(ctx, t.Session, t.Client, transaction)
	if err != nil {
		return err
	}
	v := onchain.ViewOf(n.Address, agreement.Terms.InstructionName(), receipt)
	return t.Session.Print(v, "settled by agreement: "+agreementText(agreement.Amounts, tokens), v.Text())
}
