package policy

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// Costs on chain, in lamports. Rent returned when closing accounts is not counted as income.
const (
	// signatureFee is the fee per transaction signature.
	signatureFee = 5_000
	// creationRent is the rent for a negotiation and the vault.
	creationRent = protocol.NegotiationRent + token.AccountRent
	// configRent is the rent of the protocol's configuration.
	configRent = 1_886_160
	// extendedAccountRent is the highest rent for Token-2022 associated token accounts, with every account
	// extension that mints can require.
	extendedAccountRent = 2_248_080
)

const (
	// defaultUnits is the compute limit for each instruction if the transaction sets none, and mostUnits the
	// highest limit per transaction.
	defaultUnits  = 200_000
	mostUnits     = 1_400_000
	microLamports = 1_000_000
)

// Spend is money that leaves the wallet if the transaction is executed.
type Spend struct {
	// Mint is the amount's mint. Lamports use the zero key.
	Mint solana.PublicKey `json:"mint"`
	// Amount is the amount in the mint's base units, or in lamports.
	Amount uint64 `json:"amount"`
	// Purpose is one of the constants below: escrow, bond, transfer, rent, fee or priority fee.
	Purpose string `json:"purpose"`
	// Negotiation and Counterparty identify the spend's negotiation and counterparty, if any.
	Negotiation  solana.PublicKey `json:"negotiation,omitzero"`
	Counterparty solana.PublicKey `json:"counterparty,omitzero"`
	// Instruction is the index of the instruction that spends it, from 0; -1 for fees.
	Instruction int `json:"instruction"`
}

// Spend purposes.
const (
	PurposeEscrow      = "escrow"
	PurposeBond        = "bond"
	PurposeTransfer    = "transfer"
	PurposeRent        = "rent"
	PurposeFee         = "fee"
	PurposePriorityFee = "priority fee"
)

// Price is a price that the wallet agrees to if the transaction is executed and, for offers, if the
// counterparty accepts. It is paid from an escrow counted at deposit.
type Price struct {
	// Mint is the mint of the price.
	Mint solana.PublicKey
	// Amount is the price in the mint's base units.
	Amount uint64
	// Decay is the escrow's loss by all offers until the deal, in the mint's base units. A buyer pays it
	// besides the price. For sellers it is 0.
	Decay uint64
	// Side is the side of the wallet.
	Side protocol.OfferSide
	// Negotiation and Counterparty identify the price's negotiation and counterparty.
	Negotiation, Counterparty solana.PublicKey
	// Instruction is the index of the instruction that agrees to it, from 0.
	Instruction int
}

// Total returns the price and the decay; the highest number if the sum does not fit a number.
func (p Price) Total() uint64 { return sum(p.Amount, p.Decay) }

// reading is a message's effect on the signing wallet.
type reading struct {
	policy *Policy
	ctx    context.Context

	message *solana.Message
	digest  Digest
	signing haggle.Signing
	names   []string
	steps   []step
	// contents lists the instructions' programs, accounts and data.
	contents [][]byte

	// intent covers the instructions that the chain executes at most once, and effects all message effects.
	// spends excludes fees.
	intent       Digest
	effects      Digest
	spends, fees []Spend
	prices       []Price
	engagements  []Engagement
	commitments  []Commitment
	deals        []Deal
	// reveals lists the allowed commitments with prices revealed by the message.
	reveals []Digest
	// revealed is the latest reveal of the wallet in the message, and midpoints the number of prices that
	// isMidpoint.
	revealed  *protocol.RevealZopaPrice
	midpoints int
	// wrapped is the number of lamports that become tokens of the wallet's own, for each mint of wrapped SOL.
	wrapped map[solana.PublicKey]uint64
	// nonce is the message's durable nonce account, if any.
	nonce solana.PublicKey

	// at is the current instruction's index.
	at int
	// ownWrapped maps the wallet's wrapped SOL accounts, known to exist at this point, to their mints.
	ownWrapped map[solana.PublicKey]solana.PublicKey
}

// deny returns a denial because of the instruction that is being read.
func (r *reading) deny(rule Rule, subject solana.PublicKey, cause error) *Denial {
	return &Denial{Rule: rule, Instruction: r.at, Name: r.names[r.at], Subject: subject, Cause: cause}
}

