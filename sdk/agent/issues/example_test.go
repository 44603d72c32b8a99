package issues_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"log"
	"os"

	"github.com/haggle-protocol/haggle/sdk/agent/issues"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
)

// A party writes an offer's document to the shared directory; the counterparty reads it.
func ExampleFolder() {
	path, err := os.MkdirTemp("", "documents-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(path)
	domain, err := bargain.NewDomain(
		bargain.Price("price", 1_000_000, 4_000_000, 10_000), bargain.Integer("days", 1, 30))
	if err != nil {
		log.Fatal(err)
	}
	text, hash, err := terms.Write(domain, domain.Outcome(150, 6))
	if err != nil {
		log.Fatal(err)
	}
	shared := issues.Folder{Path: path}
	if err := shared.Put(context.Background(), hex.EncodeToString(hash[:])+".json", text); err != nil {
		log.Fatal(err)
	}
	read, err := shared.Get(context.Background(), hex.EncodeToString(hash[:])+".json")
	fmt.Println(string(read), err)
	// Output: {"issues":{"days":"7","price":"2500000"},"version":"haggle-terms-v1"} <nil>
}
