package differential

import (
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/model"
	"github.com/haggle-protocol/haggle/sdk"
)

// trick is what people do to the accounts that are theirs, and issuers to those of others.
func (s *story) trick(d *deal) step {
	party := pick(s.chance, d.parties[:]...)
	both := d.currency.tokens[party]
	mine := pick(s.chance, both[:]...)
	return weigh(s.chance, []weighted[func() step]{
		{14, func() step { return s.freeze(mostly(s.chance, 80, mine, d.currency.treasury)) }},
		{16, func() step { return s.thawAll() }},
		{10, func() step { return s.closeTokens(d, mine, party) }},
		{8, func() step { return s.reassign(mine) }},
		{14, func() step { return s.reopenAll() }},
		{6, func() step { return s.reopenForOtherMint(d, both[1], party) }},
		{10, func() step { return s.requireMemo(mine) }},
		{8, func() step { return s.guard(mine) }},
		{3, func() step { return s.addUnknownExtension(both[1]) }},
		{8, func() step { return s.freeze(d.vault) }},
		{8, func() step { return s.donate(d) }},
		{5, func() step { return s.giveLamports(pick(s.chance, d.vault, d.negotiation)) }},
		{8, func() step { return s.countLamports(d) }},
		{4, func() step { return s.impoverish(s.cast.buyer) }},
		{2, func() step { return s.totalsNearLimit() }},
	})()
}

// eachTokenAccount visits the parties' token accounts and the vaults.
func (s *story) eachTokenAccount(visit func(owner solana.PublicKey, cur *currency, account solana.PublicKey, isOther bool)) {
	for _, cur := range s.cast.currencies {
		for _, owner := range []solana.PublicKey{s.cast.buyer, s.cast.seller} {
			for i, account := range cur.tokens[owner] {
				visit(owner, cur, account, i == 1)
			}
		}
	}
}

func (s *story) freeze(account solana.PublicKey) step {
	return step{what: "the issuer freezes " + s.cast.name(account), trick: func(e *edit) {
		if isTokenAccount(e.account(account)) {
			e.put(account, changedData(e.account(account), stateAt, stateFrozen))
		}
	}}
}

func (s *story) thawAll() step {
	var accounts []solana.PublicKey
	s.eachTokenAccount(func(_ solana.PublicKey, _ *currency, account solana.PublicKey, _ bool) {
		accounts = append(accounts, account)
	})
	for _, d := range s.cast.deals {
		accounts = append(accounts, d.vault, d.currency.treasury)
	}
	return step{what: "the issuer thaws all accounts, and their owners demand no memos and guard nothing", trick: func(e *edit) {
		for _, account := range accounts {
			if !isTokenAccount(e.account(account)) {
				continue
			}
			e.put(account, changedData(e.account(account), stateAt, stateInitialized))
			for _, kind := range []uint16{memoTransfer, cpiGuard} {
				if at := extensionAt(e.account(account).Data, kind); at > 0 {
					e.put(account, changedData(e.account(account), at, 0))
				}
			}
		}
	}}
}

// closeTokens closes a token account; what is in it goes to the stranger. Large funds stay, or no other negotiation could begin.
func (s *story) closeTokens(d *deal, account, owner solana.PublicKey) step {
	evenLarge := s.percent(10)
	to := d.currency.strangers
	return step{what: s.cast.name(account) + " are closed", trick: func(e *edit) {
		if !isTokenAccount(e.account(account)) || mintOf(e.account(account)) != mintOf(e.account(to)) {
			return
		}
		amount := amountOf(e.account(account))
		if amount > 10_000 && !evenLarge {
			return
		}
		e.transfer(account, to, amount)
		e.moveLamports(account, owner, e.account(account).Lamports)
		e.put(account, model.Account{})
	}}
}

// reassign gives a token account another owner, which an immutable owner prevents.
func (s *story) reassign(account solana.PublicKey) step {
	stranger := s.cast.stranger
	return step{what: s.cast.name(account) + " are given to the stranger", trick: func(e *edit) {
		if isTokenAccount(e.account(account)) && extensionAt(e.account(account).Data, immutableOwner) == 0 {
			e.put(account, changedData(e.account(account), 32, stranger[:]...))
		}
	}}
}

// reopenAll makes the parties' accounts again that are closed or have come to belong to somebody else.
func (s *story) reopenAll() step {
	return step{what: "all closed or lost accounts of the parties are opened again", trick: func(e *edit) {
		s.eachTokenAccount(func(owner solana.PublicKey, cur *currency, account solana.PublicKey, isOther bool) {
			if isTokenAccount(e.account(account)) && mintOf(e.account(account)) == cur.mint {
				if solana.PublicKey(e.account(account).Data[32:64]) != owner {
					e.put(account, changedData(e.account(account), 32, owner[:]...))
				}
				return
			}
			var extensions []extension
			if cur.program == solana.Token2022ProgramID && !isOther {
				extensions = []extension{{immutableOwner, nil}}
			}
			e.put(account, tokenAccount(e.world.Rent, cur.program, cur.mint, owner, 0, extensions...))
		})
	}}
}

