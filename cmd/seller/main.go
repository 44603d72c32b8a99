// Command seller is an example of an agent that sells a service: it waits for an invitation of one buyer,
// checks its terms, and concedes in equal steps from its opening price towards its reservation price.
// --strategy selects another strategy of package bargain.
//
//	seller --buyer ADDRESS --mint ADDRESS --opening 4.5 --reservation 3
//
// The SDK's package agent runs the negotiation; this program has Admit and Decide. After a restart it
// continues the open negotiation: its state is on chain, and its journal has the transactions that it was
// about to send.
package main

import (
	"os"

	"github.com/haggle-protocol/haggle/internal/cli/agentrun/seller"
)

func main() { seller.Main(os.Args[1:]) }
