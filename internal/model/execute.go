package model

import (
	"slices"

	"github.com/gagliardetto/solana-go"
)

// Execute says what an instruction does; it changes nothing itself.
func Execute(world *World, instruction Instruction) *Result {
	c := &call{draft: draft{world: world, changed: map[Address]Account{}}}
	if err := c.execute(instruction); err != nil {
		return &Result{Code: err.(Code)}
	}
	return &Result{Changed: c.differences(), Events: c.events, Outcomes: c.outcomes}
}

// call is an instruction that is being executed.
type call struct {
	draft
	rule      *rule
	keys      []Address
	arguments reader
	events    []Event
	outcomes  []string
}

func (c *call) execute(instruction Instruction) error {
	if instruction.Program != ProgramID {
		return DeclaredProgramIDMismatch
	}
	if len(instruction.Data) < 8 {
		return InstructionMissing
	}
	if c.rule = rules[string(instruction.Data[:8])]; c.rule == nil {
		return InstructionFallbackNotFound
	}
	arguments := instruction.Data[8:]
	if len(arguments) != c.rule.arguments {
		return InstructionDidNotDeserialize
	}
	for _, at := range c.rule.flags {
		if arguments[at] > 1 {
			return InstructionDidNotDeserialize
		}
	}
	c.arguments = reader{arguments}
	if err := c.checkPlaces(instruction.Accounts); err != nil {
		return err
	}
	return c.rule.run(c)
}

