package indexer

import (
	"os"
	"testing"

	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

// server runs PostgreSQL for all tests. Each test uses separate databases.
var server *testpostgres.Server

// childVariable is set in an indexer process to be killed.
const childVariable = "HAGGLE_TEST_INDEXER"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	os.Exit(testpostgres.Run(m, &server))
}
