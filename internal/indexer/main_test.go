package indexer

import (
	"os"
	"testing"

	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

// server is the PostgreSQL server of all tests. Each test has its own databases.
var server *testpostgres.Server

// childVariable is set in the process of an indexer that is killed.
const childVariable = "HAGGLE_TEST_INDEXER"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	os.Exit(testpostgres.Run(m, &server))
}
