package protocol_test

import (
	"github.com/haggle-protocol/haggle/sdk/internal/anchor"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// benchreport adds this file to sdk/protocol by an overlay, with the generated package anchor.
func init() {
	anchorGo.decodeAccount = func(data []byte) error {
		_, err := anchor.ParseAnyAccount(data)
		return err
	}
	anchorGo.decodeEvent = func(data []byte) error {
		_, err := anchor.ParseAnyEvent(data)
		return err
	}
	anchorGo.build = map[string]func(protocol.AnyInstruction) error{
		"submit_offer": func(instruction protocol.AnyInstruction) error {
			ix := instruction.(*protocol.SubmitOffer)
			_, err := anchor.NewSubmitOfferInstruction(ix.CreatedAt, ix.ExpectedRound, ix.Amount, ix.DeadlineExtension, ix.Metadata,
				ix.Offerer, ix.Negotiation)
			return err
		},
		"accept_offer": func(instruction protocol.AnyInstruction) error {
			ix := instruction.(*protocol.AcceptOffer)
			_, err := anchor.NewAcceptOfferInstruction(ix.CreatedAt, ix.ExpectedRound, ix.ExpectedAmount, ix.ExpectedMetadata,
				ix.Acceptor, ix.Negotiation, ix.EscrowVault, ix.BuyerTokenAccount, ix.SellerTokenAccount, ix.TokenMint,
				ix.TokenProgram)
			return err
		},
		"reject_negotiation": func(instruction protocol.AnyInstruction) error {
			ix := instruction.(*protocol.RejectNegotiation)
			_, err := anchor.NewRejectNegotiationInstruction(ix.CreatedAt, ix.ExpectedRound,
				ix.Rejector, ix.Negotiation, ix.EscrowVault, ix.BuyerTokenAccount, ix.SellerTokenAccount, ix.TokenMint,
				ix.TokenProgram)
			return err
		},
		"claim_payout": func(instruction protocol.AnyInstruction) error {
			ix := instruction.(*protocol.ClaimPayout)
			_, err := anchor.NewClaimPayoutInstruction(ix.CreatedAt, ix.Amount,
				ix.Party, ix.Negotiation, ix.EscrowVault, ix.DestinationTokenAccount, ix.TokenMint, ix.TokenProgram)
			return err
		},
	}
}
