package policy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Unlimited is a limit that nothing exceeds.
const Unlimited uint64 = math.MaxUint64

// Limits are the most that may be spent, in base units of a mint or in lamports. An amount equal to the limit
// is allowed. Zero allows nothing at all, so each limit that is not wanted must be Unlimited. Refunds and
// returned rent do not reduce the amount spent.
type Limits struct {
	// PerTransaction limits one transaction.
	PerTransaction uint64 `file:"perTransaction"`
	// PerNegotiation limits the total spent on one negotiation, and the price, with the decay, that a buyer
	// offers or accepts.
	PerNegotiation uint64 `file:"perNegotiation"`
	// PerCounterparty limits the total ever spent with one counterparty: the other party of negotiations, or
	// the receiver of a transfer.
	PerCounterparty uint64 `file:"perCounterparty"`
	// PerDay limits the total spent on one UTC day: see Config.Now.
	PerDay uint64 `file:"perDay"`
	// ApproveAbove is the highest amount, and price with a buyer's decay, that needs no approval by
	// Config.Approve.
	ApproveAbove uint64 `file:"approveAbove"`
}

// TokenLimits are the limits in a mint.
type TokenLimits struct {
	Limits
	// MaxTotal is the most that a deal costs the wallet as a buyer, in base units: the price that it offers,
	// accepts or commits to, and the decay of all offers until then. Zero allows none. PerNegotiation limits
	// the same sum.
	MaxTotal uint64 `file:"maxTotal"`
	// MinPrice is the lowest price that the wallet offers, accepts or commits to as a seller, in base units,
	// before the protocol's fee.
	MinPrice uint64 `file:"minPrice"`
	// BuyerBand and SellerBand are the ranges of the prices that the wallet offers, accepts or commits to as a buyer
	// and as a seller, beside MaxTotal and MinPrice. The zero value is no band.
	BuyerBand  Band `file:"buyerBand"`
	SellerBand Band `file:"sellerBand"`
}

// AgreementLimits are the shares that the wallet gives up when it settles an accepted negotiation together
// with the other party (settle_by_agreement), in basis points. Zero allows nothing.
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

// Config is the configuration of a policy. Its maps and slices are copied. The tags are the keys in the files
// of ReadConfig.
type Config struct {
	// Lamports limits fees, priority fees, rent and transfers of lamports. A transaction with one signature
	// costs 5,000 lamports and its priority fee. The creation of a negotiation takes a rent of 6,493,680
	// lamports, that of a token account 2,039,280 in SPL Token and up to 2,248,080 in Token-2022.
	Lamports Limits `file:"lamports"`
	// Tokens are the allowed mints, each with its limits on escrows, bonds, transfers and prices. For the
	// mints of wrapped SOL (solana.WrappedSol, token.WrappedSOL2022) PerTransaction also limits the lamports
	// that are wrapped; they count only when they are spent.
	Tokens map[solana.PublicKey]TokenLimits `file:"tokens"`
	// Programs are the programs that may be called. Nil allows all programs whose instructions can be
	// decoded.
	Programs []solana.PublicKey `file:"programs"`
	// Decoders decode the instructions of further programs. A program with a decoder is allowed, and so is
	// each instruction that its decoder decodes, within the limits.
	Decoders map[solana.PublicKey]Decoder
	// Instructions are the names of the allowed instructions: see KnownInstructions. Nil is
	// DefaultInstructions. Every transaction of a client's actions contains ComputeBudget, so without that
	// name none of them is signed.
	Instructions []string `file:"instructions"`
	// Counterparties are the accounts that the wallet may engage with, or that may receive a transfer. (For a
	// transfer of tokens that is the token account itself, because the transaction does not name its owner.)
	// Nil allows everyone.
	Counterparties []solana.PublicKey `file:"counterparties"`
	// Arbiters are the accounts that may decide disputes in a negotiation that the wallet creates. Nil allows
	// everyone.
	Arbiters []solana.PublicKey `file:"arbiters"`
	// Terms limit the decay, rounds, response window and fee of the negotiations that the wallet creates or
	// joins. The zero value allows the default terms.
	Terms TermLimits `file:"terms"`
	// Destinations are token accounts, beside the wallet's associated ones, where the program may pay the
	// wallet. If a party signs, the program pays also its account with a delegate, who could take the money.
	Destinations []solana.PublicKey `file:"destinations"`
	// Agreement limits settle_by_agreement. Nil denies it.
	Agreement *AgreementLimits `file:"agreement"`
	// Screen, if set, checks the counterparty before the wallet creates a negotiation or joins one: for
	// example Gate.Check of package identity. Its error is the cause of the denial.
	Screen func(ctx context.Context, counterparty solana.PublicKey) error
	// Negotiations reads a negotiation that is not on record: Reader returns one. If nil, the policy denies
	// transactions that depend on such a negotiation: acceptances of an invitation, and prices in a
	// negotiation that was not created through this policy.
	Negotiations Negotiations
	// Tables reads address lookup tables. If nil, a transaction that uses one is denied.
	Tables Tables
	// Approve, if set, approves transactions above a Limits.ApproveAbove by returning nil. Its error is the
	// cause of the denial. It must return when its context ends.
	Approve func(ctx context.Context, request *Request) error
	// ApprovalTimeout is how long Approve may take. If zero, it is two minutes. An approval holds for 24 hours
	// for further messages with the same effects and no higher fees, so an approval that comes after the
	// blockhash has expired is not lost.
	ApprovalTimeout time.Duration `file:"approvalTimeout"`
	// Stop, if set, stops the policy while it is switched on.
	Stop *KillSwitch
	// StopFile, if set, is the path of a file that stops the policy as long as it exists, with any type and
	// content. An error of the lookup also stops the policy.
	StopFile string `file:"stopFile"`
	// Store stores the usage. It is required: a state database of package store, or a *MemoryStore that loses
	// the usage when the process ends.
	Store Store
	// Evidence determines the outcomes of signed transactions: see EvidenceOf. The policy gives spends back on
	// its proof only, whoever reports an outcome (Policy.ObserveOutcome). If nil, spends stay counted for as
	// long as their limits do.
	Evidence Evidence
	// Now is the clock that determines the day. If nil, it is the machine's. A clock that is set back does
	// not return to an earlier day: the latest counted day stays the present one until it is over. A clock
	// that is set forward begins a new day, so if others can set the machine's clock, give the chain's here.
	Now func() time.Time
	// Logger logs signatures, denials and outcomes. If nil, nothing is logged.
	Logger *slog.Logger
}

