// Package result names instruction effects, as in every output of the project.
package result

import "github.com/haggle-protocol/haggle/sdk/protocol"

// Of returns an instruction's effect: "offer accepted" for "accept_offer". Unknown instructions are returned
// by name.
func Of(instruction string) string {
	if known, ok := protocol.NewInstruction(instruction); ok {
		return known.Effects().Result
	}
	return instruction
}
