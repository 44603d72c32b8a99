package differential

import (
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/model"
	"github.com/haggle-protocol/haggle/sdk"
)

// Where the same file has been deployed a second time, by somebody else.
var impostor = solana.PublicKey{77, 77}

// plenty are lamports that suffice for everything in a sequence.
const plenty = 1_000_000_000_000

// cast is who and what takes part in a sequence, with names for its story.
type cast struct {
	names map[solana.PublicKey]string

	buyer, seller, stranger, arbiter, treasury solana.PublicKey
	// authorities are the deployer and another wallet, either of which may come to be the configuration's authority.
	authorities [2]solana.PublicKey

	config, programData solana.PublicKey
	currencies          []*currency
	// unsupported are mints that no escrow can be held in, each with a token account of the buyer's.
	unsupported []holding
	// oddities are accounts that look like others and are not.
	oddities []solana.PublicKey
	deals    []*deal
}

// currency is a mint that is negotiated in, with the accounts of everybody.
type currency struct {
	mint, program solana.PublicKey
	// tokens are the associated token account and another one of each party.
	tokens    map[solana.PublicKey][2]solana.PublicKey
	treasury  solana.PublicKey
	strangers solana.PublicKey
	// funds is what the buyer has to begin with.
	funds uint64
}

type holding struct{ mint, account, program solana.PublicKey }

// deal is a negotiation that there may be: its parties, its currency and its addresses.
type deal struct {
	parties            [2]solana.PublicKey
	sessionID          uint64
	negotiation, vault solana.PublicKey
	currency           *currency
	// firstTerms is the hash of the terms that the seller saw first; the negotiation may have been made again since.
	firstTerms [32]byte
	// secrets are what the parties have committed themselves to.
	secrets [2]secret
}

type secret struct {
	price uint64
	nonce [32]byte
}

func (c *cast) name(address solana.PublicKey) string {
	if name := c.names[address]; name != "" {
		return name
	}
	return address.String()
}

// begin makes the world that a sequence begins with: people, mints, programs, and accounts that are none of these.
func begin(c chance, rent model.Rent) (*cast, *model.World) {
	b := &beginning{
		chance: c,
		cast:   &cast{names: map[solana.PublicKey]string{}},
		world:  &model.World{Rent: rent, Accounts: map[solana.PublicKey]model.Account{}},
	}
	b.people()
	b.programs()
	currencies := 1
	if c.percent(30) {
		currencies = 2
	}
	for i := range currencies {
		b.currency(i)
	}
	b.unsupportedMints()
	b.oddities()
	b.deals()
	b.world.Now = b.time()
	return b.cast, b.world
}

type beginning struct {
	chance
	cast  *cast
	world *model.World
}

func (b *beginning) put(address solana.PublicKey, name string, account model.Account) {
	b.cast.names[address] = name
	b.world.Accounts[address] = account
}

func (b *beginning) person(name string) solana.PublicKey {
	address := b.address()
	b.put(address, name, model.Account{Lamports: plenty})
	return address
}

func (b *beginning) people() {
	people := b.cast
	people.buyer, people.seller = b.person("buyer"), b.person("seller")
	people.stranger, people.arbiter = b.person("stranger"), b.person("arbiter")
	people.authorities = [2]solana.PublicKey{b.person("deployer"), b.person("successor")}
	switch b.IntN(20) {
	case 0:
		people.treasury = people.buyer
	case 1:
		people.treasury = people.seller
	default:
		people.treasury = b.person("treasury")
	}
}

