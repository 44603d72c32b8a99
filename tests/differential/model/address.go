package model

import (
	"encoding/binary"

	"github.com/gagliardetto/solana-go"
)

// Address identifies an account.
type Address = solana.PublicKey

// ProgramID is the program ID.
var ProgramID = solana.MustPublicKeyFromBase58("Hag1Z1rRT8aAUR9VbjNLdDQ2iSw8nkW3rtVfAHbe4JDT")

// Programs that the protocol calls, or reads accounts of.
var (
	systemProgram     = solana.SystemProgramID
	tokenProgram      = solana.TokenProgramID
	token2022Program  = solana.Token2022ProgramID
	associatedProgram = solana.SPLAssociatedTokenAccountProgramID
	upgradeableLoader = solana.BPFLoaderUpgradeableProgramID
)

// The wrapped SOL mints, one per program.
var (
	WrappedSOL     = solana.MustPublicKeyFromBase58("So11111111111111111111111111111111111111112")
	WrappedSOL2022 = solana.MustPublicKeyFromBase58("9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXejP")
)

func isWrappedSOL(mint Address) bool { return mint == WrappedSOL || mint == WrappedSOL2022 }

type derived struct {
	address Address
	bump    uint8
}

func derive(program Address, seeds ...[]byte) derived {
	address, bump, err := solana.FindProgramAddress(seeds, program)
	if err != nil {
		panic(err) // The probability is 2^-255.
	}
	return derived{address, bump}
}

var (
	configPDA      = derive(ProgramID, []byte("config"))
	programDataPDA = derive(upgradeableLoader, ProgramID[:])
)

// ConfigAddress returns the protocol configuration PDA.
func ConfigAddress() Address { return configPDA.address }

// ProgramDataAddress returns the ProgramData account's address.
func ProgramDataAddress() Address { return programDataPDA.address }

func NegotiationAddress(buyer, seller Address, sessionID uint64) Address {
	return deriveNegotiation(buyer, seller, sessionID).address
}

func VaultAddress(negotiation Address) Address { return deriveVault(negotiation).address }

// AssociatedAddress derives a wallet's associated token account.
func AssociatedAddress(wallet, program, mint Address) Address {
	return derive(associatedProgram, wallet[:], program[:], mint[:]).address
}

func deriveNegotiation(buyer, seller Address, sessionID uint64) derived {
	id := binary.LittleEndian.AppendUint64(nil, sessionID)
	return derive(ProgramID, []byte("negotiation"), buyer[:], seller[:], id)
}

func deriveVault(negotiation Address) derived {
	return derive(ProgramID, []byte("vault"), negotiation[:])
}

// storedVault derives a vault from the stored bump. For an invalid bump it returns zeros.
func storedVault(negotiation Address, bump uint8) Address {
	address, err := solana.CreateProgramAddress([][]byte{[]byte("vault"), negotiation[:], {bump}}, ProgramID)
	if err != nil {
		return Address{}
	}
	return address
}
