// Package languagemodel defines the flags for commands that let language models choose the moves.
package languagemodel

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/anthropic"
	"github.com/haggle-protocol/haggle/sdk/llm/openai"
)

// Help explains the flags, as a paragraph in a command's help.
const Help = `With --llm a language model chooses each move, within the band that --strategy (linear, unless it is set)
allows at that time: an offer outside is moved to the nearest price inside, and after a failure the strategy
moves. The model gets numbers only, and --principal, which says in plain words what you want. It cannot change
a limit. Models are openai:MODEL, openai-chat:MODEL (chat completions, which compatible endpoints offer at
--llm-url), azure:DEPLOYMENT, azure-chat:DEPLOYMENT and anthropic:MODEL; of several, the median offer counts.
The key is in OPENAI_API_KEY, AZURE_OPENAI_API_KEY or ANTHROPIC_API_KEY, or in the file of --llm-key, which is
read again at each request. --llm-tokens or --llm-cost limits what the process may use.`

// Flags are --llm and the flags that depend on it.
type Flags struct {
	models, prices                  []string
	principal, key, url, apiVersion string
	tokens, dealTokens              int64
	cost, dealCost                  amount.Text
	slack, lead                     uint16
	mayEnd, logPrompts              bool
	answers                         string
	timeout                         duration.Flag
}

// Register adds the flags.
func (f *Flags) Register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.models, "llm", nil,
		"language model that chooses the moves, such as openai:MODEL or anthropic:MODEL; can be repeated")
	f.RegisterOptions(flags)
}

// RegisterOptions adds the flags except --llm, for a command whose players [Flags.Strategy] returns.
func (f *Flags) RegisterOptions(flags *pflag.FlagSet) {
	flags.StringVar(&f.principal, "principal", "", "with --llm: what you want, in plain words, or @FILE")
	flags.Int64Var(&f.tokens, "llm-tokens", 0, "with --llm: most tokens of all negotiations, input and output")
	flags.Var(&f.cost, "llm-cost", "with --llm: most cost of all negotiations in US dollars; requires --llm-price")
	flags.Uint16Var(&f.slack, "llm-slack", 0,
		"with --llm: how far below the strategy's target the model may go, in basis points of the range to the reservation price")
	flags.Uint16Var(&f.lead, "llm-lead", llm.DefaultLeadBps, "with --llm: how far above the target it may go, in the same unit")
	flags.BoolVar(&f.mayEnd, "llm-may-end", false, "with --llm: let the model end a negotiation")
	f.registerModels(flags)
}

// registerModels adds the flags of the models themselves: their keys, endpoints, prices and limits of one negotiation.
func (f *Flags) registerModels(flags *pflag.FlagSet) {
	f.timeout = duration.Flag(llm.DefaultCallTimeout)
	flags.StringVar(&f.key, "llm-key", "", "with --llm: file with the API key (default: the variable of the vendor)")
	flags.StringVar(&f.url, "llm-url", "", "with --llm: URL of the API, of a compatible endpoint or of an Azure resource")
	flags.StringVar(&f.apiVersion, "azure-api-version", "", "with --llm azure: version of the API, such as 2025-04-01-preview")
	flags.Int64Var(&f.dealTokens, "llm-tokens-each", 0, "with --llm: most tokens of one negotiation")
	flags.Var(&f.dealCost, "llm-cost-each", "with --llm: most cost of one negotiation in US dollars; requires --llm-price")
	flags.StringArrayVar(&f.prices, "llm-price", nil,
		"with --llm: MODEL=INPUT,OUTPUT in US dollars per million tokens, such as openai:MODEL=1.25,10; can be repeated")
	flags.Var(&f.timeout, "llm-timeout", "with --llm: time limit of one request")
	flags.StringVar(&f.answers, "llm-answers", "",
		"with --llm: file of responses; known requests are answered from it, and other responses are appended")
	flags.BoolVar(&f.logPrompts, "log-prompts", false, "with --llm: log prompts and responses, which contain --principal and the limits")
}

// names lists the flags that need --llm.
var names = []string{"principal", "llm-key", "llm-url", "azure-api-version", "llm-tokens", "llm-cost", "llm-tokens-each",
	"llm-cost-each", "llm-price", "llm-slack", "llm-lead", "llm-may-end", "llm-timeout", "llm-answers", "log-prompts"}

// IsSet reports whether there is a model.
func (f *Flags) IsSet() bool { return len(f.models) > 0 }

