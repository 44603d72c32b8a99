package localnet

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// Symbol is the symbol of Net.Mint: it marks a test token.
const Symbol = "TEST"

// mintName is Net.Mint's name in the metadata.
const mintName = "Haggle localnet test token"

// Layout of Token Metadata accounts. The program pads name, symbol and URI with zeros.
const (
	metadataLength       = 607
	metadataAccountType  = 4
	metadataNameLength   = 32
	metadataSymbolLength = 10
	metadataURILength    = 200
	// metadataLamports is the rent of the account: 6,960 lamports per byte, plus 128 bytes.
	metadataLamports = (metadataLength + 128) * 6_960
)

// metadata is the account with a mint's name and symbol. Local chains lack the Token Metadata program, so the
// account is written into the chain's state and not by a transaction.
type metadata struct {
	address solana.PublicKey
	data    []byte
}

func metadataOf(mint solana.PublicKey) (metadata, error) {
	address, _, err := solana.FindTokenMetadataAddress(mint)
	if err != nil {
		return metadata{}, err
	}
	data := make([]byte, 0, metadataLength)
	text := func(text string, length int) {
		data = binary.LittleEndian.AppendUint32(data, uint32(length))
		data = append(data, text...)
		data = append(data, make([]byte, length-len(text))...)
	}
	data = append(data, metadataAccountType)
	data = append(data, make([]byte, solana.PublicKeyLength)...) // no update authority
	data = append(data, mint.Bytes()...)
	text(mintName, metadataNameLength)
	text(Symbol, metadataSymbolLength)
	text("", metadataURILength)
	// All remaining fields are zero or absent.
	return metadata{address, data[:metadataLength]}, nil
}

// setMetadata writes mint metadata into the chain's state.
func (p *inProcess) setMetadata(mint solana.PublicKey) error {
	m, err := metadataOf(mint)
	if err != nil {
		return err
	}
	return p.ledger.SetAccount(m.address, engine.Account{
		Lamports: metadataLamports, Owner: solana.TokenMetadataProgramID, Data: m.data,
	})
}

// genesisMetadata returns solana-test-validator arguments for a new ledger with mint metadata. It writes a
// file to the directory.
func genesisMetadata(folder string, mint solana.PublicKey) ([]string, error) {
	m, err := metadataOf(mint)
	if err != nil {
		return nil, err
	}
	content, err := json.Marshal(map[string]any{"pubkey": m.address, "account": map[string]any{
		"lamports": metadataLamports, "owner": solana.TokenMetadataProgramID, "executable": false, "rentEpoch": 0,
		"data": []string{base64.StdEncoding.EncodeToString(m.data), "base64"},
	}})
	if err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "metadata.json")
	return []string{"--account", m.address.String(), path}, os.WriteFile(path, content, 0o600)
}
