package wallet_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// A keypair is written like Solana tools do: 64 bytes as a JSON array. Printing it shows the address only.
func ExampleParseKeypair() {
	keypair, err := wallet.ParseKeypair([]byte(`[
		174,47,154,16,202,193,206,113,199,190,53,133,169,175,31,56,222,53,138,189,224,216,117,173,10,149,53,45,
		73,251,237,246,15,185,186,82,177,240,148,69,241,227,167,80,141,89,240,121,121,35,172,247,68,251,226,218,
		48,63,176,109,168,89,238,135]`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(keypair)
	// Output: 24PNhTaNtomHhoy3fTRaMhAFCRj4uHqhZEEoWrKDbR5p
}

// A container reads the key from an environment variable, and hides it from child processes.
func ExampleFromEnvironment() {
	keypair, err := wallet.FromEnvironment("AGENT_KEYPAIR")
	if err != nil {
		log.Fatal(err)
	}
	_ = os.Unsetenv("AGENT_KEYPAIR")
	fmt.Println(keypair) // only the address
}

// The key is stored encrypted on disk.
func ExampleOpenEncrypted() {
	passphrase := os.Getenv("AGENT_PASSPHRASE")
	keypair, err := wallet.OpenEncrypted("agent.age", passphrase)
	if errors.Is(err, os.ErrNotExist) {
		if keypair, err = wallet.GenerateKeypair(); err == nil {
			err = wallet.CreateEncrypted("agent.age", passphrase, keypair)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(keypair)
}

// A wallet service signs. Every signature is checked to be of the requested message.
func ExampleNewRemote() {
	ctx := context.Background()
	signer, err := wallet.NewRemote(ctx, wallet.RemoteConfig{
		Endpoint:  "https://wallet.example/v1",
		APIKey:    os.Getenv("AGENT_API_KEY"),
		PublicKey: solana.MustPublicKeyFromBase58("4pXssUVLhmmxGQifWJybizi2rwVDxQDaSafDc4uLpTVu"),
	})
	if err != nil {
		log.Fatal(err)
	}
	var action *haggle.Action
	if _, err := action.Do(ctx, signer); errors.Is(err, wallet.ErrWrongSignature) {
		log.Fatal("the wallet service signed another message")
	}
}
