// Command buyer is an example of an agent that buys a service: it escrows its highest price, invites one
// seller, and concedes in equal steps from its opening price towards its reservation price. --strategy selects
// another strategy of package bargain.
//
//	buyer --seller ADDRESS --mint ADDRESS --escrow 5 --opening 2 --reservation 3.5
//
// The SDK's package agent runs the negotiation; this program has Decide. After a restart it continues the
// open negotiation: its state is on chain, and its journal has the transactions that it was about to send.
package main

import (
	"os"

	"github.com/haggle-protocol/haggle/internal/cli/agentrun/buyer"
)

func main() { buyer.Main(os.Args[1:]) }
