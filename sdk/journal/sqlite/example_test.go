package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/journal/journaltest"
	"github.com/haggle-protocol/haggle/sdk/journal/sqlite"
)

// Several processes of one machine can open the file. A client writes its transactions to it.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "journal")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	store, err := sqlite.Open(filepath.Join(folder, "agents.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	client, err := haggle.NewClient(haggle.Config{Endpoint: "http://127.0.0.1:8899", Journal: store})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	unfinished, err := journaltest.Unfinished(context.Background(), store.OpenJournal(), journaltest.Wallet(1))
	fmt.Println(len(unfinished), "unfinished transactions", err)
	// Output: 0 unfinished transactions <nil>
}