// limits returns the limits of a mint; those of lamports for the zero mint.
func (c *Config) limits(mint solana.PublicKey) Limits {
	if mint.IsZero() {
		return c.Lamports
	}
	return c.Tokens[mint].Limits
}

const defaultApprovalTimeout = 2 * time.Minute

// Policy is a haggle.Signer that signs the messages that its Config allows, and returns a *Denial for all
// others. Its methods may be called from several goroutines.
type Policy struct {
	signer haggle.Signer
	wallet solana.PublicKey
	config Config

	// lock protects the following fields. It is held while limits are checked and usage is counted.
	lock  sync.Mutex
	log   Log
	usage *Snapshot
	// appended is the number of records of the log since its compaction, and pruned the time of the last
	// pruning of usage in Unix seconds.
	appended int
	pruned   int64
}

var _ haggle.Signer = (*Policy)(nil)

// New returns a policy around a signer, with the wallet's usage in the store. It returns a *MissingLimitsError
// for a Config without money limits.
func New(ctx context.Context, signer haggle.Signer, config Config) (*Policy, error) {
	if signer == nil {
		return nil, errors.New("haggle: policy: signer not set")
	}
	if config.Store == nil {
		return nil, errors.New("haggle: policy: Config.Store not set")
	}
	if err := errors.Join(config.missing(), config.checkBands(), checkDecoders(config.Decoders), config.unknownPrograms(), unknownNames(config.Instructions)); err != nil {
		return nil, fmt.Errorf("haggle: policy: %w", err)
	}
	p := &Policy{signer: signer, wallet: signer.PublicKey(), config: config.clone()}
	return p, p.load(ctx)
}

// clone returns a copy with the defaults filled in.
func (c *Config) clone() Config {
	copied := *c
	copied.Tokens, copied.Decoders = maps.Clone(c.Tokens), maps.Clone(c.Decoders)
	copied.Counterparties, copied.Arbiters = slices.Clone(c.Counterparties), slices.Clone(c.Arbiters)
	copied.Destinations = slices.Clone(c.Destinations)
	copied.Programs, copied.Instructions = slices.Clone(c.Programs), slices.Clone(c.Instructions)
	if c.Programs == nil {
		copied.Programs = slices.AppendSeq(knownPrograms(), maps.Keys(c.Decoders))
	}
	if c.Instructions == nil {
		copied.Instructions = DefaultInstructions()
	}
	if c.Agreement != nil {
		copied.Agreement = new(*c.Agreement)
	}
	copied.Terms = c.Terms.WithDefaults()
	if copied.Now == nil {
		copied.Now = time.Now
	}
	if copied.ApprovalTimeout <= 0 {
		copied.ApprovalTimeout = defaultApprovalTimeout
	}
	if copied.Logger == nil {
		copied.Logger = slog.New(slog.DiscardHandler)
	}
	return copied
}

