// Command postgres starts a PostgreSQL server for toolchain/schemathesis, with an empty database for each
// argument. It prints the address with %s in place of the database, and runs until the input ends.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "postgres:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, databases []string) (err error) {
	server, err := testpostgres.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	for _, name := range databases {
		if err := server.Execute(ctx, "CREATE DATABASE "+name); err != nil {
			return err
		}
	}
	fmt.Println(server.Address("%s"))
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
