package journal_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/journal"
	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// A restarted agent first resolves the transactions of its earlier run.
func ExampleOpen() {
	var (
		ctx      context.Context
		endpoint string
		me       *wallet.Keypair
	)
	store, err := journal.Open("agent.journal")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint, Journal: store})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	recovered, err := client.Recover(ctx, me.PublicKey())
	if errors.Is(err, haggle.ErrUnresolved) {
		log.Fatal("no node can tell yet: try again later: ", err)
	}
	if err != nil {
		log.Fatal(err)
	}
	for _, one := range recovered {
		fmt.Println(one.Entry.Action, "on", one.Entry.Negotiation, "is", one.Outcome)
	}
}

// The journal itself takes entries and returns the unfinished ones. A client does this by itself.
func ExampleFile() {
	folder, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	store, err := journal.Open(filepath.Join(folder, "journal"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	ctx, wallet := context.Background(), solana.PublicKey{1}
	for _, action := range []string{"submit_offer", "accept_offer"} {
		entry := haggle.JournalEntry{Wallet: wallet, Action: action, Signature: solana.Signature{action[0]}, Transaction: []byte{1}}
		if err := store.Begin(ctx, entry); err != nil {
			log.Fatal(err)
		}
	}
	if err := store.Finish(ctx, solana.Signature{'s'}, transaction.Confirmed, true); err != nil {
		log.Fatal(err)
	}
	for entry, err := range store.Unfinished(ctx, wallet) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(entry.Action)
	}
	// Output: accept_offer
}