// reopenForOtherMint closes an empty account and opens it again for another mint.
func (s *story) reopenForOtherMint(d *deal, account, owner solana.PublicKey) step {
	other := s.cast.unsupported[1]
	return step{what: s.cast.name(account) + " are closed and opened again for another mint", trick: func(e *edit) {
		if isTokenAccount(e.account(account)) && amountOf(e.account(account)) == 0 {
			e.put(account, tokenAccount(e.world.Rent, other.program, other.mint, owner, 0))
		}
	}}
}

// requireMemo makes a memo a condition of every transfer to an account: it sets the extension, or adds it.
func (s *story) requireMemo(account solana.PublicKey) step {
	return step{what: "a memo is required for " + s.cast.name(account), trick: func(e *edit) {
		setExtension(e, account, memoTransfer)
	}}
}

func (s *story) guard(account solana.PublicKey) step {
	return step{what: s.cast.name(account) + " are guarded against other programs", trick: func(e *edit) {
		setExtension(e, account, cpiGuard)
	}}
}

func (s *story) addUnknownExtension(account solana.PublicKey) step {
	kind := pick(s.chance, uint16(transferFeeAmount), extensionNobodyHasSeen)
	value := make([]byte, s.IntN(20))
	cut := s.IntN(3)
	return step{what: fmt.Sprintf("%s get an extension %d", s.cast.name(account), kind), trick: func(e *edit) {
		if at := e.account(account); at.Owner == solana.Token2022ProgramID && len(at.Data) == tokenAccountSize {
			at.Data = withExtensions(at.Data, 2, extension{kind, value})
			at.Data = at.Data[:len(at.Data)-min(cut, len(value))]
			e.put(account, at)
		}
	}}
}

// setExtension sets an extension of a Token-2022 account to one, and adds it to an account that has none.
func setExtension(e *edit, address solana.PublicKey, kind uint16) {
	account := e.account(address)
	if !isTokenAccount(account) || account.Owner != solana.Token2022ProgramID {
		return
	}
	if at := extensionAt(account.Data, kind); at > 0 {
		e.put(address, changedData(account, at, 1))
	} else if len(account.Data) == tokenAccountSize {
		account.Data = withExtensions(account.Data, 2, extension{kind, []byte{1}})
		e.put(address, account)
	}
}

func (s *story) donate(d *deal) step {
	amount := s.between(1, 20)
	from := d.currency.strangers
	return step{what: fmt.Sprintf("the stranger donates %d to %s", amount, s.cast.name(d.vault)), trick: func(e *edit) {
		if isTokenAccount(e.account(d.vault)) && mintOf(e.account(d.vault)) == d.currency.mint && amountOf(e.account(from)) >= amount {
			e.transfer(from, d.vault, amount)
		}
	}}
}

func (s *story) giveLamports(to solana.PublicKey) step {
	lamports := s.between(1, 5_000_000)
	return step{what: fmt.Sprintf("the stranger sends %d lamports to %s", lamports, s.cast.name(to)), trick: func(e *edit) {
		e.moveLamports(s.cast.stranger, to, lamports)
	}}
}

// countLamports has the token program count a vault of wrapped SOL anew, perhaps after the rent has risen or fallen.
func (s *story) countLamports(d *deal) step {
	more := pick(s.chance, uint64(0), 0, s.between(1, 2_000_000))
	return step{what: fmt.Sprintf("the lamports of %s are counted, with %d more as rent", s.cast.name(d.vault), more), trick: func(e *edit) {
		vault := e.account(d.vault)
		reserve := e.world.Rent.Exempt(tokenAccountSize) + more
		if !isTokenAccount(vault) || vault.Data[nativeAt] != 1 || vault.Lamports < reserve {
			return
		}
		e.put(d.vault, changedNumber(changedNumber(vault, reserveAt, reserve), 64, vault.Lamports-reserve))
	}}
}

// impoverish takes somebody's lamports, or gives them back.
func (s *story) impoverish(who solana.PublicKey) step {
	return step{what: s.cast.name(who) + " gives its lamports away or gets them back", trick: func(e *edit) {
		if has := e.account(who).Lamports; has > plenty/2 {
			e.moveLamports(who, s.cast.arbiter, has-1_000_000)
		} else {
			e.moveLamports(s.cast.arbiter, who, e.account(s.cast.arbiter).Lamports-plenty)
		}
	}}
}

// totalsNearLimit lets the configuration look back on a very long history.
func (s *story) totalsNearLimit() step {
	return step{what: "the totals of the configuration come close to the limit", trick: func(e *edit) {
		account := e.account(s.cast.config)
		config := new(haggle.ProtocolConfig)
		if config.Decode(account.Data) != nil {
			return
		}
		config.TotalSettledVolume, config.TotalFeesCollected = 1<<64-2, 1<<64-2
		account.Data = config.AppendTo(nil)
		e.put(s.cast.config, account)
	}}
}

