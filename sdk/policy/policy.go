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
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// Unlimited is a limit that nothing exceeds.
const Unlimited uint64 = math.MaxUint64

// Limits are the most that may be spent, in base units of a mint or in lamports. An amount equal to the limit is
// allowed. Zero allows nothing at all, so each limit that is not wanted has to be Unlimited. Refunds and returned
// rent do not reduce the amount spent.
type Limits struct {
	// PerTransaction limits one transaction.
	PerTransaction uint64
	// PerNegotiation limits all that is spent on one negotiation, and the price that a buyer offers or accepts.
	PerNegotiation uint64
	// PerCounterparty limits all that is ever spent with one counterparty: the other party of negotiations, or whoever receives a
	// transfer.
	PerCounterparty uint64
	// PerDay limits all that is spent on one UTC day: see Config.Now.
	PerDay uint64
	// ApproveAbove has Config.Approve asked for a transaction that spends more, and for a price that is higher. It means nothing
	// without Approve.
	ApproveAbove uint64
}

// TokenLimits are the limits in a mint.
type TokenLimits struct {
	Limits
	// MaxPrice is the most that may be offered, accepted or revealed as a reservation price by a buyer, in base units. Zero leaves it
	// to PerNegotiation.
	MaxPrice uint64
	// MinPrice is the least that may be offered, accepted or revealed by a seller, in base units, before the protocol's fee.
	MinPrice uint64
}

// AgreementLimits are the shares that the wallet gives up when it settles an accepted negotiation together
// with the other party (settle_by_agreement), in basis points. Zero allows nothing.
type AgreementLimits struct {
	// MaxToSellerBps is the highest share of the undecided price that goes to the seller while the wallet is
	// the buyer.
	MaxToSellerBps uint16
	// MaxToBuyerBps is the highest share of the undecided price that goes to the buyer while the wallet is
	// the seller.
	MaxToBuyerBps uint16
	// MaxBondToBuyerBps is the highest share of the bond that goes to the buyer while the wallet is the
	// seller.
	MaxBondToBuyerBps uint16
}

// Config is the configuration of a policy. Its maps and slices are copied.
type Config struct {
	// Lamports limits fees, priority fees, rent and transfers of lamports. A transaction with one signature costs 5,000 and its
	// priority fee; creating a negotiation takes a rent of 6,493,680, creating a token account 2,039,280 in SPL Token and up to 2,248,080
	// in Token-2022.
	Lamports Limits
	// Tokens are the mints that are allowed, each with its limits: escrows, bonds, transfers and prices. Lamports that are wrapped
	// are limited by that mint's PerTransaction then (solana.WrappedSol, haggle.WrappedSOL2022), and count only when they are spent.
	Tokens map[solana.PublicKey]TokenLimits
	// Programs are those that may be called. Nil is all whose instructions can be decoded; others cannot be allowed.
	Programs []solana.PublicKey
	// Instructions are those that may be used, by their names: see KnownInstructions. Nil is DefaultInstructions. Every transaction of a
	// client's actions has ComputeBudget in it, so that without it none of them is signed.
	Instructions []string
	// Counterparties are those that may be engaged with, or receive a transfer. (For a transfer of tokens that is the token account
	// itself: whose it is cannot be known from the transaction.) Nil is everyone.
	Counterparties []solana.PublicKey
	// Arbiters are those that may decide disputes in a negotiation that the wallet creates. Nil is everyone.
	Arbiters []solana.PublicKey
	// Destinations are token accounts, beside the wallet's associated ones, at which the wallet may be paid
	// where the program pays at any account: by claim_payout, and by settle_by_agreement, which the wallet
	// signs.
	Destinations []solana.PublicKey
	// Agreement limits settle_by_agreement. Nil denies it.
	Agreement *AgreementLimits
	// Screen, if it is given, is asked before the wallet creates a negotiation or joins one: for example the identity package's
	// Gate.Check. Its error is the cause of the denial.
	Screen func(ctx context.Context, counterparty solana.PublicKey) error
	// Negotiations reads what a negotiation is about when that is not on record: Reader makes one. Without it nothing is signed that
	// depends on it: no invitation is accepted, and no price agreed on in a negotiation that was not created through this policy.
	Negotiations Negotiations
	// Tables reads address lookup tables. Without it a transaction that uses one is denied.
	Tables Tables
	// Approve, if it is given, is asked about transactions above a Limits.ApproveAbove. Nil as an answer approves; an error is the
	// cause of the denial. It must return when its context ends; it is not waited for.
	Approve func(ctx context.Context, request *Request) error
	// ApprovalTimeout is how long Approve may take. Zero is two minutes. (A blockhash lives for about one: an approval that comes
	// later approves a transaction that has expired, which is harmless, and has to be asked for again for the next one.)
	ApprovalTimeout time.Duration
	// Stop, if it is given, stops the policy when it is switched on.
	Stop *KillSwitch
	// StopFile, if it is given, is the path of a file that stops the policy as long as it exists, with any type and
	// content; so does an error of the lookup.
	StopFile string
	// Store keeps what has been spent. It is required: a *File, or a *MemoryStore to forget it with the process.
	Store Store
	// Evidence says what has become of a transaction, for Policy.Release: EvidenceOf makes one.
	Evidence Evidence
	// Now is the clock that says which day it is. Nil is the machine's. A clock that is set back does not bring a day back: the latest
	// that has been counted for stays the present one until it is over. One that is set forward begins a new day, so if somebody
	// else can set the machine's, give the chain's clock here.
	Now func() time.Time
	// Logger is told of what is signed, denied and given back. Nil is nobody.
	Logger *slog.Logger
}

