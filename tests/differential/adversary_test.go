package differential

import (
	"encoding/binary"
	"fmt"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// approval returns a change of a token account's delegate or close authority by the owner: a party, the
// treasury, or the adversary.
func (s *scenario) approval(session *session) step {
	cur := session.currency
	party := pick(s.random, session.parties[:]...)
	tokens := cur.tokens[party]
	account, owner := mostly(s.random, 75, pick(s.random, tokens[:]...), cur.treasury, cur.adversary,
		cur.traps[party]), party
	switch account {
	case cur.treasury:
		owner = s.participants.treasury
	case cur.adversary:
		owner = s.participants.adversary
	}
	authority := s.authorityFor(owner, session)
	return pickWeighted(s.random, []weighted[func() step]{
		{40, func() step { return s.approve(account, owner, authority) }},
		{30, func() step { return s.setCloseAuthority(account, owner, authority) }},
		{30, func() step { return s.revoke(account, owner) }},
	})()
}

// authorityFor returns a delegate or close authority: mostly the adversary, otherwise a party, the owner
// itself or the arbiter.
func (s *scenario) authorityFor(owner model.Address, session *session) model.Address {
	return mostly(s.random, 70, s.participants.adversary, session.parties[0], session.parties[1], owner,
		s.participants.arbiter)
}

// approve makes an authority a token account's delegate. Mostly the amount is small, so that the adversary
// cannot end the sequence by draining all funds.
func (s *scenario) approve(account, owner, delegate model.Address) step {
	amount := pick(s.random, 0, 1, s.between(1, 10_000), s.between(1, 10_000), s.between(1, 10_000), 1<<64-1)
	description := fmt.Sprintf("%s become delegated to %s, amount %d", s.participants.name(account),
		s.participants.name(delegate), amount)
	return step{description: description, actor: owner, mutate: func(e *edit) {
		if controls(e.account(account), owner) {
			e.put(account, withNumber(withOption(e.account(account), delegateOffset, delegate),
				delegatedAmountOffset, amount))
		}
	}}
}

func (s *scenario) setCloseAuthority(account, owner, authority model.Address) step {
	description := fmt.Sprintf("%s get the close authority %s", s.participants.name(account),
		s.participants.name(authority))
	return step{description: description, actor: owner, mutate: func(e *edit) {
		if controls(e.account(account), owner) {
			e.put(account, withOption(e.account(account), closeAuthorityOffset, authority))
		}
	}}
}

// revoke removes a token account's delegate and close authority.
func (s *scenario) revoke(account, owner model.Address) step {
	description := s.participants.name(account) + " lose delegate and close authority"
	return step{description: description, actor: owner, mutate: func(e *edit) {
		if controls(e.account(account), owner) {
			e.put(account, revoked(e.account(account)))
		}
	}}
}

// controls reports whether an account is an owner's token account, not frozen by the issuer.
func controls(account model.Account, owner model.Address) bool {
	return isTokenAccount(account) && ownerOf(account) == owner &&
		account.Data[stateOffset] == stateInitialized
}

func revoked(account model.Account) model.Account {
	account = withoutOption(withoutOption(account, delegateOffset), closeAuthorityOffset)
	return withNumber(account, delegatedAmountOffset, 0)
}

// withOwner returns the account with another owner. As in the token programs, the delegate is removed, and
// for wrapped SOL the close authority too.
func withOwner(account model.Account, owner model.Address) model.Account {
	account = withBytes(account, ownerOffset, owner[:]...)
	account = withNumber(withoutOption(account, delegateOffset), delegatedAmountOffset, 0)
	if account.Data[nativeOffset] == 1 {
		account = withoutOption(account, closeAuthorityOffset)
	}
	return account
}

// drain takes tokens from all accounts using this currency with the adversary as delegate, and closes the
// empty accounts with the adversary as close authority.
func (s *scenario) drain(session *session) step {
	cur, adversary := session.currency, s.participants.adversary
	accounts := []model.Address{cur.treasury, cur.traps[session.parties[0]], cur.traps[session.parties[1]]}
	for _, account := range s.partyAccounts() {
		accounts = append(accounts, account.address)
	}
	description := "the adversary uses its approvals of " + s.participants.name(cur.mint)
	return step{description: description, actor: adversary, mutate: func(e *edit) {
		for _, address := range accounts {
			account := e.account(address)
			if isTokenAccount(account) && mintOf(account) == cur.mint &&
				account.Data[stateOffset] == stateInitialized {
				drainAsDelegate(e, address, cur.adversary, adversary)
				closeAsAuthority(e, address, adversary)
			}
		}
	}}
}

// drainAsDelegate moves at most 10,000 base units, so that the sequence can go on.
func drainAsDelegate(e *edit, from, to, adversary model.Address) {
	account := e.account(from)
	delegate, ok := optionAt(account, delegateOffset)
	if !ok || delegate != adversary || !isTokenAccount(e.account(to)) || from == to {
		return
	}
	delegated := binary.LittleEndian.Uint64(account.Data[delegatedAmountOffset:])
	amount := min(delegated, amountOf(account), 10_000)
	if amount == 0 {
		return
	}
	account = withNumber(account, delegatedAmountOffset, delegated-amount)
	if delegated == amount {
		account = withoutOption(account, delegateOffset)
	}
	e.put(from, account)
	e.transfer(from, to, amount)
}

// closeAsAuthority closes an account and takes the lamports. Only a wrapped SOL account can be closed with a
// balance, which must be small here so that the sequence can go on.
func closeAsAuthority(e *edit, address, adversary model.Address) {
	account := e.account(address)
	authority, ok := optionAt(account, closeAuthorityOffset)
	if !ok || authority != adversary {
		return
	}
	amount := amountOf(account)
	if amount == 0 || account.Data[nativeOffset] == 1 && amount <= 10_000 {
		e.moveLamports(address, adversary, account.Lamports)
		e.put(address, model.Account{})
	}
}

// optionAt reads an optional address in an account's data.
func optionAt(account model.Account, offset int) (address model.Address, ok bool) {
	return model.Address(account.Data[offset+4:][:32]), binary.LittleEndian.Uint32(account.Data[offset:]) != 0
}
