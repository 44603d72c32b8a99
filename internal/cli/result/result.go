// Package result names the effect of each instruction, as every output of the project does.
package result

// effects are the effects by the instructions' names in the IDL.
var effects = map[string]string{
	"initialize_config": "configuration initialized",
	"update_config":     "configuration updated",
	"set_paused":        "pause set",
	"propose_authority": "authority proposed",
	"accept_authority":  "authority accepted",

	"create_negotiation": "created",
	"accept_invitation":  "invitation accepted",
	"submit_offer":       "offered",
	"accept_offer":       "offer accepted",
	"reject_negotiation": "rejected",
	"expire_negotiation": "expired",
	"close_negotiation":  "closed",
	"claim_payout":       "payout claimed",

	"submit_zopa_commitment": "price committed",
	"reveal_zopa_price":      "price revealed",

	"claim_milestone":     "milestone claimed",
	"release_milestone":   "milestone released",
	"dispute_milestone":   "milestone disputed",
	"resolve_dispute":     "dispute resolved",
	"settle_deadline":     "settled at the deadline",
	"settle_by_agreement": "settled by agreement",
}

// Of returns the effect of an instruction: "offer accepted" for "accept_offer". It returns the instruction's
// name if that is unknown.
func Of(instruction string) string {
	if effect, known := effects[instruction]; known {
		return effect
	}
	return instruction
}