func (b *beginning) programs() {
	for _, program := range []struct {
		address, loader solana.PublicKey
		name            string
	}{
		{solana.SystemProgramID, solana.MustPublicKeyFromBase58("NativeLoader1111111111111111111111111111111"), "system program"},
		{solana.TokenProgramID, solana.BPFLoaderProgramID, "token program"},
		{solana.Token2022ProgramID, solana.BPFLoaderUpgradeableProgramID, "Token-2022"},
		{haggle.ProgramID, solana.BPFLoaderUpgradeableProgramID, "haggle"},
	} {
		b.put(program.address, program.name, model.Account{Lamports: 1, Owner: program.loader, Executable: true})
	}
	b.cast.config = must2(haggle.FindConfigAddress())
	b.cast.names[b.cast.config] = "config"
	b.cast.programData = must2(haggle.FindProgramDataAddress())
	data := []byte{3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
	data = append(data, b.cast.authorities[0][:]...)
	b.put(b.cast.programData, "program data",
		model.Account{Lamports: b.world.Rent.Exempt(len(data)), Owner: solana.BPFLoaderUpgradeableProgramID, Data: data})
	b.cast.names[impostor] = "impostor program"
}

// currency makes a mint and everybody's accounts of it.
func (b *beginning) currency(number int) {
	suffix := ""
	if number > 0 {
		suffix = " 2"
	}
	cur := &currency{program: solana.TokenProgramID, tokens: map[solana.PublicKey][2]solana.PublicKey{}}
	var mintExtensions []extension
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
		mintExtensions = b.allowedExtensions()
	}
	data := mintData(mintExtensions...)
	b.put(cur.mint, "mint"+suffix, model.Account{Lamports: b.world.Rent.Exempt(len(data)), Owner: cur.program, Data: data})

	cur.funds = 20_000_000
	switch n := b.IntN(20); {
	case n == 0 && !isNativeMint(cur.mint):
		cur.funds = 1<<64 - 1 - 10_000_000
	case n < 6:
		cur.funds = 1_000_000_000_000_000
	}
	for _, party := range []struct {
		owner solana.PublicKey
		name  string
		funds [2]uint64
	}{{b.cast.buyer, "buyer", [2]uint64{cur.funds, 0}}, {b.cast.seller, "seller", [2]uint64{1_000_000, 3_000_000}}} {
		b.partyAccounts(cur, party.owner, party.name+"'s tokens"+suffix, party.funds)
	}
	cur.strangers = b.address()
	b.put(cur.strangers, "stranger's tokens"+suffix, tokenAccount(b.world.Rent, cur.program, cur.mint, b.cast.stranger, 500))
	cur.treasury = b.address()
	b.put(cur.treasury, "treasury's tokens"+suffix, tokenAccount(b.world.Rent, cur.program, cur.mint, b.cast.treasury, 0))
	b.cast.currencies = append(b.cast.currencies, cur)
}

func (b *beginning) partyAccounts(cur *currency, owner solana.PublicKey, name string, funds [2]uint64) {
	associated, _, err := solana.FindProgramAddress([][]byte{owner[:], cur.program[:], cur.mint[:]}, solana.SPLAssociatedTokenAccountProgramID)
	must(err)
	other := b.address()
	var ofAssociated, ofOther []extension
	if cur.program == solana.Token2022ProgramID {
		ofAssociated = []extension{{immutableOwner, nil}}
		// What the owner can switch on later.
		if b.percent(60) {
			ofAssociated = append(ofAssociated, extension{memoTransfer, []byte{0}})
		}
		if b.percent(30) {
			ofOther = append(ofOther, extension{cpiGuard, []byte{0}}, extension{memoTransfer, []byte{0}})
		}
	}
	b.put(associated, name, tokenAccount(b.world.Rent, cur.program, cur.mint, owner, funds[0], ofAssociated...))
	b.put(other, name+" (other account)", tokenAccount(b.world.Rent, cur.program, cur.mint, owner, funds[1], ofOther...))
	cur.tokens[owner] = [2]solana.PublicKey{associated, other}
}

// allowedExtensions are some of the extensions that a mint may have.
func (b *beginning) allowedExtensions() []extension {
	all := []extension{
		{metadataPointer, make([]byte, 64)}, {tokenMetadata, make([]byte, 80+b.IntN(40))}, {groupPointer, make([]byte, 64)},
		{tokenGroup, make([]byte, 80)}, {groupMemberPointer, make([]byte, 64)}, {tokenGroupMember, make([]byte, 72)},
	}
	b.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+b.IntN(len(all))]
}