// checkPlaces checks how many accounts there are, then all flags, then all owners, then what the accounts are.
func (c *call) checkPlaces(metas []solana.AccountMeta) error {
	if len(metas) < len(c.rule.places) {
		return AccountNotEnoughKeys
	}
	for i, place := range c.rule.places {
		c.keys = append(c.keys, metas[i].PublicKey)
		if c.leftOut(place, metas[i].PublicKey) {
			continue
		}
		// An account that stands in two places has the rights of both; the program itself is never written to.
		signs := slices.ContainsFunc(metas, func(m solana.AccountMeta) bool { return m.PublicKey == c.keys[i] && m.IsSigner })
		writable := slices.ContainsFunc(metas, func(m solana.AccountMeta) bool {
			return m.PublicKey == c.keys[i] && m.IsWritable && m.PublicKey != ProgramID
		})
		if err := first(refuse(place.signer && !signs, AccountNotSigner), refuse(place.writable && !writable, ConstraintMut)); err != nil {
			return err
		}
	}
	for _, check := range []func(must, Account) error{checkOwner, checkContent} {
		for i, place := range c.rule.places {
			if c.leftOut(place, c.keys[i]) {
				continue
			}
			if err := check(place.must, c.account(c.keys[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// leftOut reports whether an optional account was left out, which the program's own address stands for.
func (c *call) leftOut(place place, key Address) bool { return place.optional && key == ProgramID }

func checkOwner(must must, account Account) error {
	right := true
	switch must {
	case aNegotiation, theConfig:
		right = account.Owner == ProgramID
	case nothingYet:
		right = account.Owner == systemProgram
	case aMint:
		right = account.Owner == tokenProgram || account.Owner == token2022Program
	case theLoaders:
		right = account.Owner == upgradeableLoader
	}
	return refuse(!right, AccountOwnedByWrongProgram)
}

func checkContent(must must, account Account) error {
	var mark []byte
	var size int
	switch must {
	case aNegotiation:
		mark, size = negotiationDiscriminator, NegotiationSize
	case theConfig:
		mark, size = configDiscriminator, ConfigSize
	default:
		return nil
	}
	if len(account.Data) < len(mark) {
		return DiscriminatorNotFound
	}
	if string(account.Data[:len(mark)]) != string(mark) {
		return DiscriminatorMismatch
	}
	if len(account.Data) != size {
		return AccountDidNotDeserialize
	}
	if must == aNegotiation {
		n, _ := ReadNegotiation(account.Data)
		return refuse(n.Version != accountVersion, AccountDidNotDeserialize)
	}
	return nil
}

// key is the address that is given for an account.
func (c *call) key(name string) Address {
	return c.keys[slices.IndexFunc(c.rule.places, func(p place) bool { return p.name == name })]
}

// given reports whether an optional account is given; any other always is, and one that the instruction does not have never.
func (c *call) given(name string) bool {
	at := slices.IndexFunc(c.rule.places, func(p place) bool { return p.name == name })
	return at >= 0 && !c.leftOut(c.rule.places[at], c.keys[at])
}

// needed fails when an optional account that is needed now was left out.
func (c *call) needed(names ...string) error {
	for _, name := range names {
		if !c.given(name) {
			return AccountNotEnoughKeys
		}
	}
	return nil
}

// signer is who acts: the first account of every instruction that wants a signature.
func (c *call) signer() Address { return c.keys[0] }

// negotiation is the account that is acted on, which checkPlaces has checked.
func (c *call) negotiation() (Address, *Negotiation) {
	address := c.key("negotiation")
	n, _ := ReadNegotiation(c.account(address).Data)
	return address, n
}

// store writes a negotiation.
func (c *call) store(address Address, n *Negotiation) {
	account := c.account(address)
	account.Data = n.Bytes()
	c.put(address, account)
}

func (c *call) log(name string, pairs ...any) {
	c.events = append(c.events, event(name, pairs...))
}

func (c *call) happened(outcome string) {
	c.outcomes = append(c.outcomes, outcome)
}

// wrongAddresses are the accounts that are not what they should be, of which the most severe is answered: a PDA, then a
// stored key, then a token account, then a program.
type wrongAddresses struct{ seeds, stored, token, program bool }

func (w *wrongAddresses) worst() error {
	return first(
		refuse(w.seeds, ConstraintSeeds),
		refuse(w.stored, ConstraintHasOne),
		refuse(w.token, ConstraintRaw),
		refuse(w.program, InvalidProgramID),
	)
}

// checkEscrow checks the accounts that money moves between, as far as they are given: the vault, the mint, the token program,
// and who is paid.
func (c *call) checkEscrow(address Address, n *Negotiation) wrongAddresses {
	var wrong wrongAddresses
	if c.given("escrow_vault") {
		wrong.seeds = c.key("escrow_vault") != storedVaultAddress(address, n.VaultBump)
	}
	if c.given("token_mint") {
		wrong.stored = c.key("token_mint") != n.Mint
	}
	if c.given("token_program") {
		given := c.key("token_program")
		// Without the mint the instruction cannot know which of the two programs is the mint's; then it does not call it either.
		wrong.program = given != c.tokenProgramOf(n) &&
			(c.given("token_mint") || given != tokenProgram && given != token2022Program)
	}
	return wrong
}

// tokenProgramOf is the token program of a negotiation's mint.
func (c *call) tokenProgramOf(n *Negotiation) Address { return c.account(n.Mint).Owner }

// belongs reports whether an account is a token account of the negotiation's mint that an owner has.
func (c *call) belongs(account Address, n *Negotiation, owner Address) bool {
	held, ok := c.tokenAccount(account)
	return ok && held.Program == c.tokenProgramOf(n) && held.Mint == n.Mint && held.Owner == owner
}

// canPay reports whether a vault can pay an amount: it is not frozen, and wrapped SOL has not become rent.
func (c *call) canPay(vault Address, amount uint64) bool {
	held, ok := c.tokenAccount(vault)
	return ok && !held.IsFrozen && held.Amount >= amount
}

// inTime fails at and after the end of the turn.
func (c *call) inTime(n *Negotiation) error {
	return first(refuse(c.world.Now >= n.Deadline, Expired), refuse(c.world.Now >= n.TurnDeadline, ResponseWindowExpired))
}

// startTurn begins a turn.
func (c *call) startTurn(n *Negotiation) error {
	end, fits := plus(c.world.Now, n.Window)
	if !fits {
		return Overflow
	}
	n.TurnDeadline = min(end, n.Deadline)
	return nil
}

// isMetadata reports whether metadata are of a kind that is known: 0 is all zeros, 1 has 50 bytes and then zeros.
func isMetadata(metadata [64]byte) bool {
	switch metadata[0] {
	case 0:
		return metadata == [64]byte{}
	case 1:
		return [14]byte(metadata[50:]) == [14]byte{}
	}
	return false
}