// limits are those of a mint; of lamports for zero.
func (c *Config) limits(mint solana.PublicKey) Limits {
	if mint.IsZero() {
		return c.Lamports
	}
	return c.Tokens[mint].Limits
}

const defaultApprovalTimeout = 2 * time.Minute

// Policy is a haggle.Signer that signs what its Config allows, and answers everything else with a *Denial. Its methods may be
// called from several goroutines.
type Policy struct {
	signer       haggle.Signer
	wallet       solana.PublicKey
	config       Config
	programs     []solana.PublicKey
	instructions []string

	// lock is held while limits are checked and usage is counted, in one go.
	lock  sync.Mutex
	usage *usage
}

var _ haggle.Signer = (*Policy)(nil)

// WrongWalletError says that a store keeps the usage of another wallet than the one whose signer a policy is put around.
type WrongWalletError struct{ Store, Signer solana.PublicKey }

func (e *WrongWalletError) Error() string {
	return fmt.Sprintf("it is about wallet %s, and the signer is %s", e.Store, e.Signer)
}

// New puts a policy around a signer, and reads from the store what has been spent. It fails with a *WrongWalletError.
func New(ctx context.Context, signer haggle.Signer, config Config) (*Policy, error) {
	p := &Policy{signer: signer, config: config, programs: knownPrograms(), instructions: DefaultInstructions(), usage: newUsage()}
	if signer == nil || config.Store == nil {
		return nil, errors.New("haggle: policy: a signer and a Store are required")
	}
	p.wallet = signer.PublicKey()
	if config.Programs != nil {
		if err := unknownPrograms(config.Programs); err != nil {
			return nil, err
		}
		p.programs = slices.Clone(config.Programs)
	}
	if config.Instructions != nil {
		if err := unknownNames(config.Instructions); err != nil {
			return nil, err
		}
		p.instructions = slices.Clone(config.Instructions)
	}
	p.config.Tokens = maps.Clone(config.Tokens)
	p.config.Counterparties = slices.Clone(config.Counterparties)
	p.config.Arbiters = slices.Clone(config.Arbiters)
	p.config.Destinations = slices.Clone(config.Destinations)
	if config.Agreement != nil {
		p.config.Agreement = new(*config.Agreement)
	}
	if p.config.Now == nil {
		p.config.Now = time.Now
	}
	if p.config.ApprovalTimeout <= 0 {
		p.config.ApprovalTimeout = defaultApprovalTimeout
	}
	if p.config.Logger == nil {
		p.config.Logger = slog.New(slog.DiscardHandler)
	}
	return p, p.load(ctx)
}

// unknownPrograms refuses programs whose instructions nobody here understands.
func unknownPrograms(programs []solana.PublicKey) error {
	for _, program := range programs {
		if !slices.Contains(knownPrograms(), program) {
			return fmt.Errorf("the instructions of program %s cannot be decoded, so it cannot be allowed", program)
		}
	}
	return nil
}

func (p *Policy) load(ctx context.Context) error {
	for record, err := range p.config.Store.Records(ctx) {
		if err == nil && record.Wallet != p.wallet {
			err = &WrongWalletError{Store: record.Wallet, Signer: p.wallet}
		}
		if err == nil {
			err = p.usage.apply(record)
		}
		if err != nil {
			return fmt.Errorf("haggle: policy: usage: %w", err)
		}
	}
	for _, known := range p.usage.entries {
		known.mayBeSigned = true // the process may have ended in between
	}
	return nil
}

// PublicKey is the wallet's.
func (p *Policy) PublicKey() solana.PublicKey { return p.wallet }

// String is the wallet's address.
func (p *Policy) String() string { return "policy for " + p.wallet.String() }

