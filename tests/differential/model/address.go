package model

import (
	"encoding/binary"

	"github.com/gagliardetto/solana-go"
)

// Address is an account address.
type Address = solana.PublicKey

// ProgramID is the program's address.
var ProgramID = solana.MustPublicKeyFromBase58("Hag1Z1rRT8aAUR9VbjNLdDQ2iSw8nkW3rtVfAHbe4JDT")

// Programs that the protocol calls, or reads accounts of.
var (
	systemProgram     = solana.SystemProgramID
	tokenProgram      = solana.TokenProgramID
	token2022Program  = solana.Token2022ProgramID
	associatedProgram = solana.SPLAssociatedTokenAccountProgramID
	upgradeableLoader = solana.BPFLoaderUpgradeableProgramID
)

// The wrapped SOL mints, one per token program.
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

// ConfigAddress returns the protocol configuration's address.
func ConfigAddress() Address { return configPDA.address }

// ProgramDataAddress returns the program's ProgramData account address.
func ProgramDataAddress() Address { return programDataPDA.address }

func NegotiationAddress(buyer, seller Address, sessionID uint64) Address {
	return deriveNegotiation(buyer, seller, sessionID).address
}

func VaultAddress(negotiation Address) Address { return deriveVault(negotiation).address }

// AssociatedAddress returns a wallet's associated token account address.
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

// storedVault recomputes a vault's address from the stored bump. It returns the zero address if the bump is
// not valid.
func storedVault(negotiation Address, bump uint8) Address {
	address, err := solana.CreateProgramAddress([][]byte{[]byte("vault"), negotiation[:], {bump}}, ProgramID)
	if err != nil {
		return Address{}
	}
	return address
}