// LogsPrompts reports whether prompts are logged.
func (f *Flags) LogsPrompts() bool { return f.logPrompts }

// Names lists the models.
func (f *Flags) Names() string { return strings.Join(f.models, ", ") }

// Check refuses flags that need --llm if it is not set. changed reports whether the named flag is set.
func (f *Flags) Check(changed func(flag string) bool) error {
	if f.IsSet() {
		return nil
	}
	for _, name := range names {
		if changed(name) {
			return exitcode.Requires("--"+name, "--llm", "")
		}
	}
	return nil
}

// Player returns a player with the models, and the options completed from the flags. It sends no request, but
// reads the keys once, to detect missing keys at the start.
func (f *Flags) Player(options llm.Options) (*llm.Player, error) {
	models, err := f.openAll()
	if err != nil {
		return nil, err
	}
	if options.Principal, err = f.wishes(); err != nil {
		return nil, err
	}
	if options.Budget, err = f.budget(); err != nil {
		return nil, err
	}
	options.Ensemble = models[1:]
	options.SlackBps, options.LeadBps, options.MayWalkAway = f.slack, f.lead, f.mayEnd
	options.CallTimeout, options.LogPrompts = time.Duration(f.timeout), f.logPrompts
	player, err := llm.NewPlayer(models[0], options)
	if err != nil {
		return nil, exitcode.Usagef("--llm: %s", strings.TrimPrefix(err.Error(), "llm: "))
	}
	return player, nil
}

// vendor is a kind of --llm.
type vendor struct {
	name, variable string
	open           func(f *Flags, model string, key llm.Key) (llm.Model, error)
}

var vendors = []vendor{
	{"openai", "OPENAI_API_KEY", openAI(openai.Responses)},
	{"openai-chat", "OPENAI_API_KEY", openAI(openai.ChatCompletions)},
	{"azure", "AZURE_OPENAI_API_KEY", onAzure(openai.Responses)},
	{"azure-chat", "AZURE_OPENAI_API_KEY", onAzure(openai.ChatCompletions)},
	{"anthropic", "ANTHROPIC_API_KEY", func(f *Flags, model string, key llm.Key) (llm.Model, error) {
		return anthropic.New(anthropic.Config{Model: model, Key: key, BaseURL: f.url})
	}},
}

func openAI(api openai.API) func(*Flags, string, llm.Key) (llm.Model, error) {
	return func(f *Flags, model string, key llm.Key) (llm.Model, error) {
		return openai.New(openai.Config{Model: model, Key: key, API: api, BaseURL: f.url})
	}
}

func onAzure(api openai.API) func(*Flags, string, llm.Key) (llm.Model, error) {
	return func(f *Flags, model string, key llm.Key) (llm.Model, error) {
		if f.url == "" || f.apiVersion == "" {
			return nil, errors.New("requires --llm-url (https://NAME.openai.azure.com) and --azure-api-version")
		}
		return openai.New(openai.Config{
			Model: model, Key: key, API: api, Azure: openai.Azure{Endpoint: f.url, APIVersion: f.apiVersion},
		})
	}
}

// openAll returns the models of --llm.
func (f *Flags) openAll() (models []llm.Model, err error) {
	for _, name := range f.models {
		opened, err := f.open(name)
		if err != nil {
			return nil, err
		}
		models = append(models, opened)
	}
	return models, nil
}

// open returns a model.
func (f *Flags) open(written string) (llm.Model, error) {
	kind, model, _ := strings.Cut(written, ":")
	at := slices.IndexFunc(vendors, func(v vendor) bool { return v.name == kind })
	if at < 0 || model == "" {
		var all []string
		for _, v := range vendors {
			all = append(all, v.name+":MODEL")
		}
		return nil, exitcode.Usagef("--llm: %q is none of %s", written, strings.Join(all, ", "))
	}
	v := vendors[at]
	key := llm.KeyFromEnvironment(v.variable)
	if f.key != "" {
		key = llm.KeyFromFile(f.key)
	}
	if _, err := key.Reveal(); err != nil {
		_, noFile := os.Stat(f.answers)
		switch {
		case f.key == "" && f.answers != "" && noFile == nil:
			return openRecorded(modelName(written), nil, f.answers)
		case v.name == "openai-chat" && f.url != "" && f.key == "":
			key = llm.Key{} // a compatible endpoint on one's own machine needs none
		default:
			return nil, &exitcode.Error{
				Kind: exitcode.Usage, Err: fmt.Errorf("--llm %s: %s", written, strings.TrimPrefix(err.Error(), "llm: ")),
				Hint: "set the variable " + v.variable + ", or write the key to a file that only you can read: --llm-key FILE",
			}
		}
	}
	opened, err := v.open(f, model, key)
	if err != nil {
		return nil, exitcode.Usagef("--llm %s: %w", written, err)
	}
	if f.answers != "" {
		return openRecorded(modelName(written), opened, f.answers)
	}
	return opened, nil
}