// MissingLimitsError reports the money limits that a Config lacks.
type MissingLimitsError struct {
	// Fields are the names of the missing fields, as in a policy file.
	Fields []string
}

func (e *MissingLimitsError) Error() string {
	return "money limits not set: " + strings.Join(e.Fields, ", ")
}

// missing returns a *MissingLimitsError if money limits are not set: those in lamports, the tokens, and of
// each token all limits at once.
func (c *Config) missing() error {
	var fields []string
	if c.Lamports == (Limits{}) {
		fields = append(fields, "lamports")
	}
	if c.Tokens == nil {
		fields = append(fields, "tokens")
	}
	for mint, limits := range c.Tokens {
		if limits == (TokenLimits{}) {
			fields = append(fields, "tokens."+mint.String())
		}
	}
	if fields == nil {
		return nil
	}
	slices.Sort(fields)
	return &MissingLimitsError{Fields: fields}
}

// unknownPrograms returns an error for allowed programs whose instructions nothing decodes.
func (c *Config) unknownPrograms() error {
	for _, program := range c.Programs {
		if c.Decoders[program] == nil && !slices.Contains(knownPrograms(), program) {
			return fmt.Errorf("program %s: no decoder for its instructions", program)
		}
	}
	return nil
}

func (p *Policy) load(ctx context.Context) error {
	if err := p.readAll(ctx); err != nil {
		return err
	}
	for _, known := range p.usage.Messages {
		known.mayBeSigned = true // the process may have ended in between
	}
	p.tidy(ctx)
	return nil
}

// PublicKey returns the wallet's address.
func (p *Policy) PublicKey() solana.PublicKey { return p.wallet }

// String returns a text with the wallet's address.
func (p *Policy) String() string { return "policy for " + p.wallet.String() }

// SignMessage signs a transaction's message if the policy allows it. It counts the spends of the message
// before it returns the signature.
//
// It returns a *Denial for a message that is not allowed. If the signer fails, or does not return within
// two seconds after the context has ended, a signature may exist. Then the message stays counted until
// Config.Evidence proves that the chain did not execute it and never will, from five minutes on: see
// Reconcile. An error with a method NotSigned() bool that returns true, as in package wallet, gives the
// spends back at once.
func (p *Policy) SignMessage(ctx context.Context, message []byte) (solana.Signature, error) {
	message = bytes.Clone(message) // the checked bytes are the signed bytes
	signature, err := p.sign(ctx, message)
	var denial *Denial
	switch digest := Digest(sha256.Sum256(message)); {
	case err == nil:
		p.config.Logger.InfoContext(ctx, "signed", "wallet", p.wallet, "message", digest, "signature", signature)
	case errors.As(err, &denial):
		p.config.Logger.WarnContext(ctx, "denied", "wallet", p.wallet, "message", digest, "rule", string(denial.Rule), "reason", err)
	default:
		p.config.Logger.ErrorContext(ctx, "not signed", "wallet", p.wallet, "message", digest, "reason", err)
	}
	return signature, err
}

func (p *Policy) sign(ctx context.Context, message []byte) (solana.Signature, error) {
	read, err := p.examine(ctx, message)
	if err != nil {
		return solana.Signature{}, err
	}
	if err := p.withOutcomes(ctx, func() error { return p.admit(ctx, read) }); err != nil {
		return solana.Signature{}, err
	}
	signature, err := p.signCounted(ctx, message)
	if signature, err = p.attempted(ctx, read.digest, signature, err); err != nil {
		return solana.Signature{}, err
	}
	if err := p.config.Stopped(); err != nil {
		return solana.Signature{}, err // the signature is not returned
	}
	return signature, nil
}

// admit approves and counts a message.
func (p *Policy) admit(ctx context.Context, read *reading) error {
	if err := p.approve(ctx, read); err != nil {
		return err
	}
	return p.count(ctx, read)
}

// count checks the limits and counts the message under one lock, so that two calls cannot both use the rest
// of a limit.
func (p *Policy) count(ctx context.Context, read *reading) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.tidy(ctx)
	if err := p.appendLocked(ctx, func() (*Record, error) { return p.counted(read) }); err != nil {
		return err
	}
	p.usage.Messages[read.digest].attempts++
	return nil
}

