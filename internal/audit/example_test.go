package audit_test

import (
	"encoding/json"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/audit"
)

// A product stores the links and the new head. Everybody with an export can check it.
func ExampleAppend() {
	links, head, err := audit.Append(audit.Head{Chain: "conversation-7"},
		audit.Entry{Kind: "message", Data: json.RawMessage(`{"text":"1500?"}`)},
		audit.Entry{Kind: "message", Data: json.RawMessage(`{"text":"1800"}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	verified, finding := audit.VerifyChain(head.Chain, links)
	fmt.Println(verified == head, verified.Length, finding == nil)

	_, finding = audit.VerifyChain(head.Chain, links[1:])
	fmt.Println(finding)
	// Output:
	// true 2 true
	// chain conversation-7: entry 1 missing: the next entry is 2
}
