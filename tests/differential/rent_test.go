package differential

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// isRentRefused reports whether the runtime refuses a transaction with such changes, whatever the program
// returns: a transaction must not leave an account with less than the rent exemption, unless the account held
// less before and receives nothing (transition_allowed in solana-svm). A poor buyer that pays the rest of the
// rent for a prefunded negotiation could cause this.
func isRentRefused(environment *model.Environment, changed map[model.Address]model.Account) bool {
	for address, after := range changed {
		before := environment.Accounts[address]
		if !isRentPaying(environment.Rent, after) {
			continue
		}
		if !isRentPaying(environment.Rent, before) || len(before.Data) != len(after.Data) ||
			after.Lamports > before.Lamports {
			return true
		}
	}
	return false
}

// isRentPaying reports whether an existing account holds less than the rent exemption.
func isRentPaying(rent model.Rent, account model.Account) bool {
	return account.Lamports > 0 && account.Lamports < rent.Exempt(len(account.Data))
}

func TestRuntimeRefusesRentPayingAccounts(t *testing.T) {
	rent := model.Rent{Empty: 100, PerByte: 1}
	for name, c := range map[string]struct {
		before, after model.Account
		refused       bool
	}{
		"stays exempt":               {model.Account{Lamports: 110}, model.Account{Lamports: 100}, false},
		"becomes rent paying":        {model.Account{Lamports: 110}, model.Account{Lamports: 99}, true},
		"is created rent paying":     {model.Account{}, model.Account{Lamports: 99}, true},
		"is emptied":                 {model.Account{Lamports: 110}, model.Account{}, false},
		"pays while rent paying":     {model.Account{Lamports: 99}, model.Account{Lamports: 98}, false},
		"receives while rent paying": {model.Account{Lamports: 98}, model.Account{Lamports: 99}, true},
		"becomes exempt":             {model.Account{Lamports: 98}, model.Account{Lamports: 100}, false},
		"grows while rent paying":    {model.Account{Lamports: 99}, model.Account{Lamports: 99, Data: []byte{1}}, true},
	} {
		environment := &model.Environment{Rent: rent, Accounts: map[model.Address]model.Account{{1}: c.before}}
		changed := map[model.Address]model.Account{{1}: c.after}
		require.Equal(t, c.refused, isRentRefused(environment, changed), name)
	}
}
