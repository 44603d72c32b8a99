package policy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Config configures a policy. Maps and slices are copied. The struct tags name the keys in ReadConfig files.
type Config struct {
	// Lamports limits fees, priority fees, rent and transfers of lamports. A transaction with one signature
	// costs 5,000 lamports plus the priority fee. The rent is 6,493,680 lamports for creating a negotiation,
	// and for creating token accounts 2,039,280 in SPL Token and up to 2,248,080 in Token-2022.
	Lamports Limits `file:"lamports"`
	// Tokens lists the allowed mints with their limits on escrows, bonds, transfers and prices. For the mints
	// of wrapped SOL (solana.WrappedSol, token.WrappedSOL2022) PerTransaction also limits the lamports that
	// are wrapped; they count only when they are spent.
	Tokens map[solana.PublicKey]TokenLimits `file:"tokens"`
	// Programs lists the programs that may be called. Nil allows all programs whose instructions can be
	// decoded.
	Programs []solana.PublicKey `file:"programs"`
	// Decoders decode the instructions of further programs. A program with a decoder is allowed, and so is
	// every decoded instruction, within the limits.
	Decoders map[solana.PublicKey]Decoder
	// Instructions lists the allowed instruction names: see KnownInstructions. If nil, DefaultInstructions is
	// used. All client actions contain ComputeBudget, so they are signed only if it is listed.
	Instructions []string `file:"instructions"`
	// Counterparties lists the accounts that the wallet may engage with or transfer to. (For token transfers,
	// list the receiving token account: the transaction does not name the owner.) Nil allows everyone.
	Counterparties []solana.PublicKey `file:"counterparties"`
	// Arbiters lists the accounts that may decide disputes when the wallet creates a negotiation. Nil allows
	// everyone.
	Arbiters []solana.PublicKey `file:"arbiters"`
	// Terms limit the decay, rounds, response window and fee of the negotiations that the wallet creates or
	// joins. The zero value allows the default terms.
	Terms TermLimits `file:"terms"`
	// Destinations are token accounts, beside the wallet's associated ones, where the program may pay the
	// wallet. If a party signs, the program also pays the party's delegated account, and the delegate could
	// take the money.
	Destinations []solana.PublicKey `file:"destinations"`
	// Agreement limits settle_by_agreement. Nil denies it.
	Agreement *AgreementLimits `file:"agreement"`
	// Screen, if set, checks the counterparty before the wallet creates a negotiation or joins one: for
	// example Gate.Check of package identity. The returned error becomes the denial's cause.
	Screen func(ctx context.Context, counterparty solana.PublicKey) error
	// Negotiations reads unrecorded negotiations: see Reader. If nil, the policy denies transactions that
	// depend on an unrecorded negotiation: accepting invitations, and prices in negotiations not created
	// through this policy.
	Negotiations Negotiations
	// Tables reads address lookup tables. If nil, transactions that use tables are denied.
	Tables Tables
	// Approve, if set, approves transactions above a Limits.ApproveAbove by returning nil. The returned error
	// becomes the denial's cause. It must return when the context ends.
	Approve func(ctx context.Context, request *Request) error
	// ApprovalTimeout is how long Approve may take. If zero, two minutes is used. An approval is valid for 24
	// hours for messages with the same effects and equal or lower fees, so approvals received after the
	// blockhash expired are not lost.
	ApprovalTimeout time.Duration `file:"approvalTimeout"`
	// Stop, if set, stops the policy while it is switched on.
	Stop *KillSwitch
	// StopFile, if set, is a file path that stops the policy as long as it exists, with any type and content.
	// An error of the lookup also stops the policy.
	StopFile string `file:"stopFile"`
	// Store stores the usage. It is required: a package store database, or a *MemoryStore that loses the
	// usage when the process ends.
	Store Store
	// Evidence determines the outcomes of signed transactions: see EvidenceOf. The policy gives spends back
	// only if Evidence proves the outcome, whoever reports it (Policy.ObserveOutcome). If nil, spends stay
	// counted for as long as their limits do.
	Evidence Evidence
	// Now determines the day. If nil, the machine's clock is used. A clock that is set back does not return
	// to an earlier day: the latest counted day stays the present day while it lasts. A clock that is set
	// forward begins a new day, so if others can set the machine's clock, give the chain's here.
	Now func() time.Time
	// Logger logs signatures, denials and outcomes. If nil, nothing is logged.
	Logger *slog.Logger
}

