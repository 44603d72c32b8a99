// Command seller is an example agent that sells a service: it waits for a given buyer's invitation, checks
// the terms, and concedes in equal steps from the opening price towards the reservation price. --strategy
// selects another strategy of package bargain.
//
//	seller --buyer ADDRESS --mint ADDRESS --opening 4.5 --reservation 3
//
// The SDK's package agent runs the negotiation; this program has Admit and Decide. Once restarted, it
// continues the open negotiation: the negotiation state is on chain, and the journal holds the unsent
// transactions.
package main

import (
	"os"

	"github.com/haggle-protocol/haggle/internal/cli/agentrun/seller"
)

func main() { seller.Main(os.Args[1:]) }