// SignMessage signs a transaction's message if the policy allows it, and counts what it spends before the signature leaves.
//
// It fails with a *Denial. The same message may be signed again: it is executed once at most, and counts once. If the signer
// fails, what the message would have spent stays counted, because the signature may exist; unless the error has a method
// NotSigned() bool that answers true, as the wallet package's have where that is certain.
func (p *Policy) SignMessage(ctx context.Context, message []byte) (solana.Signature, error) {
	message = bytes.Clone(message) // what is signed is what has been looked at
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
	if err := p.stopped(); err != nil {
		return solana.Signature{}, err
	}
	read, err := p.read(ctx, message)
	if err != nil {
		return solana.Signature{}, err
	}
	digest := Digest(sha256.Sum256(message))
	if err := p.approve(ctx, digest, read); err != nil {
		return solana.Signature{}, err
	}
	if err := p.count(ctx, digest, read); err != nil {
		return solana.Signature{}, err
	}
	if err := p.stopped(); err != nil {
		return solana.Signature{}, err
	}
	signature, err := p.signer.SignMessage(ctx, message)
	if err == nil && !signature.Verify(p.wallet, message) {
		err = fmt.Errorf("haggle: policy: the signer's signature is not %s's of this message", p.wallet)
	}
	if err := p.attempted(ctx, digest, err); err != nil {
		return solana.Signature{}, err
	}
	if err := p.append(ctx, Record{Kind: RecordSigned, Message: digest, Signature: signature}); err != nil {
		return solana.Signature{}, err
	}
	if err := p.stopped(); err != nil {
		return solana.Signature{}, err // it stays here
	}
	return signature, nil
}

// count checks the limits and counts the message in one go, so that two at once cannot both take what is left.
func (p *Policy) count(ctx context.Context, digest Digest, read *reading) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	if !p.usage.counts(digest) {
		day := p.today()
		if err := p.usage.check(&p.config, day, read.spends); err != nil {
			return named(err, read.names)
		}
		if err := p.usage.checkEngagements(read.engagements); err != nil {
			return err
		}
		err := p.appendLocked(ctx, Record{
			Kind: RecordCounted, Message: digest, Day: day,
			Blockhash: read.message.blockhash, Payer: read.message.keys[0] == p.wallet, Durable: read.durable,
			Spends: read.spends, Engagements: read.engagements,
		})
		if err != nil {
			return err
		}
	}
	p.usage.entries[digest].attempts++
	return nil
}

// named adds the name of the instruction to a denial.
func named(err error, names []string) error {
	var denial *Denial
	if errors.As(err, &denial) && denial.Instruction >= 0 {
		denial.Name = names[denial.Instruction]
	}
	return err
}

// today is the day that is counted for: never one before the latest.
func (p *Policy) today() int64 { return max(dayOf(p.config.Now()), p.usage.day) }

// attempted notes how asking the signer has gone, and answers its error. It gives back what the message would have spent if it is
// certain that nobody has a signature of it.
func (p *Policy) attempted(ctx context.Context, digest Digest, failure error) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	known := p.usage.entries[digest]
	known.attempts--
	if failure == nil {
		known.mayBeSigned = true
		return nil
	}
	var certain interface{ NotSigned() bool }
	if !errors.As(failure, &certain) || !certain.NotSigned() {
		known.mayBeSigned = true
	}
	if known.mayBeSigned || known.attempts > 0 || known.released {
		return failure
	}
	return errors.Join(failure, p.appendLocked(ctx, Record{Kind: RecordReleased, Message: digest, Fate: FateNotSigned}))
}

func (p *Policy) append(ctx context.Context, record Record) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.appendLocked(ctx, record)
}

// appendLocked makes a record durable, and only then adds it to the sums.
func (p *Policy) appendLocked(ctx context.Context, record Record) error {
	record.Wallet = p.wallet
	record.Time = p.config.Now().Unix()
	record.Day = max(record.Day, p.usage.day)
	if err := p.config.Store.Append(ctx, record); err != nil {
		return fmt.Errorf("haggle: policy: usage: %w", err)
	}
	return p.usage.apply(record)
}

// engagement is what is on record about a negotiation.
func (p *Policy) engagement(negotiation solana.PublicKey) []Engagement {
	p.lock.Lock()
	defer p.lock.Unlock()
	return slices.Clone(p.usage.engagements[negotiation])
}

// Used is what has been spent in a mint, or in lamports for zero, on the present day.
func (p *Policy) Used(mint solana.PublicKey) uint64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.usage.usedOn(p.today(), mint)
}

// UsedOn is what has been spent on a negotiation in a mint, or in lamports for zero.
func (p *Policy) UsedOn(negotiation, mint solana.PublicKey) uint64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.usage.negotiations[with{mint, negotiation}]
}

// UsedWith is what has been spent with a counterparty in a mint, or in lamports for zero.
func (p *Policy) UsedWith(counterparty, mint solana.PublicKey) uint64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.usage.counterparties[with{mint, counterparty}]
}
