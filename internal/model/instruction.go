package model

import (
	"slices"
	"strings"
)

// must is what the account in a place must be before the instruction looks at it.
type must uint8

const (
	anything must = iota
	aNegotiation
	theConfig
	nothingYet
	aMint
	theLoaders
)

// place is an account's place in an instruction.
type place struct {
	name                       string
	signer, writable, optional bool
	must                       must
}

// rule is an instruction: its name, the size of its arguments, where among these is a flag (0 or 1), its accounts, and what
// it does.
type rule struct {
	name      string
	arguments int
	flags     []int
	places    []place
	run       func(*call) error
}

// places reads accounts written as "buyer sw", with s for signs, w for written to and ? for optional, and what it must be.
func places(lines ...any) []place {
	var all []place
	for _, line := range lines {
		switch v := line.(type) {
		case string:
			name, flags, _ := strings.Cut(v, " ")
			all = append(all, place{
				name:     name,
				signer:   strings.Contains(flags, "s"),
				writable: strings.Contains(flags, "w"),
				optional: strings.Contains(flags, "?"),
			})
		case must:
			all[len(all)-1].must = v
		}
	}
	return all
}

const addressSize = 32

// rules are the instructions by their discriminators.
var rules = map[string]*rule{}

func init() {
	negotiation := []any{"negotiation w", aNegotiation}
	config := []any{"config w", theConfig}
	with := func(lines ...any) []place {
		var flat []any
		for _, line := range lines {
			if group, ok := line.([]any); ok {
				flat = append(flat, group...)
			} else {
				flat = append(flat, line)
			}
		}
		return places(flat...)
	}
	settings := addressSize + 2 + 8 + 2 + 1
	params := 8 + 32 + 1 + 2 + 8 + 8 + 2 + 1 + 8 + 32 + 1 + 16 + 8 + 64
	for _, r := range []rule{
		{"initialize_config", settings, nil, with("authority sw", "config w", nothingYet, "program_data", theLoaders, "system_program"), (*call).initializeConfig},
		{"update_config", settings, nil, with("authority s", config), (*call).updateConfig},
		{"set_paused", 1, []int{0}, with("authority s", config), (*call).setPaused},
		{"propose_authority", addressSize, nil, with("authority s", config), (*call).proposeAuthority},
		{"accept_authority", 0, nil, with("authority s", config), (*call).acceptAuthority},
		{"create_negotiation", 8 + params, []int{8 + 61}, with("buyer sw", "seller", "negotiation w", nothingYet, "escrow_vault w", nothingYet,
			"buyer_token_account w", "token_mint", aMint, "config", theConfig, "token_program", "system_program"), (*call).createNegotiation},
		{"accept_invitation", 32, nil, with("seller s", negotiation, "escrow_vault w?", "seller_token_account w?", "token_mint ?", "token_program ?"), (*call).acceptInvitation},
		{"submit_offer", 1 + 8 + 4 + 64, nil, with("offerer s", negotiation), (*call).submitOffer},
		{"accept_offer", 1 + 8 + 64, nil, with("acceptor s", negotiation, "escrow_vault w", "buyer_token_account w", "seller_token_account w", "token_mint", "token_program"), (*call).acceptOffer},
		{"reject_negotiation", 1, nil, with("rejector s", negotiation, "escrow_vault w", "buyer_token_account w", "seller_token_account w?", "token_mint", "token_program"), (*call).rejectNegotiation},
		{"expire_negotiation", 0, nil, with(negotiation, "escrow_vault w", "buyer_token_account w", "seller_token_account w?", "token_mint", "token_program"), (*call).expireNegotiation},
		{"close_negotiation", 0, nil, with("closer s", negotiation, "escrow_vault w", config, "buyer w", "treasury_token_account w?", "buyer_token_account w?", "seller_token_account w?",
			"token_mint", "token_program"), (*call).closeNegotiation},
		{"claim_payout", 8, nil, with("party s", negotiation, "escrow_vault w", "destination_token_account w", "token_mint", "token_program"), (*call).claimPayout},
		{"submit_zopa_commitment", 32, nil, with("agent s", negotiation), (*call).submitZopaCommitment},
		{"reveal_zopa_price", 8 + 32, nil, with("agent s", negotiation, "escrow_vault w?", "buyer_token_account w?", "seller_token_account w?", "token_mint ?", "token_program ?"), (*call).revealZopaPrice},
		{"claim_milestone", 1, nil, with("seller s", negotiation), (*call).claimMilestone},
		{"dispute_milestone", 1, nil, with("buyer s", negotiation), (*call).disputeMilestone},
		{"release_milestone", 1, nil, with("releaser s", negotiation, "escrow_vault w", "seller_token_account w", "token_mint", "token_program"), (*call).releaseMilestone},
		{"resolve_dispute", 1 + 2 + 1, []int{3}, with("arbiter s", negotiation, "escrow_vault w", "buyer_token_account w", "seller_token_account w", "token_mint", "token_program"), (*call).resolveDispute},
		{"settle_deadline", 0, nil, with(negotiation, "escrow_vault w", "buyer_token_account w", "seller_token_account w", "token_mint", "token_program"), (*call).settleDeadline},
	} {
		rules[string(discriminator("global", r.name))] = &r
	}
}

// Names are the instructions' names, in the order of the alphabet.
func Names() []string {
	var names []string
	for _, rule := range rules {
		names = append(names, rule.name)
	}
	slices.Sort(names)
	return names
}

// NameOf is the name of the instruction that data are meant for; empty if there is none.
func NameOf(data []byte) string {
	if len(data) < 8 || rules[string(data[:8])] == nil {
		return ""
	}
	return rules[string(data[:8])].name
}
