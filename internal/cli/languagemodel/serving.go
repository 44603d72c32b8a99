package languagemodel

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/gateway/model"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

// Serving are the flags of a gateway whose strategies can name language models.
type Serving struct {
	flags       Flags
	concurrency int
}

// Register adds the flags.
func (s *Serving) Register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&s.flags.models, "llm", nil,
		"language model that strategies can name, such as openai:MODEL or anthropic:MODEL; can be repeated")
	flags.Int64Var(&s.flags.tokens, "llm-tokens", 0,
		"with --llm: most tokens of all strategies in a day (UTC), input and output")
	flags.Var(&s.flags.cost, "llm-cost",
		"with --llm: most cost of all strategies in a day (UTC) in US dollars; requires --llm-price")
	flags.IntVar(&s.concurrency, "llm-concurrency", llm.DefaultConcurrency,
		"with --llm: most simultaneous questions to each model")
	s.flags.registerModels(flags)
	flags.Lookup("log-prompts").Usage = "with --llm: log prompts and responses, which contain the system prompts of strategies"
}

// Models returns the models, or nil without --llm. Logger and Called of config stay; the flags set the rest. It sends
// no request, but reads the keys once, so that a missing one is known at the start. changed reports whether a flag is
// set.
func (s *Serving) Models(config model.Config, changed func(flag string) bool) (*model.Models, error) {
	if err := s.flags.Check(changed); err != nil {
		return nil, err
	}
	if !s.flags.IsSet() {
		if changed("llm-concurrency") {
			return nil, exitcode.Requires("--llm-concurrency", "--llm", "")
		}
		return nil, nil
	}
	if s.concurrency < 1 {
		return nil, exitcode.Usagef("--llm-concurrency must be at least 1")
	}
	var err error
	if config.Models, err = s.flags.openAll(); err != nil {
		return nil, err
	}
	if config.Budget, err = s.flags.budget(); err != nil {
		return nil, err
	}
	config.Concurrency, config.CallTimeout = s.concurrency, time.Duration(s.flags.timeout)
	config.LogPrompts = s.flags.logPrompts
	models, err := model.New(config)
	if err != nil {
		text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "model: "), "llm: ")
		return nil, exitcode.Usagef("--llm: %s", text)
	}
	return models, nil
}

// AnswerTimeout returns the time limit of a pending answer: two requests at their limit, and time to read the proposal
// and to record the answer.
func (s *Serving) AnswerTimeout() time.Duration {
	return 2*time.Duration(s.flags.timeout) + 15*time.Second
}
