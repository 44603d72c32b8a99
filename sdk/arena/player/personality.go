package player

import (
	"slices"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

// Personality is how a player trades.
type Personality struct {
	// Name identifies it: lower-case letters.
	Name string
	// About is a one-sentence description.
	About string
	// Strategy is parsed by [strategy.Parse].
	Strategy string
	// Lean is added to the estimate, and Follow is the share of the distance from the estimate to the market's price that
	// is added to it, in percent; negative for a player that bets against the market. Both are in ticks of 0.01.
	Lean, Follow int
	// Edge is the least profit for each token, by the player's estimate.
	Edge arena.Price
	// Size is the number of tokens per sale, and Chats the number of simultaneous side chats.
	Size  arena.Quantity
	Chats int
	// Packages makes every n-th invitation an invitation to a packages chat, if at least two interests fit.
	// If zero, the player begins no such chats.
	Packages int
	// Both makes the player buy and sell in turns. Otherwise the player's estimate and the price decide.
	Both bool
	// Flees makes the player cancel an agreement if the price has moved against it by as much. If zero, the
	// player never cancels.
	Flees arena.Price
	// phrases holds the player's texts.
	phrases phrases
}

// phrases are a personality's texts. %s is replaced by a trade such as "100 YES", or by a price.
type phrases struct{ interest, want, comment, chat string }

// Personalities returns the built-in ones.
func Personalities() []Personality {
	return []Personality{
		{
			Name: "optimist", About: "believes in YES, and pays for it", Strategy: "genius-conceder", Lean: 15, Edge: 2,
			Size: 25, Chats: 3, Packages: 3,
			phrases: phrases{"This one happens.", "Looking for %s.", "I keep buying at %s.", "Meet me half way?"},
		},
		{
			Name: "skeptic", About: "believes in NO, and sells YES", Strategy: "genius-boulware", Lean: -15, Edge: 2, Size: 25,
			Chats: 3, Packages: 3,
			phrases: phrases{"The crowd is too sure.", "Offering %s.", "%s is too much.", "I can wait."},
		},
		{
			Name: "scholar", About: "trusts its own estimate, and asks for a margin", Strategy: "negmas-linear", Edge: 4,
			Size: 15, Chats: 2, Packages: 4,
			phrases: phrases{"My model has a margin here.", "Would trade %s.", "The price is %s. My number is another.",
				"The numbers say otherwise."},
		},
		{
			Name: "maker", About: "buys and sells around the price for a small profit", Strategy: "linear", Follow: 50, Edge: 2,
			Size: 20, Chats: 4, Packages: 2, Both: true,
			phrases: phrases{"Both sides, every day.", "Trading %s.", "Tight around %s.", "Volume matters to me."},
		},
		{
			Name: "gambler", About: "trades much, and concedes fast", Strategy: "negmas-conceder", Lean: 5, Edge: 1, Size: 40,
			Chats: 4, Packages: 2, Flees: 8,
			phrases: phrases{"All in!", "Who has %s?", "%s? I like it.", "Come on, quick."},
		},
		{
			Name: "miser", About: "concedes late, and never much", Strategy: "negmas-boulware", Edge: 6, Size: 10, Chats: 2,
			phrases: phrases{"Only at a good price.", "Perhaps %s.", "%s is robbery.", "Not at that price."},
		},
		{
			Name: "follower", About: "believes the market", Strategy: "tit-for-tat", Follow: 80, Edge: 1, Size: 20, Chats: 3,
			Packages: 4,
			phrases:  phrases{"The market knows.", "Joining for %s.", "Everybody says %s.", "What do others pay?"},
		},
		{
			Name: "contrarian", About: "bets against the market", Strategy: "micro", Follow: -60, Edge: 2, Size: 20, Chats: 3,
			Flees: 15,
			phrases: phrases{"When all agree, I do not.", "Against the crowd: %s.", "%s is where crowds go wrong.",
				"You know you want out."},
		},
	}
}

// PersonalityNamed returns a built-in personality.
func PersonalityNamed(name string) (Personality, bool) {
	all := Personalities()
	at := slices.IndexFunc(all, func(p Personality) bool { return p.Name == name })
	if at < 0 {
		return Personality{}, false
	}
	return all[at], true
}