// Strategy returns a model's player in simulations, with a band of the base.
func (f *Flags) Strategy(ctx context.Context, name, baseName string, base bargain.Strategy) (bargain.Strategy, error) {
	one := *f
	one.models = []string{name}
	player, err := one.Player(llm.Options{Strategy: base, Name: baseName})
	if err != nil {
		return nil, err
	}
	return llm.Strategy{Chooser: player.Chooser(), Base: base, Context: ctx}, nil
}

// Terms identifies how the models play: everything that their answers depend on.
func (f *Flags) Terms(base string) string {
	principal := sha256.Sum256([]byte(f.principal))
	return fmt.Sprintf("band %s, slack %d, lead %d, may end %t, principal %x", base, f.slack, f.lead, f.mayEnd,
		principal[:8])
}

// PromptHash returns the SHA-256 of the instructions that the models get with each turn about a price alone.
func (f *Flags) PromptHash() ([sha256.Size]byte, error) {
	principal, err := f.wishes()
	return sha256.Sum256([]byte(llm.Instructions(principal))), err
}

// wishes returns the --principal text.
func (f *Flags) wishes() (string, error) {
	path, isFile := strings.CutPrefix(f.principal, "@")
	if !isFile {
		if strings.TrimSpace(f.principal) == "" {
			return "", exitcode.Requires("--llm", "--principal", "it tells the model what you want")
		}
		return f.principal, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", exitcode.Usagef("--principal: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// budget returns the limits.
func (f *Flags) budget() (b llm.Budget, err error) {
	if f.tokens <= 0 && f.cost.IsZero() {
		return b, exitcode.Requires("--llm", "--llm-tokens or --llm-cost", "nothing else limits what the model costs")
	}
	b.Tokens, b.NegotiationTokens, b.Prices = f.tokens, f.dealTokens, map[string]llm.Price{}
	if b.Cost, err = dollars("--llm-cost", f.cost); err != nil {
		return b, err
	}
	if b.NegotiationCost, err = dollars("--llm-cost-each", f.dealCost); err != nil {
		return b, err
	}
	for _, written := range f.prices {
		name, both, _ := strings.Cut(written, "=")
		input, output, pair := strings.Cut(both, ",")
		if !slices.Contains(f.models, name) || !pair {
			return b, exitcode.Usagef("--llm-price: %q is not MODEL=INPUT,OUTPUT with a model of --llm", written)
		}
		var texts [2]amount.Text
		var price [2]llm.MicroDollars
		for at, text := range []string{input, output} {
			err := texts[at].Set(text)
			if err == nil {
				price[at], err = dollars("--llm-price", texts[at])
			}
			if err != nil {
				return b, exitcode.Usagef("--llm-price: %q: %w", written, err)
			}
		}
		b.Prices[modelName(name)] = llm.Price{Input: price[0], Output: price[1]}
	}
	for _, name := range f.models {
		if _, priced := b.Prices[modelName(name)]; !priced && cmp.Or(b.Cost, b.NegotiationCost) > 0 {
			return b, exitcode.Requires("--llm-cost", "--llm-price "+name+"=INPUT,OUTPUT", "")
		}
	}
	return b, nil
}

// modelName returns the name in records for an --llm model: the adapters use the same name for a vendor's two
// APIs.
func modelName(written string) string { return strings.Replace(written, "-chat:", ":", 1) }

// dollars returns an amount of money.
func dollars(flag string, text amount.Text) (llm.MicroDollars, error) {
	if text.IsZero() {
		return 0, nil
	}
	micros, err := text.In(6)
	if err != nil || text.InUnits() || micros > 1e12 {
		return 0, exitcode.Usagef("%s %s: must be an amount in US dollars, such as 2.50", flag, text)
	}
	return llm.MicroDollars(micros), nil
}
