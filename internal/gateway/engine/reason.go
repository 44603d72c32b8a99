package engine

import "strings"

// Reasons for answers and for negotiation ends. Clients receive them; they are the rules' own sentences, and
// contain no strategy numbers and no language model text. A counter offer can have several, joined by "; ".
const (
	ReasonAccepted    = "Terms accepted"
	ReasonApproval    = "Terms agreed, waiting for the publisher's approval"
	ReasonFloor       = "Price below minimum threshold"
	ReasonDealBreaker = "Not acceptable to the publisher: "
	ReasonPurposes    = "Purposes not allowed"
	ReasonTTL         = "Token lifetime outside the publisher's range"
	ReasonRPS         = "Burst rate outside the publisher's range"
	ReasonPrice       = "Price below the publisher's offer"
	ReasonRounds      = "Maximum rounds reached without agreement"
	ReasonInactive    = "No activity before the deadline"
	ReasonNotApproved = "No approval before the deadline"
	ReasonRefused     = "The publisher refused the agreement"
	ReasonPending     = "The publisher answers later"
	// The reasons of [Leave] end with the party's reason.
	ReasonClientLeft    = "The client left the negotiation: "
	ReasonPublisherLeft = "The publisher left the negotiation: "
	// A bundle's publisher agrees with the first of these reasons before the others do, and with the second
	// if it must approve the agreement.
	ReasonBundle         = "Terms agreed, waiting for the other publishers of the bundle"
	ReasonBundleApproval = "Terms agreed; accept them alone, because the publisher must approve them"
)

// ReasonCode is a reason for programs.
type ReasonCode string

// The codes.
const (
	// CodeAccepted: the terms are agreed.
	CodeAccepted ReasonCode = "accepted"
	// CodeApproval: the terms are agreed, and the publisher must approve them.
	CodeApproval ReasonCode = "approval_required"
	// CodeFloor: the price is lower than the published floor.
	CodeFloor ReasonCode = "price_below_floor"
	// CodeDealBreaker: the publisher does not negotiate about a value. The reason names the field.
	CodeDealBreaker ReasonCode = "deal_breaker"
	// CodePurposes, CodeTTL and CodeRPS: the counter offer changes the purposes, token lifetime, or burst
	// rate.
	CodePurposes ReasonCode = "purposes_not_allowed"
	CodeTTL      ReasonCode = "token_ttl_out_of_range"
	CodeRPS      ReasonCode = "burst_rps_out_of_range"
	// CodePrice: the counter offer's price is higher.
	CodePrice ReasonCode = "price_below_offer"
	// CodeRounds: the strategy answers no further proposals.
	CodeRounds ReasonCode = "rounds_used_up"
	// CodeInactive and CodeNotApproved: the deadline for activity, or for the approval, has passed.
	CodeInactive    ReasonCode = "no_activity"
	CodeNotApproved ReasonCode = "no_approval"
	// CodeRefused: the publisher refused the agreement.
	CodeRefused ReasonCode = "approval_refused"
	// CodePending: the answer does not exist yet. The negotiation has it later.
	CodePending ReasonCode = "answer_pending"
	// CodeClientLeft and CodePublisherLeft: the party ended the negotiation. The reason contains the
	// [LeaveReason].
	CodeClientLeft    ReasonCode = "client_left"
	CodePublisherLeft ReasonCode = "publisher_left"
	// CodeBundle: the offer contains the client's terms, and further publishers in the bundle have not agreed
	// yet.
	CodeBundle ReasonCode = "bundle_incomplete"
	// CodeBundleApproval: the offer contains the client's terms, and the client must accept it alone, because
	// the publisher must approve it.
	CodeBundleApproval ReasonCode = "bundle_approval_required"
)

// codes lists the codes of all reasons. Reasons that end with a space continue.
var codes = []struct {
	reason string
	code   ReasonCode
}{
	{ReasonAccepted, CodeAccepted}, {ReasonApproval, CodeApproval}, {ReasonFloor, CodeFloor},
	{ReasonDealBreaker, CodeDealBreaker}, {ReasonPurposes, CodePurposes}, {ReasonTTL, CodeTTL}, {ReasonRPS, CodeRPS},
	{ReasonPrice, CodePrice}, {ReasonRounds, CodeRounds}, {ReasonInactive, CodeInactive},
	{ReasonNotApproved, CodeNotApproved}, {ReasonRefused, CodeRefused}, {ReasonPending, CodePending}, {ReasonClientLeft, CodeClientLeft},
	{ReasonPublisherLeft, CodePublisherLeft}, {ReasonBundle, CodeBundle}, {ReasonBundleApproval, CodeBundleApproval},
}

// ReasonCodes returns all codes.
func ReasonCodes() []ReasonCode {
	list := make([]ReasonCode, len(codes))
	for at, known := range codes {
		list[at] = known.code
	}
	return list
}

// CodesOf returns a reason's codes. The database stores only the sentences, so that CodesOf works for old and
// new records; a reason from the rules contains at least one code.
func CodesOf(reason string) []ReasonCode {
	for _, known := range codes {
		open := strings.HasSuffix(known.reason, " ")
		if reason == known.reason || open && strings.HasPrefix(reason, known.reason) {
			return []ReasonCode{known.code}
		}
	}
	first, others, several := strings.Cut(reason, "; ")
	if !several {
		return nil
	}
	return append(CodesOf(first), CodesOf(others)...)
}
