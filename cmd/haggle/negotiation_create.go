package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/amount"
	"github.com/haggle-protocol/haggle/internal/connection"
	"github.com/haggle-protocol/haggle/internal/duration"
	"github.com/haggle-protocol/haggle/internal/failure"
	"github.com/haggle-protocol/haggle/sdk"
)

const createHelp = `Escrows the most that the buyer could pay and invites a seller. The keypair is the buyer's.

The escrow can only go to the seller, once both agree on a price, or back to the buyer. Each
offer costs it a share (the decay), so neither side gains by wearing the other out.

What is left out comes from the protocol's configuration (haggle config show). The ranges:
  --escrow      from 100000u          --rounds      1 to 20 offers of both sides together
  --decay-bps   0 to 1000             --window      60s to 1h to answer
  --deadline    60s to 1d from now    --min-offer-bps  100 to 9000 of the escrow's worth`

const createExample = `  haggle negotiation create --seller ADDRESS --mint ADDRESS --escrow 5 --service "Summarise a paper" \
      --rounds 8 --decay-bps 150 --deadline 30m
  haggle negotiation create ... --json | jq -r .negotiation`

type createFlags struct {
	seller, mint, account connection.Address
	escrow                amount.Text
	service               serviceFlags
	terms                 termsFlags
	deadline, window      duration.Flag
	rounds                uint8
	decayBps, minOfferBps uint16
	sessionID             uint64
}

func newCreateCommand(s *session) *cobra.Command {
	f := &createFlags{deadline: duration.Flag(30 * time.Minute)}
	cmd := &cobra.Command{
		Use: "create", Short: "Escrow and invite a seller (buyer)", Long: createHelp, Example: createExample,
		Args: exactly(0),
	}
	flags := cmd.Flags()
	flags.Var(&f.seller, "seller", "address of the seller who is invited")
	flags.Var(&f.mint, "mint", "mint of the payment")
	flags.Var(&f.escrow, "escrow", "deposit: the most that can be paid")
	f.service.register(cmd, "the service")
	flags.Var(&f.deadline, "deadline", "when the negotiation ends at the latest, from now")
	flags.Var(&f.window, "window", "time to answer (default: the configuration's)")
	flags.Uint8Var(&f.rounds, "rounds", 0, "number of offers that can be made (default: the configuration's)")
	flags.Uint16Var(&f.decayBps, "decay-bps", 0, "what the escrow loses each round, in basis points (default: the configuration's)")
	flags.Uint16Var(&f.minOfferBps, "min-offer-bps", haggle.DefaultMinOfferBps, "least offer, in basis points of the escrow's worth")
	flags.Uint64Var(&f.sessionID, "session", 0, "session id (default: a random one that the pair has not used)")
	flags.Var(&f.account, "token-account", "token account that pays (default: the buyer's associated one)")
	f.terms.register(cmd)
	required(cmd, "seller", "mint", "escrow")
	cmd.RunE = s.limited(func(ctx context.Context, _ []string) error { return f.run(ctx, s, cmd) })
	return cmd
}

func (f *createFlags) run(ctx context.Context, s *session, cmd *cobra.Command) error {
	service, given, err := f.service.value()
	if err != nil {
		return err
	}
	if !given {
		return failure.Usagef("--service or --service-hash is missing: the seller checks what it is paid for")
	}
	client, key, err := s.clientAndKey()
	if err != nil {
		return err
	}
	escrow, err := s.units(ctx, f.mint.Key(), "--escrow", f.escrow)
	if err != nil {
		return err
	}
	metadata, err := f.terms.metadata(ctx, s, f.mint.Key())
	if err != nil {
		return err
	}
	request := haggle.CreateRequest{
		Buyer: key.PublicKey(), Seller: f.seller.Key(), Mint: f.mint.Key(), EscrowAmount: escrow, ServiceHash: service,
		MaxRounds: f.rounds, ResponseWindow: time.Duration(f.window), Deadline: time.Duration(f.deadline),
		MinOfferBps: f.minOfferBps, Metadata: metadata, BuyerTokenAccount: f.account.Key(),
	}
	if cmd.Flags().Changed("decay-bps") {
		request.DecayRateBps = &f.decayBps
	}
	if cmd.Flags().Changed("session") {
		request.SessionID = &f.sessionID
	}
	return f.create(ctx, s, client, key, request)
}

func (f *createFlags) create(ctx context.Context, s *session, client *haggle.Client, key *haggle.Keypair, request haggle.CreateRequest) error {
	action, err := client.CreateNegotiation(ctx, request)
	if err != nil {
		return err
	}
	receipt, err := s.act(ctx, client, action.Action, key)
	if err != nil {
		return err
	}
	tokens, err := s.tokensOf(ctx, request.Mint)
	if err != nil {
		return err
	}
	v := struct {
		actionView
		SessionID string `json:"session_id"`
		Vault     string `json:"vault"`
	}{actionView{action.Negotiation, action.Name, viewReceipt(receipt)}, fmt.Sprint(action.SessionID), action.Vault.String()}
	return s.print(v,
		fmt.Sprintf("created %s: %s escrowed; the seller is invited", action.Negotiation, tokens(request.EscrowAmount)),
		v.text(),
		fmt.Sprintf("next: haggle negotiation accept %s   (the seller)", action.Negotiation))
}