// counted checks the limits and returns the record that counts a message; nil if it is counted already.
func (p *Policy) counted(read *reading) (*Record, error) {
	if p.usage.Messages[read.digest] != nil {
		return nil, nil
	}
	day := p.today()
	spends, engagements := p.withUncounted(read)
	if !p.usage.owes(&p.config, read) {
		if err := p.usage.check(&p.config, day, read.intent, spends, read.fees); err != nil {
			return nil, named(err, read.names)
		}
	}
	if err := p.usage.checkEngagements(engagements); err != nil {
		return nil, err
	}
	return &Record{
		Kind: RecordCounted, Intent: read.intent, Message: read.digest, Day: day,
		Spends: p.usage.excess(read.intent, spends), Fees: read.fees,
		Engagements: engagements, Commitments: read.commitments, Deals: read.deals, Reveals: read.reveals,
		Validity: Validity{
			Blockhash: read.message.RecentBlockhash, Nonce: read.nonce,
			LastBlockHeight: read.signing.LastValidBlockHeight, Slot: read.signing.Slot,
			Payer: read.message.AccountKeys[0] == p.wallet,
		},
	}, nil
}

// withUncounted returns the spends of a message, with the deposits of deals that no counted creation accounts
// for.
func (p *Policy) withUncounted(read *reading) ([]Spend, []Engagement) {
	spends, engagements := slices.Clone(read.spends), slices.Clone(read.engagements)
	for _, deal := range read.deals {
		if extra, ok := p.usage.uncounted(deal); ok {
			spends = append(spends, Spend{
				Mint: extra.Mint, Amount: extra.Escrow, Purpose: PurposeEscrow, Negotiation: extra.Negotiation,
				Counterparty: extra.Seller, Instruction: -1,
			})
			engagements = append(engagements, extra)
		}
	}
	return spends, engagements
}

// named adds the name of the instruction to a denial.
func named(err error, names []string) error {
	var denial *Denial
	if errors.As(err, &denial) && denial.Instruction >= 0 {
		denial.Name = names[denial.Instruction]
	}
	return err
}

// today returns the day that spends count for: never one before the latest.
func (p *Policy) today() int64 { return max(dayOf(p.config.Now()), p.usage.Day) }

// attempted records the signer's result and returns it. If an earlier signature of the message is on
// record, it returns that one, because two signatures of one message make two transactions, of which only
// one is executed. It gives back the spends of the message if it is certain that no signature exists.
func (p *Policy) attempted(
	ctx context.Context, digest Digest, signature solana.Signature, failure error,
) (solana.Signature, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	var certain interface{ NotSigned() bool }
	if known := p.usage.Messages[digest]; known != nil {
		known.attempts--
		if failure == nil || !errors.As(failure, &certain) || !certain.NotSigned() {
			known.mayBeSigned = true
		}
	}
	err := p.appendLocked(ctx, func() (*Record, error) {
		switch known := p.usage.Messages[digest]; {
		case failure == nil && known == nil:
			return nil, errGivenBack
		case failure == nil && !known.Signature.IsZero():
			signature = known.Signature
			return nil, nil
		case failure == nil:
			return &Record{Kind: RecordSigned, Message: digest, Signature: signature}, nil
		case known == nil || known.mayBeSigned || known.attempts > 0:
			return nil, nil
		}
		return &Record{Kind: RecordSettled, Message: digest, Outcome: transaction.NotSent}, nil
	})
	if err == nil {
		return signature, failure
	}
	return signature, errors.Join(failure, err)
}

// errGivenBack reports that another process settled a message during the signature.
var errGivenBack = errors.New("haggle: policy: message is no longer counted")

func (p *Policy) engagement(negotiation solana.PublicKey) []Engagement {
	p.lock.Lock()
	defer p.lock.Unlock()
	return slices.Clone(p.usage.Engagements[negotiation])
}

// Used returns the amount spent on the present day, in base units of a mint, or in lamports for the zero
// mint.
func (p *Policy) Used(mint solana.PublicKey) uint64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.usage.usedOn(p.today(), mint)
}

// UsedOn returns the amount spent on a negotiation, in base units of a mint, or in lamports for the zero
// mint.
func (p *Policy) UsedOn(negotiation, mint solana.PublicKey) uint64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.usage.Negotiations[Scope{mint, negotiation}]
}

// UsedWith returns the amount spent with a counterparty, in base units of a mint, or in lamports for the zero
// mint.
func (p *Policy) UsedWith(counterparty, mint solana.PublicKey) uint64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.usage.Counterparties[Scope{mint, counterparty}]
}
