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
	// Negotiation is the negotiation's address. It is unset for configuration instructions, and when creation
	// leaves the address to Instruction.
	Negotiation solana.PublicKey
	// CreatedAt is the argument that the program compares with the negotiation's creation time, in Unix
	// seconds, to bind the instruction to a single deal. If there is no such argument, it is nil.
	CreatedAt *int64
	// Actors lists the accounts that sign the instruction.
	Actors []Actor
	// Guards lists the parts of negotiation state required by the instruction.
	Guards []Guard
	// Idempotency describes which actions count as the same action.
	Idempotency Idempotency
	// Payments lists the possible payments.
	Payments []Payment
	// Events lists the names of the events that the instruction can log. The first event is always logged.
	Events []string
}

// Acts reports whether the wallet is an actor.
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

// Guard is a part of negotiation state required by an instruction.
type Guard struct {
	// State identifies the part.
	State GuardState
	// Milestone is the index of the milestone, from 0, for GuardMilestone.
	Milestone uint8
}

// GuardState is a kind of Guard.
type GuardState uint8

// Parts of negotiation state. The program compares most parts with an instruction argument.
const (
	// GuardAbsent: no negotiation exists there.
	GuardAbsent GuardState = iota + 1
	// GuardCreatedAt: the creation time, which distinguishes successive deals.
	GuardCreatedAt
	// GuardTerms: all invitation terms: see [TermsHash].
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
	// GuardMilestone: a milestone's state: see [Negotiation.MilestoneState].
	GuardMilestone
	// GuardPayout: the recorded payout of the signing party: see [Negotiation.ClaimableOf].
	GuardPayout
)

// Idempotency describes which actions count as the same action.
type Idempotency uint8

const (
	// IdempotencyContent: the program executes equal instructions for the same deal at most once.
	IdempotencyContent Idempotency = iota + 1
	// IdempotencyAddress: for each address the program executes at most one such instruction until the
	// account there is closed.
	IdempotencyAddress
	// IdempotencyRandom: the same instruction can be meant more than once.
	IdempotencyRandom
)

// Payment is money moved by an instruction.
type Payment struct {
	// Money is the reason for the payment.
	Money Money
	// From is the payer, and Source the account that loses the amount.
	From   Role
	Source solana.PublicKey
	// To is the recipient, and Destination the account that receives the amount. Destination is unset if the
	// instruction leaves the account out and so cannot pay there.
	To          Role
	Destination solana.PublicKey
	// Mint and TokenProgram identify the amount's token. They are unset for lamports.
	Mint, TokenProgram solana.PublicKey
}

// Money is the reason for a payment.
type Money uint8

const (
	// MoneyEscrow is the buyer's deposit.
	MoneyEscrow Money = iota + 1
	// MoneyBond is the seller's deposit, or its returned or forfeited part.
	MoneyBond
	// MoneyPrice is all or part of the price, less the fee.
	MoneyPrice
	// MoneyRefund is a part of the escrow returned to the buyer.
	MoneyRefund
	// MoneyPayout is an earlier payment that could not be delivered.
	MoneyPayout
	// MoneyFee is fee, decay and donations.
	MoneyFee
	// MoneyRent is account rent, in lamports.
	MoneyRent
)

// NewInstruction returns an instruction by IDL name, with zero accounts and arguments. The second result is
// false for unknown instructions.
func NewInstruction(name string) (AnyInstruction, bool) {
	for _, instruction := range Instructions() {
		if instruction.InstructionName() == name {
			return instruction, true
		}
	}
	return nil, false
}
