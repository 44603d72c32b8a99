// Package result names the effect of each instruction, as every output of the project does.
package result

import "github.com/haggle-protocol/haggle/sdk/protocol"

// Of returns the effect of an instruction: "offer accepted" for "accept_offer". It returns the instruction's
// name if that is unknown.
func Of(instruction string) string {
	if known, ok := protocol.NewInstruction(instruction); ok {
		return known.Effects().Result
	}
	return instruction
}
