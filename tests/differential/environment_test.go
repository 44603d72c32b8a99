package differential

import (
	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// impostor is the address of a second deployment with the same ELF file.
var impostor = model.Address{77, 77}

// startingLamports is each wallet's balance when a sequence starts; it suffices for a whole sequence.
const startingLamports = 1_000_000_000_000

// participants holds a sequence's wallets, accounts and sessions, with names for the trace.
type participants struct {
	names map[model.Address]string

	buyer, seller, arbiter, treasury model.Address
	// adversary submits other parties' instructions, and is the delegate or close authority for token
	// accounts.
	adversary model.Address
	// authorities lists the deployer and a second wallet; each can become the configuration authority.
	authorities [2]model.Address

	config, programData model.Address
	currencies          []*currency
	// unsupported lists mints refused by the program, each with the buyer's token account.
	unsupported []holding
	// malformed holds accounts that resemble accounts of the program.
	malformed []model.Address
	sessions  []*session
}

// holding is a mint with the buyer's token account.
type holding struct{ mint, account, program model.Address }

// session is a negotiation address: parties, session id, currency. Several negotiations can exist there in
// turn.
type session struct {
	parties            [2]model.Address
	sessionID          uint64
	negotiation, vault model.Address
	currency           *currency
	// history lists all negotiations that have existed at this address.
	history []generation
	// reveals holds the parties' committed prices.
	reveals [2]reveal
}

// generation identifies one of a session's negotiations.
type generation struct {
	createdAt int64
	terms     [32]byte
}

// reveal is a price with the commitment's nonce.
type reveal struct {
	price uint64
	nonce [32]byte
}

func (p *participants) name(address model.Address) string {
	if name := p.names[address]; name != "" {
		return name
	}
	return address.String()
}

// owners returns the wallets that receive payouts.
func (p *participants) owners() []model.Address {
	owners := []model.Address{p.buyer, p.seller}
	if p.treasury != p.buyer && p.treasury != p.seller {
		owners = append(owners, p.treasury)
	}
	return owners
}

// newEnvironment returns the environment at the start of a seed's sequence.
func newEnvironment(r random, rent model.Rent) (*participants, *model.Environment) {
	b := &environmentBuilder{
		random:       r,
		participants: &participants{names: map[model.Address]string{}},
		environment:  &model.Environment{Rent: rent, Accounts: map[model.Address]model.Account{}},
	}
	b.wallets()
	b.programs()
	currencies := 1
	if r.percent(30) {
		currencies = 2
	}
	for i := range currencies {
		b.currency(i)
	}
	b.unsupportedMints()
	b.malformedAccounts()
	b.sessions()
	b.environment.Now = b.time()
	return b.participants, b.environment
}

type environmentBuilder struct {
	random
	participants *participants
	environment  *model.Environment
}

func (b *environmentBuilder) put(address model.Address, name string, account model.Account) {
	b.participants.names[address] = name
	b.environment.Accounts[address] = account
}

func (b *environmentBuilder) wallet(name string) model.Address {
	address := b.address()
	b.put(address, name, model.Account{Lamports: startingLamports})
	return address
}

func (b *environmentBuilder) wallets() {
	p := b.participants
	p.buyer, p.seller = b.wallet("buyer"), b.wallet("seller")
	p.adversary, p.arbiter = b.wallet("adversary"), b.wallet("arbiter")
	p.authorities = [2]model.Address{b.wallet("deployer"), b.wallet("successor")}
	switch b.IntN(20) {
	case 0:
		p.treasury = p.buyer
	case 1:
		p.treasury = p.seller
	default:
		p.treasury = b.wallet("treasury")
	}
}

func (b *environmentBuilder) programs() {
	for _, program := range []struct {
		address, loader model.Address
		name            string
	}{
		{solana.SystemProgramID,
			solana.MustPublicKeyFromBase58("NativeLoader1111111111111111111111111111111"), "system program"},
		{solana.TokenProgramID, solana.BPFLoaderProgramID, "token program"},
		{solana.Token2022ProgramID, solana.BPFLoaderUpgradeableProgramID, "Token-2022"},
		{model.ProgramID, solana.BPFLoaderUpgradeableProgramID, "haggle"},
	} {
		account := model.Account{Lamports: 1, Owner: program.loader, Executable: true}
		b.put(program.address, program.name, account)
	}
	p := b.participants
	p.config, p.programData = model.ConfigAddress(), model.ProgramDataAddress()
	p.names[p.config], p.names[impostor] = "config", "impostor program"
	data := []byte{3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
	data = append(data, p.authorities[0][:]...)
	b.put(p.programData, "program data", model.Account{
		Lamports: b.environment.Rent.Exempt(len(data)), Owner: solana.BPFLoaderUpgradeableProgramID,
		Data: data,
	})
}

func (b *environmentBuilder) malformedAccounts() {
	foreign := b.address()
	data := new(model.Negotiation).Bytes() // Version 0.
	for _, malformed := range []struct {
		name    string
		account model.Account
	}{
		{"account with four bytes", model.Account{Owner: model.ProgramID, Data: make([]byte, 4)}},
		{"negotiation without its last byte", model.Account{Owner: model.ProgramID,
			Data: data[:len(data)-1]}},
		{"negotiation of another version", model.Account{Owner: model.ProgramID, Data: data}},
		{"negotiation of another program", model.Account{Owner: foreign, Data: data}},
		{"tokens of another program", newTokenAccount(b.environment.Rent, foreign, foreign, foreign, 1)},
		{"wallet with data", model.Account{Data: []byte{1}}},
	} {
		address := b.address()
		malformed.account.Lamports = b.environment.Rent.Exempt(len(malformed.account.Data))
		b.put(address, malformed.name, malformed.account)
		b.participants.malformed = append(b.participants.malformed, address)
	}
	b.participants.malformed = append(b.participants.malformed, b.participants.config)
}

func (b *environmentBuilder) sessions() {
	p := b.participants
	parties := [2]model.Address{p.buyer, p.seller}
	sessionID := b.Uint64()
	b.session("", parties, sessionID, p.currencies[0])
	if len(p.currencies) > 1 || b.percent(15) {
		last := p.currencies[len(p.currencies)-1]
		switch b.IntN(3) {
		case 0:
			b.session(" 2", [2]model.Address{p.seller, p.buyer}, sessionID, last)
		default:
			b.session(" 2", parties, sessionID+1, last)
		}
	}
}

// session adds a session. Some addresses hold lamports before the creation.
func (b *environmentBuilder) session(suffix string, parties [2]model.Address, sessionID uint64,
	cur *currency) {
	s := &session{parties: parties, sessionID: sessionID, currency: cur}
	s.negotiation = model.NegotiationAddress(parties[0], parties[1], sessionID)
	s.vault = model.VaultAddress(s.negotiation)
	names := b.participants.names
	names[s.negotiation], names[s.vault] = "negotiation"+suffix, "vault"+suffix
	for _, address := range []model.Address{s.negotiation, s.vault} {
		if b.percent(12) {
			lamports := b.between(1, 2*b.environment.Rent.Exempt(model.NegotiationSize))
			b.environment.Accounts[address] = model.Account{Lamports: lamports}
		}
	}
	b.participants.sessions = append(b.participants.sessions, s)
}

// time returns a sequence's first time, sometimes close to the last second that fits in an i64, or negative.
func (b *environmentBuilder) time() int64 {
	switch n := b.IntN(60); {
	case n < 2:
		return int64(b.between(1<<63-1-8_000, 1<<63-1-100))
	case n < 3:
		return -int64(b.between(1, 1_000_000))
	}
	return int64(b.between(1_700_000_000, 1_900_000_000))
}