// read determines a message's effect. It denies messages that the policy never allows, whatever usage is
// recorded.
func (p *Policy) read(ctx context.Context, data []byte) (*reading, error) {
	parsed, err := parseMessage(data)
	if err != nil {
		return nil, general(RuleMessage, err)
	}
	if !parsed.IsSigner(p.wallet) {
		return nil, general(RuleMessage, fmt.Errorf("%s is not a signer of it", p.wallet))
	}
	metas, err := accountsOf(ctx, parsed, p.config.Tables)
	if err != nil && parsed.NumLookups() > 0 {
		return nil, general(RuleLookupTable, err)
	}
	if err != nil {
		return nil, general(RuleMessage, err)
	}
	r := &reading{
		policy: p, ctx: ctx, message: parsed, digest: sha256.Sum256(data),
		wrapped: map[solana.PublicKey]uint64{}, ownWrapped: map[solana.PublicKey]solana.PublicKey{},
	}
	for i, instruction := range parsed.Instructions {
		if err := r.decode(i, instruction, metas); err != nil {
			return nil, err
		}
	}
	for i, decoded := range r.steps {
		r.at = i
		if err := r.interpret(decoded); err != nil {
			return nil, err
		}
	}
	if err := r.addFees(); err != nil {
		return nil, err
	}
	r.intent = r.intentDigest()
	if r.effects, err = r.effectsDigest(); err != nil {
		return nil, general(RuleMessage, err)
	}
	return r, nil
}

func (r *reading) decode(index int, instruction solana.CompiledInstruction, metas []*solana.AccountMeta) error {
	program := metas[instruction.ProgramIDIndex].PublicKey
	accounts := make([]*solana.AccountMeta, len(instruction.Accounts))
	for i, place := range instruction.Accounts {
		accounts[i] = metas[place]
	}
	if !slices.Contains(r.policy.config.Programs, program) {
		return &Denial{Rule: RuleProgram, Instruction: index, Subject: program}
	}
	name, decoded, err := r.policy.decode(program, accounts, instruction.Data)
	if err != nil {
		return &Denial{Rule: RuleUndecodable, Instruction: index, Name: name, Subject: program, Cause: err}
	}
	content := slices.Clone(program[:])
	for _, account := range accounts {
		content = append(content, account.PublicKey[:]...)
	}
	r.contents = append(r.contents, append(content, instruction.Data...))
	r.names, r.steps = append(r.names, name), append(r.steps, decoded)
	return nil
}

// allow denies instructions that are not allowed under the name at the same index.
func (r *reading) allow() error {
	if _, ok := r.steps[r.at].(Decoded); ok || slices.Contains(r.policy.config.Instructions, r.names[r.at]) || r.isOwed(r.steps[r.at]) {
		return nil
	}
	return r.deny(RuleInstruction, solana.PublicKey{}, nil)
}

func (r *reading) interpret(decoded step) error {
	if transfer, ok := decoded.(lamportTransfer); ok && transfer.from == r.policy.wallet {
		if _, wraps := r.ownWrapped[transfer.to]; wraps {
			r.names[r.at] = WrapSOL
		}
	}
	if err := r.allow(); err != nil {
		return err
	}
	switch s := decoded.(type) {
	case protocol.AnyInstruction:
		return r.interpretHaggle(s)
	case computeUnitLimit, computeUnitPrice, computeOther:
		return nil // addFees checks them together
	case lamportTransfer:
		return r.transferLamports(s)
	case accountCreation:
		return r.createNonce(s)
	case nonceStart:
		return nil // createNonce checks it
	case nonceAdvance:
		if r.at == 0 {
			r.nonce = s.nonce
		}
		return nil
	case withdrawal:
		if s.owner == r.policy.wallet && s.to != r.policy.wallet {
			return r.deny(RuleDestination, s.to, nil)
		}
		return nil
	case associatedCreation:
		return r.createAssociated(s)
	case tokenTransfer:
		if s.authority != r.policy.wallet {
			return nil
		}
		return r.spend(Spend{Mint: s.mint, Amount: s.amount, Purpose: PurposeTransfer, Counterparty: s.destination})
	case nativeSync:
		return nil
	case Decoded:
		return r.interpretDecoded(s)
	}
	return r.deny(RuleUndecodable, solana.PublicKey{}, fmt.Errorf("no rule for type %T", decoded))
}

func (r *reading) transferLamports(s lamportTransfer) error {
	if s.from != r.policy.wallet {
		return nil
	}
	if r.names[r.at] != WrapSOL {
		return r.spend(Spend{Amount: s.lamports, Purpose: PurposeTransfer, Counterparty: s.to})
	}
	mint := r.ownWrapped[s.to]
	if err := r.allowMint(mint); err != nil {
		return err
	}
	r.wrapped[mint] = sum(r.wrapped[mint], s.lamports)
	if limit := r.policy.config.Tokens[mint].PerTransaction; exceeds(r.wrapped[mint], 0, limit) {
		denial := r.deny(RulePerTransaction, s.to, nil)
		denial.Mint, denial.Limit, denial.Requested = mint, limit, r.wrapped[mint]
		return denial
	}
	return nil
}

// createNonce allows durable nonce accounts only if the wallet becomes the authority in the same transaction.
func (r *reading) createNonce(s accountCreation) error {
	if s.from != r.policy.wallet {
		return nil
	}
	own := slices.ContainsFunc(r.steps[r.at+1:], func(later step) bool {
		start, ok := later.(nonceStart)
		return ok && start.nonce == s.account && start.authority == r.policy.wallet
	})
	if !own {
		return r.deny(RuleDestination, s.account, errors.New("nonce account: the wallet must become its authority in the same transaction"))
	}
	return r.spend(Spend{Amount: s.lamports, Purpose: PurposeRent})
}

