package differential

import (
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// mutation returns a change to accounts that a party, issuer or adversary can make outside the program.
func (s *scenario) mutation(session *session) step {
	party := pick(s.random, session.parties[:]...)
	tokens := session.currency.tokens[party]
	account := pick(s.random, tokens[:]...)
	return pickWeighted(s.random, []weighted[func() step]{
		{14, func() step { return s.freeze(mostly(s.random, 80, account, session.currency.treasury)) }},
		{16, func() step { return s.restoreAll() }},
		{10, func() step { return s.closeTokens(session, account, party) }},
		{8, func() step { return s.reassign(account, party) }},
		{14, func() step { return s.reopenAll() }},
		{6, func() step { return s.reopenForOtherMint(session, tokens[1], party) }},
		{10, func() step { return s.requireMemo(account, party) }},
		{12, func() step { return s.enableCPIGuard(account, party) }},
		{3, func() step { return s.addUnknownExtension(tokens[1], party) }},
		{8, func() step { return s.freeze(session.vault) }},
		{12, func() step { return s.approval(session) }},
		{8, func() step { return s.drain(session) }},
		{8, func() step { return s.donate(session) }},
		{5, func() step { return s.giveLamports(pick(s.random, session.vault, session.negotiation)) }},
		{8, func() step { return s.syncLamports(session) }},
		{4, func() step { return s.moveFunds(s.participants.buyer) }},
		{2, func() step { return s.saturateTotals() }},
	})()
}

// partyAccount is the address of a party's token account.
type partyAccount struct {
	address, owner model.Address
	currency       *currency
}

func (s *scenario) partyAccounts() []partyAccount {
	var accounts []partyAccount
	for _, cur := range s.participants.currencies {
		for _, owner := range []model.Address{s.participants.buyer, s.participants.seller} {
			for _, address := range cur.tokens[owner] {
				accounts = append(accounts, partyAccount{address, owner, cur})
			}
		}
	}
	return accounts
}

func (s *scenario) freeze(account model.Address) step {
	return step{description: "the issuer freezes " + s.participants.name(account), mutate: func(e *edit) {
		if isTokenAccount(e.account(account)) {
			e.put(account, withBytes(e.account(account), stateOffset, stateFrozen))
		}
	}}
}

// restoreAll removes all obstacles to payouts: the issuer thaws the accounts, and the owners disable their
// extensions. The owners mostly revoke delegates and close authorities too.
func (s *scenario) restoreAll() step {
	var accounts []model.Address
	for _, account := range s.partyAccounts() {
		accounts = append(accounts, account.address)
	}
	for _, session := range s.participants.sessions {
		accounts = append(accounts, session.vault, session.currency.treasury)
	}
	description := "all accounts are thawed, without required memos and CPI guards"
	revoke := s.percent(75)
	if revoke {
		description += ", delegates and close authorities"
	}
	return step{description: description, mutate: func(e *edit) {
		for _, account := range accounts {
			if !isTokenAccount(e.account(account)) {
				continue
			}
			e.put(account, withBytes(e.account(account), stateOffset, stateInitialized))
			for _, kind := range []uint16{memoTransfer, cpiGuard} {
				if at := extensionAt(e.account(account).Data, kind); at > 0 {
					e.put(account, withBytes(e.account(account), at, 0))
				}
			}
			if revoke {
				e.put(account, revoked(e.account(account)))
			}
		}
	}}
}

// closeTokens closes an owner's token account and gives the tokens to the adversary. Mostly it keeps accounts
// with large amounts, so that more negotiations can follow.
func (s *scenario) closeTokens(session *session, account, owner model.Address) step {
	evenLarge := s.percent(10)
	to := session.currency.adversary
	return step{description: "close of " + s.participants.name(account), actor: owner, mutate: func(e *edit) {
		if !isTokenAccount(e.account(account)) || mintOf(e.account(account)) != mintOf(e.account(to)) ||
			ownerOf(e.account(account)) != owner {
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

// reassign makes the adversary a token account's owner, unless the owner is immutable.
func (s *scenario) reassign(account, owner model.Address) step {
	adversary := s.participants.adversary
	description := "the adversary becomes owner of " + s.participants.name(account)
	return step{description: description, actor: owner, mutate: func(e *edit) {
		current := e.account(account)
		if isTokenAccount(current) && extensionAt(current.Data, immutableOwner) == 0 {
			e.put(account, withOwner(current, adversary))
		}
	}}
}

// reopenAll restores the parties' token accounts that are closed, or belong to another owner or mint.
func (s *scenario) reopenAll() step {
	accounts := s.partyAccounts()
	return step{description: "closed and lost accounts of the parties are restored", mutate: func(e *edit) {
		for _, account := range accounts {
			current := e.account(account.address)
			if !isTokenAccount(current) || mintOf(current) != account.currency.mint {
				e.put(account.address, account.reopened(e.environment.Rent))
			} else if ownerOf(current) != account.owner {
				e.put(account.address, withOwner(current, account.owner))
			}
		}
	}}
}

// reopened returns the account's state once created again.
func (p partyAccount) reopened(rent model.Rent) model.Account {
	var extensions []extension
	if p.currency.program == solana.Token2022ProgramID && p.address == p.currency.tokens[p.owner][0] {
		extensions = []extension{{immutableOwner, nil}}
	}
	return newTokenAccount(rent, p.currency.program, p.currency.mint, p.owner, 0, extensions...)
}

// reopenForOtherMint closes an empty account and opens it for another mint.
func (s *scenario) reopenForOtherMint(session *session, account, owner model.Address) step {
	other := s.participants.unsupported[1]
	description := s.participants.name(account) + " are reopened for another mint"
	return step{description: description, actor: owner, mutate: func(e *edit) {
		if isTokenAccount(e.account(account)) && amountOf(e.account(account)) == 0 {
			e.put(account, newTokenAccount(e.environment.Rent, other.program, other.mint, owner, 0))
		}
	}}
}

func (s *scenario) requireMemo(account, owner model.Address) step {
	description := s.participants.name(account) + " require a memo"
	return step{description: description, actor: owner, mutate: func(e *edit) {
		enableExtension(e, account, memoTransfer)
	}}
}

func (s *scenario) enableCPIGuard(account, owner model.Address) step {
	description := s.participants.name(account) + " get a CPI guard"
	return step{description: description, actor: owner, mutate: func(e *edit) {
		enableExtension(e, account, cpiGuard)
	}}
}

// transferFeeSize is the size of the extension that Token-2022 recognizes in a transfer.
const transferFeeSize = 8

// addUnknownExtension adds an extension unknown to the program, sometimes truncated.
func (s *scenario) addUnknownExtension(account, owner model.Address) step {
	kind := pick(s.random, uint16(transferFeeAmount), nonexistentExtension)
	value := make([]byte, pick(s.random, transferFeeSize, s.IntN(20)))
	cut := pick(s.random, 0, s.IntN(3))
	description := fmt.Sprintf("%s get extension %d", s.participants.name(account), kind)
	return step{description: description, actor: owner, mutate: func(e *edit) {
		if at := e.account(account); at.Owner == solana.Token2022ProgramID &&
			len(at.Data) == tokenAccountSize {
			data := withExtensions(at.Data, 2, extension{kind, value})
			e.put(account, reallocated(e.environment.Rent, at, data[:len(data)-min(cut, len(value))]))
		}
	}}
}

// enableExtension sets an extension's value to 1. To a Token-2022 account with no extensions it adds the
// extension.
func enableExtension(e *edit, address model.Address, kind uint16) {
	account := e.account(address)
	if !isTokenAccount(account) || account.Owner != solana.Token2022ProgramID {
		return
	}
	if at := extensionAt(account.Data, kind); at > 0 {
		e.put(address, withBytes(account, at, 1))
	} else if len(account.Data) == tokenAccountSize {
		data := withExtensions(account.Data, 2, extension{kind, []byte{1}})
		e.put(address, reallocated(e.environment.Rent, account, data))
	}
}

func (s *scenario) donate(session *session) step {
	amount := s.between(1, 20)
	from, vault := session.currency.adversary, session.vault
	description := fmt.Sprintf("the adversary donates %d to %s", amount, s.participants.name(vault))
	return step{description: description, actor: s.participants.adversary, mutate: func(e *edit) {
		if isTokenAccount(e.account(vault)) && mintOf(e.account(vault)) == session.currency.mint &&
			amountOf(e.account(from)) >= amount {
			e.transfer(from, vault, amount)
		}
	}}
}

func (s *scenario) giveLamports(to model.Address) step {
	lamports := s.between(1, 5_000_000)
	adversary := s.participants.adversary
	description := fmt.Sprintf("the adversary sends %d lamports to %s", lamports, s.participants.name(to))
	return step{description: description, actor: adversary, mutate: func(e *edit) {
		e.moveLamports(adversary, to, lamports)
	}}
}

// syncLamports synchronizes a wrapped SOL vault's tokens with the lamports, sometimes following a rent
// increase.
func (s *scenario) syncLamports(session *session) step {
	increase := pick(s.random, uint64(0), 0, s.between(1, 2_000_000))
	description := fmt.Sprintf("lamports of %s are synchronised, rent increase %d",
		s.participants.name(session.vault), increase)
	return step{description: description, mutate: func(e *edit) {
		vault := e.account(session.vault)
		reserve := e.environment.Rent.Exempt(tokenAccountSize) + increase
		if !isTokenAccount(vault) || vault.Data[nativeOffset] != 1 || vault.Lamports < reserve {
			return
		}
		e.put(session.vault, withNumber(withNumber(vault, reserveOffset, reserve), amountOffset,
			vault.Lamports-reserve))
	}}
}

// moveFunds moves nearly all lamports from a wallet to the arbiter, or back.
func (s *scenario) moveFunds(wallet model.Address) step {
	arbiter := s.participants.arbiter
	description := "the lamports of " + s.participants.name(wallet) + " move to the arbiter or back"
	return step{description: description, actor: wallet, mutate: func(e *edit) {
		if balance := e.account(wallet).Lamports; balance > startingLamports/2 {
			e.moveLamports(wallet, arbiter, balance-1_000_000)
		} else {
			e.moveLamports(arbiter, wallet, e.account(arbiter).Lamports-startingLamports)
		}
	}}
}

// saturateTotals sets the totals of the configuration close to their limits.
func (s *scenario) saturateTotals() step {
	return step{description: "the totals of the configuration are close to 2^64", mutate: func(e *edit) {
		account := e.account(s.participants.config)
		if config, ok := model.ReadConfig(account.Data); ok {
			config.TotalSettledVolume, config.TotalFeesCollected = 1<<64-2, 1<<64-2
			account.Data = config.Bytes()
			e.put(s.participants.config, account)
		}
	}}
}
