package a2a

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

// Extension is the HIRE extension's URI in A2A.
const Extension = "https://github.com/haggle-protocol/haggle/blob/main/docs/HIRE.md"

// cardOf returns the A2A card for a signed HIRE card.
func cardOf(card *hire.Card) ([]byte, error) {
	skills := make([]a2a.AgentSkill, 0, len(card.Skills))
	for _, skill := range card.Skills {
		skills = append(skills, a2a.AgentSkill{
			ID: skill, Name: skill, Description: describe(skill, card.Prices), Tags: []string{"hire"},
		})
	}
	if len(skills) == 0 {
		skills = append(skills, a2a.AgentSkill{
			ID: "hire", Name: "hire", Description: describe("Work for hire", card.Prices), Tags: []string{"hire"},
		})
	}
	return json.Marshal(a2a.AgentCard{
		Name: card.ID, Version: hire.Protocol,
		Description:         "A worker that bargains about tasks with signed messages of " + hire.Protocol + ", settled on Solana",
		DocumentationURL:    Extension,
		SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(card.ID+Path, a2a.TransportProtocolJSONRPC)},
		Capabilities: a2a.AgentCapabilities{
			Streaming: true,
			Extensions: []a2a.AgentExtension{{
				URI: Extension, Required: true,
				Description: "Each message has one data part: a signed message of " + hire.Protocol,
				Params:      map[string]any{"card": card.ID + hire.CardPath, "key": string(card.Key)},
			}},
		},
		DefaultInputModes: []string{mediaType}, DefaultOutputModes: []string{mediaType}, Skills: skills,
	})
}

func describe(skill string, prices []hire.UnitPrice) string {
	written := make([]string, len(prices))
	for i, price := range prices {
		written[i] = fmt.Sprintf("%s per %s", price.Price, price.Unit)
	}
	if len(written) == 0 {
		return skill
	}
	return skill + ": from " + strings.Join(written, ", ")
}
