package pages

import (
	"context"
	"strings"

	"github.com/a-h/templ"
)

// part is a section on a market's page, replaced as a whole.
type part struct{ name, title string }

var allParts = []part{
	{"status", "Market"}, {"price", "Price of YES"}, {"floor", "Floor"}, {"trades", "Trades"},
	{"chats", "Side chats"}, {"countdowns", "Tentative agreements"}, {"agents", "Agents"},
}

// oneLine keeps a part within a single event's data.
var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// render returns each part's HTML.
func (s *scene) render(ctx context.Context, live bool) (map[string]string, error) {
	parts := map[string]string{}
	for name, component := range map[string]templ.Component{
		"status": statusPart(s, live), "price": pricePart(s, live), "floor": floorPart(s), "trades": tradesPart(s),
		"chats": chatsPart(s, live), "countdowns": countdownsPart(s, live), "agents": agentsPart(s),
	} {
		var text strings.Builder
		if err := component.Render(ctx, &text); err != nil {
			return nil, err
		}
		parts[name] = oneLine.Replace(text.String())
	}
	return parts, nil
}