// unsupportedMints makes mints that must be refused: not initialised, with extensions that are not allowed, malformed.
func (b *beginning) unsupportedMints() {
	allowed := mintData(b.allowedExtensions()...)
	forbidden := pick(b.chance, transferFeeConfig, mintCloseAuthority, confidentialMint, defaultAccountState, nonTransferable,
		interestBearing, permanentDelegate, transferHook, pausable, extensionNobodyHasSeen)
	for i, mint := range []struct {
		program solana.PublicKey
		data    []byte
	}{
		{solana.TokenProgramID, make([]byte, mintSize)},
		{solana.Token2022ProgramID, mintData(append(b.allowedExtensions(), extension{uint16(forbidden), make([]byte, b.IntN(120))})...)},
		{solana.Token2022ProgramID, allowed[:len(allowed)-1-b.IntN(3)]},
		{solana.Token2022ProgramID, changedData(model.Account{Data: allowed}, tokenAccountSize, pick(b.chance, byte(0), 2, 3)).Data},
		{solana.TokenProgramID, allowed},
	} {
		address, account := b.address(), b.address()
		b.put(address, fmt.Sprintf("unsupported mint %d", i+1),
			model.Account{Lamports: b.world.Rent.Exempt(len(mint.data)), Owner: mint.program, Data: mint.data})
		b.put(account, fmt.Sprintf("buyer's tokens of unsupported mint %d", i+1),
			tokenAccount(b.world.Rent, mint.program, address, b.cast.buyer, 1_000_000))
		b.cast.unsupported = append(b.cast.unsupported, holding{address, account, mint.program})
	}
}

func (b *beginning) oddities() {
	foreign := b.address()
	negotiation := make([]byte, model.NegotiationSize)
	copy(negotiation, haggle.NegotiationDiscriminator)
	for _, odd := range []struct {
		name    string
		account model.Account
	}{
		{"account with four bytes", model.Account{Owner: haggle.ProgramID, Data: make([]byte, 4)}},
		{"negotiation that is too short", model.Account{Owner: haggle.ProgramID, Data: negotiation[:model.NegotiationSize-1]}},
		{"negotiation of another version", model.Account{Owner: haggle.ProgramID, Data: negotiation}},
		{"negotiation of another program", model.Account{Owner: foreign, Data: negotiation}},
		{"tokens of another program", tokenAccount(b.world.Rent, foreign, foreign, foreign, 1)},
		{"wallet with data", model.Account{Data: []byte{1}}},
	} {
		address := b.address()
		odd.account.Lamports = b.world.Rent.Exempt(len(odd.account.Data))
		b.put(address, odd.name, odd.account)
		b.cast.oddities = append(b.cast.oddities, address)
	}
	b.cast.oddities = append(b.cast.oddities, b.cast.config)
}

// deals are the negotiations that there may be, to some of whose addresses somebody has sent lamports.
func (b *beginning) deals() {
	parties := [2]solana.PublicKey{b.cast.buyer, b.cast.seller}
	session := b.Uint64()
	b.deal("", parties, session, b.cast.currencies[0])
	if len(b.cast.currencies) > 1 || b.percent(15) {
		last := b.cast.currencies[len(b.cast.currencies)-1]
		switch b.IntN(3) {
		case 0:
			b.deal(" 2", [2]solana.PublicKey{b.cast.seller, b.cast.buyer}, session, last)
		default:
			b.deal(" 2", parties, session+1, last)
		}
	}
}

func (b *beginning) deal(suffix string, parties [2]solana.PublicKey, session uint64, cur *currency) {
	d := &deal{parties: parties, sessionID: session, currency: cur}
	d.negotiation = must2(haggle.FindNegotiationAddress(parties[0], parties[1], session))
	d.vault = must2(haggle.FindVaultAddress(d.negotiation))
	b.cast.names[d.negotiation], b.cast.names[d.vault] = "negotiation"+suffix, "vault"+suffix
	for _, address := range []solana.PublicKey{d.negotiation, d.vault} {
		if b.percent(12) {
			b.world.Accounts[address] = model.Account{Lamports: b.between(1, 2*b.world.Rent.Exempt(model.NegotiationSize))}
		}
	}
	b.cast.deals = append(b.cast.deals, d)
}

func (b *beginning) time() int64 {
	switch n := b.IntN(60); {
	case n < 2:
		return int64(b.between(1<<63-1-8_000, 1<<63-1-100))
	case n < 3:
		return -int64(b.between(1, 1_000_000))
	}
	return int64(b.between(1_700_000_000, 1_900_000_000))
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func must2(address solana.PublicKey, _ uint8, err error) solana.PublicKey {
	must(err)
	return address
}
