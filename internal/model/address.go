package model

import (
	"encoding/binary"

	"github.com/gagliardetto/solana-go"
)

// ProgramID is where the program is deployed.
var ProgramID = solana.MustPublicKeyFromBase58("Hag1Z1rRT8aAUR9VbjNLdDQ2iSw8nkW3rtVfAHbe4JDT")

// Programs that the protocol calls or whose accounts it reads.
var (
	systemProgram     = solana.SystemProgramID
	tokenProgram      = solana.TokenProgramID
	token2022Program  = solana.Token2022ProgramID
	associatedProgram = solana.SPLAssociatedTokenAccountProgramID
	upgradeableLoader = solana.BPFLoaderUpgradeableProgramID
)

// The mints of wrapped SOL, one for each token program.
var (
	WrappedSOL     = solana.MustPublicKeyFromBase58("So11111111111111111111111111111111111111112")
	WrappedSOL2022 = solana.MustPublicKeyFromBase58("9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP")
)

func isWrappedSOL(mint Address) bool { return mint == WrappedSOL || mint == WrappedSOL2022 }

// derived is an address that a program derives from seeds.
type derived struct {
	address Address
	bump    uint8
}

func derive(program Address, seeds ...[]byte) derived {
	address, bump, err := solana.FindProgramAddress(seeds, program)
	if err != nil {
		panic(err) // One in 2^255 seeds has no address.
	}
	return derived{address, bump}
}

var (
	configAddress      = derive(ProgramID, []byte("config"))
	programDataAddress = derive(upgradeableLoader, ProgramID[:])
)

func negotiationAddress(buyer, seller Address, sessionID uint64) derived {
	return derive(ProgramID, []byte("negotiation"), buyer[:], seller[:], binary.LittleEndian.AppendUint64(nil, sessionID))
}

func vaultAddress(negotiation Address) derived {
	return derive(ProgramID, []byte("vault"), negotiation[:])
}

// storedVaultAddress is the vault of a negotiation that knows its vault's bump. A bump that is none leads nowhere.
func storedVaultAddress(negotiation Address, bump uint8) Address {
	address, err := solana.CreateProgramAddress([][]byte{[]byte("vault"), negotiation[:], {bump}}, ProgramID)
	if err != nil {
		return Address{}
	}
	return address
}

// associatedAddress is a wallet's associated token account.
func associatedAddress(wallet, program, mint Address) Address {
	return derive(associatedProgram, wallet[:], program[:], mint[:]).address
}
