// Command buyer is an example agent that buys a service: it escrows the highest price, invites one seller,
// and concedes in equal steps from the opening price towards the reservation price. --strategy selects
// another strategy of package bargain.
//
//	buyer --seller ADDRESS --mint ADDRESS --escrow 5 --opening 2 --reservation 3.5
//
// The SDK's package agent runs the negotiation; this program has Decide. Once restarted, it continues the
// open negotiation: the negotiation state is on chain, and the journal holds the unsent transactions.
package main

import (
	"os"

	"github.com/haggle-protocol/haggle/internal/cli/agentrun/buyer"
)

func main() { buyer.Main(os.Args[1:]) }
