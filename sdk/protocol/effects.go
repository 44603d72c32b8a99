package protocol

import (
	"slices"

	"github.com/gagliardetto/solana-go"
)

// Effects is what an instruction requires, pays and changes. The program's rows declare it, and
// idl/effects.json contains it for other languages.
type Effects struct {
	// Result is the effect as outputs show it, such as "offer accepted".
	Result string
	// Negotiation is the negotiation's address; zero if the instruction is on the configuration, and for a
	// creation that leaves the address to Instruction.
	Negotiation solana.PublicKey
	// CreatedAt is the argument that the program compares with the negotiation's time of creation, in Unix
	// seconds, so that the instruction is for one deal at the address; nil if there is none.
	CreatedAt *int64
	// Actors are the accounts that sign the instruction.
	Actors []Actor
	// Guards are the parts of the negotiation's state that the instruction depends on.
	Guards []Guard
	// Idempotency is the kind of actions that count as one.
	Idempotency Idempotency
	// Payments are the payments that the instruction can make.
	Payments []Payment
	// Events are the names of the events that the instruction can log. It always logs the first one.
	Events []string
}

// Acts reports whether a wallet is one of the actors.
func (e Effects) Acts(wallet solana.PublicKey) bool {
	return slices.ContainsFunc(e.Actors, func(a Actor) bool { return a.Account == wallet })
}

// IsFor reports whether one of the actors must have one of these roles.
func (e Effects) IsFor(roles ...Role) bool {
	return slices.ContainsFunc(e.Actors, func(a Actor) bool { return slices.Contains(roles, a.Role) })
}

// Actor is an account that signs an instruction.
type Actor struct {
	// Role is the role that the program requires of the account.
	Role Role
	// Account is the signing account.
	Account solana.PublicKey
}

// Role is a part in a negotiation or in the protocol.
type Role uint8

// The roles. RoleParty is buyer or seller, whichever signs. RoleProgram stands for the accounts that the
// program owns or controls: negotiations, their vaults, and the configuration.
const (
	RoleBuyer Role = iota + 1
	RoleSeller
	RoleParty
	RoleArbiter
	RoleAuthority
	RoleTreasury
	RoleAnyone
	RoleProgram
)

// Guard is a part of a negotiation's state that an instruction depends on.
type Guard struct {
	// State is the part.
	State GuardState
	// Milestone is the index of the milestone, from 0, for GuardMilestone.
	Milestone uint8
}

// GuardState is a kind of Guard.
type GuardState uint8

// The parts of a negotiation's state. The program compares most of them with an argument of the instruction.
const (
	// GuardAbsent: there is no negotiation at the address.
	GuardAbsent GuardState = iota + 1
	// GuardCreatedAt: the time of creation, which distinguishes the deals at one address.
	GuardCreatedAt
	// GuardTerms: all terms of an invitation: see [TermsHash].
	GuardTerms
	GuardStatus
	// GuardStage: see [Negotiation.Stage].
	GuardStage
	// GuardZopaStep: see [Negotiation.ZopaStep].
	GuardZopaStep
	// GuardRound: the number of offers.
	GuardRound
	// GuardOffer: the amount of the current offer.
	GuardOffer
	GuardMetadata
	// GuardDecided: the mask of the decided milestones.
	GuardDecided
	// GuardMilestone: the state of one milestone: see [Negotiation.MilestoneState].
	GuardMilestone
	// GuardPayout: the recorded payout of the signing party: see [Negotiation.ClaimableOf].
	GuardPayout
)

// Idempotency is a kind of actions that count as one.
type Idempotency uint8

const (
	// IdempotencyContent: the program executes equal instructions on one deal at most once.
	IdempotencyContent Idempotency = iota + 1
	// IdempotencyAddress: the program executes instructions for one address at most once until the account
	// at the address is closed.
	IdempotencyAddress
	// IdempotencyRandom: the same instruction can be meant more than once.
	IdempotencyRandom
)

// Payment is money that an instruction can move.
type Payment struct {
	// Money is the reason for the payment.
	Money Money
	// From is the payer, and Source the account that loses the amount.
	From   Role
	Source solana.PublicKey
	// To is the recipient, and Destination the account that gets the amount; zero if the instruction leaves
	// the account out, so that it cannot pay there.
	To          Role
	Destination solana.PublicKey
	// Mint and TokenProgram are those of the amount; zero for lamports.
	Mint, TokenProgram solana.PublicKey
}

// Money is the reason for a payment.
type Money uint8

const (
	// MoneyEscrow is the buyer's deposit.
	MoneyEscrow Money = iota + 1
	// MoneyBond is the seller's deposit, or a part of it that is returned or forfeited.
	MoneyBond
	// MoneyPrice is the price or a part of it, less the fee.
	MoneyPrice
	// MoneyRefund is a part of the escrow that the buyer gets back.
	MoneyRefund
	// MoneyPayout is an earlier payment that could not be delivered.
	MoneyPayout
	// MoneyFee is fee, decay and donations.
	MoneyFee
	// MoneyRent is the rent of an account, in lamports.
	MoneyRent
)

// NewInstruction returns the kind of instruction with a name of the IDL, with zero accounts and arguments. It
// returns false if the program does not have the instruction.
func NewInstruction(name string) (AnyInstruction, bool) {
	for _, instruction := range Instructions() {
		if instruction.InstructionName() == name {
			return instruction, true
		}
	}
	return nil, false
}