// wait lets time pass: a little, or to the seconds around a moment that matters.
func (s *story) wait(d *deal) step {
	now := s.world.Now
	moments := []int64{add(now, 1), add(now, int64(s.between(1, 50)))}
	if n := s.negotiation(d); n != nil {
		interesting := []int64{n.TurnDeadline, n.TurnDeadline, n.Deadline, n.Deadline - n.Window}
		if n.Status == model.Accepted {
			interesting = []int64{n.TurnDeadline, n.MilestoneDeadline, n.MilestoneDeadline - n.Review(), n.MilestoneDeadline + n.Review()}
		}
		at := pick(s.chance, interesting...)
		moments = append(moments, at-1, at-1, at, add(at, 1))
	}
	moments = slices.DeleteFunc(moments, func(at int64) bool { return at < now })
	return until(pick(s.chance, moments...))
}

func until(at int64) step { return step{until: &at} }

// add is a time later, or the end of time.
func add(time, seconds int64) int64 {
	if time > 1<<63-1-seconds {
		return 1<<63 - 1
	}
	return time + seconds
}

// mistake is the call with a single thing wrong.
func (s *story) mistake(call *model.Instruction) (*model.Instruction, string) {
	spoilt := &model.Instruction{Program: call.Program, Accounts: slices.Clone(call.Accounts), Data: slices.Clone(call.Data)}
	place := s.IntN(len(call.Accounts))
	meta := &spoilt.Accounts[place]
	switch s.IntN(20) {
	case 0, 1:
		meta.IsSigner = false
		return spoilt, fmt.Sprintf("account %d does not sign", place)
	case 2, 3:
		meta.IsWritable = false
		return spoilt, fmt.Sprintf("account %d is read-only", place)
	case 4, 5:
		meta.PublicKey = s.anyAccount()
		return spoilt, fmt.Sprintf("account %d is %s", place, s.cast.name(meta.PublicKey))
	case 6, 16, 17:
		place = min(place, 1)
		spoilt.Accounts[place].PublicKey = pick(s.chance, s.cast.oddities...)
		return spoilt, fmt.Sprintf("account %d is %s", place, s.cast.name(spoilt.Accounts[place].PublicKey))
	case 7:
		other := s.IntN(len(call.Accounts))
		meta.PublicKey = call.Accounts[other].PublicKey
		return spoilt, fmt.Sprintf("account %d is account %d", place, other)
	case 8, 9:
		other := s.IntN(len(call.Accounts))
		*meta, spoilt.Accounts[other] = spoilt.Accounts[other], *meta
		return spoilt, fmt.Sprintf("accounts %d and %d are swapped", place, other)
	case 10, 18:
		d := pick(s.chance, s.cast.deals...)
		meta.PublicKey = pick(s.chance, d.negotiation, d.vault, d.currency.mint, d.currency.program, d.currency.tokens[d.parties[0]][0])
		return spoilt, fmt.Sprintf("account %d is %s", place, s.cast.name(meta.PublicKey))
	case 11:
		spoilt.Accounts = spoilt.Accounts[:place]
		return spoilt, fmt.Sprintf("only %d accounts", place)
	case 12, 13:
		return spoilt, s.spoilData(spoilt)
	case 14:
		if s.percent(40) {
			spoilt.Program = impostor
			return spoilt, "sent to the impostor"
		}
		meta.PublicKey = haggle.ProgramID
		return spoilt, fmt.Sprintf("account %d is left out", place)
	}
	if s.percent(50) {
		// The last accounts of those that move money are the mint and its program.
		place = max(0, len(call.Accounts)-1-s.IntN(2))
		spoilt.Accounts[place].PublicKey = pick(s.chance, solana.TokenProgramID, solana.Token2022ProgramID, s.cast.unsupported[0].mint)
		return spoilt, fmt.Sprintf("account %d is %s", place, s.cast.name(spoilt.Accounts[place].PublicKey))
	}
	spoilt.Accounts = append(spoilt.Accounts, solana.AccountMeta{PublicKey: s.cast.stranger})
	return spoilt, "one account too many"
}

func (s *story) spoilData(call *model.Instruction) string {
	switch s.IntN(5) {
	case 0:
		call.Data = call.Data[:s.IntN(8)]
		return "the data end early"
	case 1:
		call.Data[s.IntN(8)] ^= 1 << s.IntN(8)
		return "another discriminator"
	case 2:
		call.Data = call.Data[:len(call.Data)-1]
		return "the data are a byte short"
	case 3:
		call.Data = append(call.Data, 0)
		return "the data are a byte long"
	}
	at := s.IntN(len(call.Data))
	call.Data[at] = byte(s.IntN(256))
	return fmt.Sprintf("byte %d of the data is %d", at, call.Data[at])
}

// anyAccount is any account there is, always in the same order.
func (s *story) anyAccount() solana.PublicKey {
	addresses := make([]solana.PublicKey, 0, len(s.world.Accounts))
	for address := range s.world.Accounts {
		addresses = append(addresses, address)
	}
	slices.SortFunc(addresses, func(a, b solana.PublicKey) int {
		return slices.Compare(a[:], b[:])
	})
	return pick(s.chance, addresses...)
}
