package jsonrpc_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/jsonrpc"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

func Example() {
	ctx := context.Background()
	module, err := engine.Compile(ctx, "") // or a directory that keeps the compiled module
	if err != nil {
		log.Fatal(err)
	}
	defer module.Close()
	chain, err := ledger.New(ctx, ledger.Options{Module: module})
	if err != nil {
		log.Fatal(err)
	}
	defer chain.Close()
	server := jsonrpc.New(chain)
	defer server.Close()
	server.Run(50 * time.Millisecond)

	version, err := server.Client().GetVersion(ctx) // no port; see Server.Listen for other programs
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(version.SolanaCore)
	// Output: 4.2.2
}
