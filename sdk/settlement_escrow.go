package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// checkEscrow denies the agreement unless the node shows the agreed price in the vault.
func (s *settlementReader) checkEscrow(ctx context.Context) error {
	vault, _, err := protocol.FindVaultAddress(s.Negotiation)
	if err != nil {
		return err
	}
	accounts, slot, err := s.accounts(ctx, s.Negotiation, vault)
	if err != nil {
		return err
	}
	n, err := s.checkAgreement(accounts[0])
	if err != nil {
		return err
	}
	if accounts[1] == nil {
		return disproved("vault %s does not exist", vault)
	}
	held, err := token.DecodeAccount(vault, accounts[1], slot)
	switch {
	case err != nil || held.Owner != s.Negotiation || held.Mint != s.Mint || held.HasOtherAuthority:
		return disproved("account %s is not the negotiation's vault", vault)
	case held.State != token.StateInitialized:
		return denied("vault %s is frozen", vault)
	}
	// The vault pays recorded payouts before the tranches.
	left := held.Amount
	for _, owed := range []uint64{n.Undecided(), n.FeeOn(n.PaidGross), n.Decay(), n.HeldBond(), n.ClaimableBuyer,
		n.ClaimableSeller} {
		if left < owed {
			return disproved("vault %s holds %d base units, less than it owes", vault, held.Amount)
		}
		left -= owed
	}
	return nil
}

// checkAgreement denies the agreement unless the negotiation is agreed as expected.
func (s *settlementReader) checkAgreement(account *rpc.Account) (*Snapshot, error) {
	if account == nil {
		return nil, denied("no negotiation is at the address")
	}
	n, err := decodeNegotiation(s.Negotiation, account, 0)
	switch {
	case err != nil:
		return nil, disproved("negotiation account cannot be decoded")
	case n.CreatedAt > s.CreatedAt:
		return nil, disproved("a later negotiation is at the address")
	case n.CreatedAt < s.CreatedAt:
		return nil, denied("negotiation is still the previous one")
	case n.IsOver():
		return nil, disproved("status is %s", n.Status)
	case !n.IsAgreed():
		return nil, denied("status is %s", n.Status)
	case n.Seller != s.Seller || n.TokenMint != s.Mint || n.SettledAmount != s.Price:
		return nil, disproved("seller %s has agreed on %d base units of mint %s", n.Seller, n.SettledAmount, n.TokenMint)
	}
	return n, nil
}
