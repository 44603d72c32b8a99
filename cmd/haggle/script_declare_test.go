package main

import (
	"context"
	"encoding/json"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/haggle-protocol/haggle/sdk/identity"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// declare appends a declaration to a file: declare KEYPAIR FILE STRATEGY MODEL.
func declare(ts *testscript.TestScript, _ bool, arguments []string) {
	if len(arguments) != 4 {
		ts.Fatalf("usage: declare KEYPAIR FILE STRATEGY MODEL")
	}
	key, err := wallet.LoadKeypairFile(ts.MkAbs(arguments[0]))
	ts.Check(err)
	d, err := identity.Declare(context.Background(), key, identity.Declaration{
		Strategy: arguments[2], Model: arguments[3], PromptHash: identity.PromptHash([]byte("Buy cheaply.")),
		DeclaredAt: 1,
	})
	ts.Check(err)
	file, err := os.OpenFile(ts.MkAbs(arguments[1]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	ts.Check(err)
	ts.Check(json.NewEncoder(file).Encode(d))
	ts.Check(file.Close())
}