func (r *reading) createAssociated(s associatedCreation) error {
	if program, ok := token.WrappedSOLProgram(s.mint); ok && s.wallet == r.policy.wallet && s.tokenProgram == program {
		r.ownWrapped[s.account] = s.mint
	}
	if s.payer != r.policy.wallet {
		return nil
	}
	if err := r.allowMint(s.mint); err != nil {
		return err
	}
	cost := Spend{Amount: token.AccountRent, Purpose: PurposeRent}
	if s.tokenProgram == solana.Token2022ProgramID {
		cost.Amount = extendedAccountRent
	}
	// An account's owner can close it and keep the rent, so the rent is a payment to the owner. The treasury
	// account's rent is a cost when closing negotiations.
	if s.wallet != r.policy.wallet && !r.isTreasurys(s.account) {
		cost.Counterparty = s.wallet
	}
	return r.spend(cost)
}

// isTreasurys reports whether the message pays the treasury's account.
func (r *reading) isTreasurys(account solana.PublicKey) bool {
	return slices.ContainsFunc(r.steps, func(other step) bool {
		instruction, ok := other.(protocol.AnyInstruction)
		return ok && slices.ContainsFunc(instruction.Effects().Payments, func(p protocol.Payment) bool {
			return p.To == protocol.RoleTreasury && p.Destination == account
		})
	})
}

func (r *reading) allowMint(mint solana.PublicKey) error {
	if _, ok := r.policy.config.Tokens[mint]; !ok {
		return r.deny(RuleMint, mint, nil)
	}
	return nil
}

// spend counts money that the instruction being read takes from the wallet.
func (r *reading) spend(spend Spend) error {
	spend.Instruction = r.at
	if !spend.Mint.IsZero() {
		if err := r.allowMint(spend.Mint); err != nil {
			return err
		}
	}
	if !spend.Counterparty.IsZero() {
		if err := r.allowCounterparty(spend.Counterparty); err != nil {
			return err
		}
	}
	r.spends = append(r.spends, spend)
	return nil
}

func (r *reading) allowCounterparty(counterparty solana.PublicKey) error {
	config := &r.policy.config
	if config.Counterparties != nil && !slices.Contains(config.Counterparties, counterparty) {
		return r.deny(RuleCounterparty, counterparty, nil)
	}
	return nil
}

// screen denies a counterparty that the configuration does not allow or Screen refuses.
func (r *reading) screen(counterparty solana.PublicKey) error {
	if err := r.allowCounterparty(counterparty); err != nil {
		return err
	}
	if r.policy.config.Screen == nil {
		return nil
	}
	if err := r.policy.config.Screen(r.ctx, counterparty); err != nil {
		return r.deny(RuleCounterparty, counterparty, err)
	}
	return nil
}

// addFees counts the fees paid by the message's first account.
func (r *reading) addFees() error {
	units := min(uint64(len(r.steps))*defaultUnits, mostUnits)
	var price uint64
	seen := map[string]bool{}
	for i, decoded := range r.steps {
		kind := fmt.Sprintf("%T", decoded)
		switch s := decoded.(type) {
		case computeUnitLimit:
			units = min(uint64(s.units), mostUnits)
		case computeUnitPrice:
			price = s.microLamports
		case computeOther:
			kind += fmt.Sprint(s.tag)
		default:
			continue
		}
		if seen[kind] {
			return &Denial{Rule: RuleUndecodable, Instruction: i, Name: r.names[i], Cause: errors.New("duplicate instruction: the chain rejects the transaction")}
		}
		seen[kind] = true
	}
	if r.message.AccountKeys[0] != r.policy.wallet {
		return nil
	}
	r.fees = append(r.fees, Spend{Amount: signatureFee * uint64(r.message.Header.NumRequiredSignatures), Purpose: PurposeFee, Instruction: -1})
	if fee := priorityFee(units, price); fee > 0 {
		r.fees = append(r.fees, Spend{Amount: fee, Purpose: PurposePriorityFee, Instruction: -1})
	}
	return nil
}

// priorityFee returns the fee in lamports, rounded up; math.MaxUint64 if the fee does not fit a number.
func priorityFee(units, price uint64) uint64 {
	high, low := bits.Mul64(units, price)
	low, carry := bits.Add64(low, microLamports-1, 0)
	if high += carry; high >= microLamports {
		return math.MaxUint64
	}
	fee, _ := bits.Div64(high, low, microLamports)
	return fee
}

// sum returns a + b; math.MaxUint64 if the sum does not fit a number.
func sum(a, b uint64) uint64 {
	total, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return total
}

// exceeds reports whether used plus requested is above the limit, or overflows.
func exceeds(requested, used, limit uint64) bool {
	total, carry := bits.Add64(used, requested, 0)
	return carry != 0 || total > limit
}