const defaultApprovalTimeout = 2 * time.Minute

// Policy is a haggle.Signer that signs the messages allowed by Config, and returns a *Denial for all others.
// It is safe for concurrent use.
type Policy struct {
	signer haggle.Signer
	wallet solana.PublicKey
	config Config

	// lock protects the following fields. It is held while limits are checked and usage is counted.
	lock  sync.Mutex
	log   Log
	usage *Snapshot
	// appended is the record count since the last compaction, and pruned the time of the last pruning of
	// usage in Unix seconds.
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

// MissingLimitsError reports missing money limits in a Config.
type MissingLimitsError struct {
	// Fields lists the missing fields, named as in a policy file.
	Fields []string
}

func (e *MissingLimitsError) Error() string {
	return "money limits not set: " + strings.Join(e.Fields, ", ")
}

// missing returns a *MissingLimitsError if money limits are not set: lamport limits, the tokens, and all
// limits per token at once.
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

// unknownPrograms returns an error for allowed programs that neither the policy nor a decoder decodes.
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

// String returns a description including the wallet's address.
func (p *Policy) String() string { return "policy for " + p.wallet.String() }

// SignMessage signs a transaction's message if the policy allows it. The message's spends are counted before
// the signature is returned.
//
// It returns a *Denial for forbidden messages. If the signer fails, or does not return within two seconds
// after the context has ended, the message may still have been signed. Then it stays counted until
// Config.Evidence proves that the chain did not execute it and never will, which takes at least five minutes:
// see Reconcile. An error with a method NotSigned() bool that returns true, as in package wallet, gives the
// spends back at once.
func (p *Policy) SignMessage(ctx context.Context, message []byte) (solana.Signature, error) {
	message = bytes.Clone(message) // sign exactly the checked bytes
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

// admit approves and counts the message.
func (p *Policy) admit(ctx context.Context, read *reading) error {
	if err := p.approve(ctx, read); err != nil {
		return err
	}
	return p.count(ctx, read)
}

// count checks the limits and counts the message under one lock, so that two calls cannot both use the
// remaining limit.
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

// counted checks the limits and returns the record that counts the message, or nil if it is already counted.
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

// withUncounted returns the message's spends, with the deposits of deals not accounted for by any counted
// creation.
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

// today returns the day that spends count for, never earlier than the latest.
func (p *Policy) today() int64 { return max(dayOf(p.config.Now()), p.usage.Day) }

// attempted records the signer's result and returns it. If the message was signed before, it returns the
// recorded signature: two signatures over the same message make two transactions, but only one can be
// executed. It gives back the message's spends if certainly nothing was signed.
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

// errGivenBack reports a message settled by another process during signing.
var errGivenBack = errors.New("haggle: policy: message is no longer counted")

func (p *Policy) engagement(negotiation solana.PublicKey) []Engagement {
	p.lock.Lock()
	defer p.lock.Unlock()
	return slices.Clone(p.usage.Engagements[negotiation])
}

// Used returns the amount spent on the present day, in the mint's base units, or in lamports for the zero
// mint.
func (p *Policy) Used(mint solana.PublicKey) uint64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.usage.usedOn(p.today(), mint)
}

// UsedOn returns the amount spent on a negotiation, in the mint's base units, or in lamports for the zero
// mint.
func (p *Policy) UsedOn(negotiation, mint solana.PublicKey) uint64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.usage.Negotiations[Scope{mint, negotiation}]
}

// UsedWith returns the amount spent with a counterparty, in the mint's base units, or in lamports for the
// zero mint.
func (p *Policy) UsedWith(counterparty, mint solana.PublicKey) uint64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.usage.Counterparties[Scope{mint, counterparty}]
}
