package differential

import (
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// currency is a mint with the participants' token accounts.
type currency struct {
	mint, program model.Address
	// tokens holds each party's associated token account and another token account.
	tokens map[model.Address][2]model.Address
	// traps holds the parties' token accounts that the adversary can drain or close.
	traps     map[model.Address]model.Address
	treasury  model.Address
	adversary model.Address
	// funds is the buyer's balance at the start.
	funds uint64
}

// currency adds a mint and its token accounts.
func (b *environmentBuilder) currency(number int) {
	suffix := ""
	if number > 0 {
		suffix = " 2"
	}
	cur := b.mint(number, suffix)
	p, rent := b.participants, b.environment.Rent
	for _, party := range []struct {
		owner model.Address
		name  string
		funds [2]uint64
	}{{p.buyer, "buyer", [2]uint64{cur.funds, 0}}, {p.seller, "seller", [2]uint64{1_000_000, 3_000_000}}} {
		b.partyAccounts(cur, party.owner, party.name+"'s tokens"+suffix, party.funds)
	}
	cur.adversary = b.address()
	b.put(cur.adversary, "adversary's tokens"+suffix, newTokenAccount(rent, cur.program, cur.mint,
		p.adversary, 500))
	cur.treasury = b.address()
	b.put(cur.treasury, "treasury's tokens"+suffix, newTokenAccount(rent, cur.program, cur.mint, p.treasury,
		0))
	p.currencies = append(p.currencies, cur)
}

func (b *environmentBuilder) mint(number int, suffix string) *currency {
	cur := &currency{
		program: solana.TokenProgramID,
		tokens:  map[model.Address][2]model.Address{},
		traps:   map[model.Address]model.Address{},
	}
	var extensions []extension
	switch n := b.IntN(20); {
	case n < 9:
		cur.mint = b.address()
	case n < 11 && number == 0:
		cur.mint = model.WrappedSOL
	case n < 12 && number == 0:
		cur.mint, cur.program = model.WrappedSOL2022, solana.Token2022ProgramID
	case n < 14:
		cur.mint, cur.program = b.address(), solana.Token2022ProgramID
	default:
		cur.mint, cur.program = b.address(), solana.Token2022ProgramID
		extensions = b.allowedExtensions()
	}
	data := newMint(extensions...)
	data[mintDecimalsOffset] = byte(pick(b.random, 6, 6, 9, 0, 255))
	lamports := b.environment.Rent.Exempt(len(data))
	b.put(cur.mint, "mint"+suffix, model.Account{Lamports: lamports, Owner: cur.program, Data: data})

	cur.funds = 20_000_000
	switch n := b.IntN(20); {
	case n == 0 && !isNativeMint(cur.mint):
		cur.funds = 1<<64 - 1 - 10_000_000
	case n < 6:
		cur.funds = 1_000_000_000_000_000
	}
	return cur
}

func (b *environmentBuilder) partyAccounts(cur *currency, owner model.Address, name string, funds [2]uint64) {
	rent := b.environment.Rent
	associated, other, trap := model.AssociatedAddress(owner, cur.program, cur.mint), b.address(), b.address()
	var ofAssociated, ofOther []extension
	if cur.program == solana.Token2022ProgramID {
		ofAssociated = []extension{{immutableOwner, nil}}
		// The owner can enable these later.
		if b.percent(60) {
			ofAssociated = append(ofAssociated, extension{memoTransfer, []byte{0}})
		}
		if b.percent(30) {
			ofOther = append(ofOther, extension{cpiGuard, []byte{0}}, extension{memoTransfer, []byte{0}})
		}
	}
	b.put(associated, name, newTokenAccount(rent, cur.program, cur.mint, owner, funds[0], ofAssociated...))
	b.put(other, name+" (other account)", newTokenAccount(rent, cur.program, cur.mint, owner, funds[1],
		ofOther...))
	b.put(trap, name+" (trap)", b.trap(cur, owner))
	cur.tokens[owner] = [2]model.Address{associated, other}
	cur.traps[owner] = trap
}

// trap returns a party's empty token account with the adversary as close authority or delegate. The adversary
// can make the first kind: a change of the owner keeps the close authority, except for wrapped SOL. The
// second kind is an approval that the party gave earlier.
func (b *environmentBuilder) trap(cur *currency, owner model.Address) model.Account {
	adversary := b.participants.adversary
	account := newTokenAccount(b.environment.Rent, cur.program, cur.mint, owner, 0)
	if !isNativeMint(cur.mint) && b.percent(70) {
		return withOption(account, closeAuthorityOffset, adversary)
	}
	return withNumber(withOption(account, delegateOffset, adversary), delegatedAmountOffset, 1<<64-1)
}

// allowedExtensions returns some of the mint extensions that the program accepts.
func (b *environmentBuilder) allowedExtensions() []extension {
	all := []extension{
		{metadataPointer, make([]byte, 64)}, {tokenMetadata, make([]byte, 80+b.IntN(40))},
		{groupPointer, make([]byte, 64)}, {tokenGroup, make([]byte, 80)},
		{groupMemberPointer, make([]byte, 64)}, {tokenGroupMember, make([]byte, 72)},
	}
	b.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+b.IntN(len(all))]
}

// unsupportedMints adds mints that the program refuses: uninitialized, with other extensions, malformed.
func (b *environmentBuilder) unsupportedMints() {
	rent := b.environment.Rent
	allowed := newMint(b.allowedExtensions()...)
	forbidden := extension{
		pick(b.random, uint16(transferFeeConfig), mintCloseAuthority, confidentialMint, defaultAccountState,
			nonTransferable, interestBearing, permanentDelegate, transferHook, pausable,
			nonexistentExtension),
		make([]byte, b.IntN(120)),
	}
	wrongType := withBytes(model.Account{Data: allowed}, tokenAccountSize, pick(b.random, byte(0), 2, 3)).Data
	for i, mint := range []struct {
		program model.Address
		data    []byte
	}{
		{solana.TokenProgramID, make([]byte, mintSize)},
		{solana.Token2022ProgramID, newMint(append(b.allowedExtensions(), forbidden)...)},
		{solana.Token2022ProgramID, allowed[:len(allowed)-1-b.IntN(3)]},
		{solana.Token2022ProgramID, wrongType},
		{solana.TokenProgramID, allowed},
	} {
		address, account := b.address(), b.address()
		b.put(address, fmt.Sprintf("unsupported mint %d", i+1),
			model.Account{Lamports: rent.Exempt(len(mint.data)), Owner: mint.program, Data: mint.data})
		b.put(account, fmt.Sprintf("buyer's tokens of unsupported mint %d", i+1),
			newTokenAccount(rent, mint.program, address, b.participants.buyer, 1_000_000))
		b.participants.unsupported = append(b.participants.unsupported,
			holding{address, account, mint.program})
	}
}
