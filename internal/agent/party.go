package agent

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/amount"
	"github.com/haggle-protocol/haggle/internal/connection"
	"github.com/haggle-protocol/haggle/internal/failure"
	"github.com/haggle-protocol/haggle/internal/mint"
	"github.com/haggle-protocol/haggle/sdk"
)

// Service is what the example agents bargain about unless they are told otherwise.
const Service = "Find the whales in 10,000 Solana transactions"

// Flags are what both agents have to be told.
type Flags struct {
	Connection  connection.Flags
	Counterpart connection.Address
	Mint        connection.Address
	Service     string
	Opening     amount.Text
	Reservation amount.Text
	JSON        bool
}

// Register adds the flags to a command. The counterpart is "buyer" or "seller"; the prices are the defaults, in tokens.
func (f *Flags) Register(cmd *cobra.Command, counterpart, opening, reservation string) {
	flags := cmd.Flags()
	f.Connection.Register(flags)
	flags.Var(&f.Counterpart, counterpart, "address of the "+counterpart)
	flags.Var(&f.Mint, "mint", "mint of the payment")
	flags.StringVar(&f.Service, "service", Service, "description of the service; both sides have to give the same")
	f.Opening, f.Reservation = mustParse(opening), mustParse(reservation)
	flags.Var(&f.Opening, "opening", "first price")
	flags.Var(&f.Reservation, "reservation", "price beyond which no deal is better than a deal")
	flags.BoolVar(&f.JSON, "json", false, "print JSON, one document per line")
	_ = cmd.MarkFlagRequired(counterpart)
	_ = cmd.MarkFlagRequired("mint")
}

func mustParse(tokens string) amount.Text {
	text, err := amount.Parse(tokens)
	if err != nil {
		panic(err)
	}
	return text
}

// Party is an agent with all that it knows: its key, the other side's address, and what it wants.
type Party struct {
	*Log
	Client      *haggle.Client
	Key         *haggle.Keypair
	Self        solana.PublicKey
	Counterpart solana.PublicKey
	Mint        solana.PublicKey
	ServiceHash [32]byte
	// Metadata are the terms beside price and service; all zeros for none.
	Metadata [haggle.MaxMetadataLen]byte
	// Opening and Reservation are base units of the mint.
	Opening, Reservation uint64

	decimals uint8
}

// Open reads the key, connects, and reads the mint, which the prices depend on.
func (f *Flags) Open(ctx context.Context, log *Log) (*Party, error) {
	key, err := f.Connection.Keypair()
	if err != nil {
		return nil, err
	}
	client, err := f.Connection.Client()
	if err != nil {
		return nil, err
	}
	log.JSON = f.JSON
	p := &Party{
		Log: log, Client: client, Key: key, Self: key.PublicKey(), Counterpart: f.Counterpart.Key(),
		Mint: f.Mint.Key(), ServiceHash: haggle.ServiceHash(f.Service),
	}
	if p.decimals, err = mint.Decimals(ctx, client.RPC(), p.Mint); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	if p.Opening, err = p.Units("--opening", f.Opening); err == nil {
		p.Reservation, err = p.Units("--reservation", f.Reservation)
	}
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return p, nil
}

// Units reads an amount of the mint.
func (p *Party) Units(flag string, text amount.Text) (uint64, error) {
	units, err := text.In(p.decimals)
	if err != nil {
		return 0, failure.Usagef("%s: %w", flag, err)
	}
	return units, nil
}

// Tokens writes base units of the mint.
func (p *Party) Tokens(units uint64) amount.Tokens {
	return amount.Tokens{Units: units, Decimals: p.decimals}
}

// Do does an action that has been built on a state, and tells it. Once begun it is finished, even if the context ends.
func (p *Party) Do(ctx context.Context, name string, n *haggle.NegotiationAccount, price *amount.Tokens, action *haggle.Action, err error) error {
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), actionLimit)
	defer cancel()
	receipt, err := action.Do(ctx, p.Key)
	if err != nil && !errors.Is(err, haggle.ErrDetailsUnavailable) {
		return err
	}
	p.Did(name, n, price, receipt, p.decimals)
	return nil
}

// Take accepts the other side's standing offer.
func (p *Party) Take(ctx context.Context, n *haggle.NegotiationAccount) error {
	price := p.Tokens(n.CurrentOfferAmount)
	action, err := p.Client.Accept(ctx, haggle.AcceptRequest{Acceptor: p.Self, Seen: n, Price: price.Units})
	return p.Do(ctx, "take", n, &price, action, err)
}

// Suits says whether the standing offer means what the price is for: an offer's metadata can promise less than was agreed on, and
// whoever takes it agrees to that. These agents have agreed on none.
func (p *Party) Suits(n *haggle.NegotiationAccount) bool { return n.Metadata == p.Metadata }

// Offer offers a price.
func (p *Party) Offer(ctx context.Context, n *haggle.NegotiationAccount, units uint64) error {
	price := p.Tokens(units)
	action, err := p.Client.Offer(ctx, haggle.OfferRequest{Offerer: p.Self, Seen: n, Amount: units, Metadata: p.Metadata})
	return p.Do(ctx, "offer", n, &price, action, err)
}

// WalkAway rejects the negotiation.
func (p *Party) WalkAway(ctx context.Context, n *haggle.NegotiationAccount) error {
	action, err := p.Client.Reject(ctx, haggle.RejectRequest{Rejector: p.Self, Seen: n})
	return p.Do(ctx, "reject", n, nil, action, err)
}

// Finish says whether an agent is done with a negotiation that is over, after the last thing that it has tried. What has been
// agreed on stands, even where a token account that cannot receive keeps the rest waiting.
func (p *Party) Finish(n *haggle.NegotiationAccount, err error) (done bool, _ error) {
	var token *haggle.TransactionError
	waits := errors.Is(err, haggle.ErrPayoutPending) || errors.As(err, &token) && token.Program == solana.TokenProgramID
	if n.Status != haggle.NegotiationStatusSettled || !waits {
		return err == nil, err
	}
	p.Note("a token account cannot receive its payment; once it can: haggle negotiation claim %s, then close", n.Address)
	return true, nil
}

// Main runs an agent's command until it ends or is interrupted, and exits with a code that a script can use.
func Main(cmd *cobra.Command, log *Log) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.Args = cobra.NoArgs
	run, started := cmd.RunE, false
	cmd.RunE = func(cmd *cobra.Command, arguments []string) error {
		started = true
		return run(cmd, arguments)
	}
	err := cmd.ExecuteContext(ctx)
	if !started {
		err = failure.AsUsage(err, cmd.Name()+" --help")
	}
	os.Exit(failure.Report(os.Stderr, cmd.Name(), err, log.JSON))
}
