package llm

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Spending counts the requests of one model in one negotiation.
type Spending struct {
	Model       string `json:"model"`
	Negotiation string `json:"negotiation"`
	// Requests counts finished requests.
	Requests int64 `json:"requests"`
	// Token counts come from the API. Input includes cached input.
	InputTokens       int64 `json:"input_tokens"`
	CachedInputTokens int64 `json:"cached_input_tokens"`
	OutputTokens      int64 `json:"output_tokens"`
	// Cost is computed from these tokens, in micro-dollars, rounded up. It is 0 for models without a price.
	Cost MicroDollars `json:"cost_microdollars"`
	// AssumedTokens and AssumedCost count against the budget for requests of unknown usage.
	AssumedTokens int64        `json:"assumed_tokens"`
	AssumedCost   MicroDollars `json:"assumed_cost_microdollars"`
}

// forgotten is the idle time after which a negotiation can be forgotten. On chain it lasts at most 24 hours.
const forgotten = 48 * time.Hour

// remembered is the number of negotiations to keep in any case.
const remembered = 10_000

// ledger reserves and counts tokens and costs. It is safe for concurrent use.
type ledger struct {
	budget Budget

	lock sync.Mutex
	// total counts this day's requests with a daily budget, and reserved the unfinished requests in it.
	total, reserved used
	day             time.Time
	// older adds up forgotten negotiations by model.
	negotiations map[string]*account
	older        map[string]*spent
}

// used counts against a limit.
type used struct {
	tokens int64
	cost   cost
}

// fits reports whether a further amount stays within limits. Zero sets no limit.
func (u used) fits(further used, tokens int64, most MicroDollars) bool {
	return (tokens == 0 || u.tokens+further.tokens <= tokens) &&
		(most == 0 || u.cost.sum(further.cost) <= limit(most))
}

func (u *used) add(further used) {
	u.tokens, u.cost = u.tokens+further.tokens, u.cost.sum(further.cost)
}

func (u *used) subtract(less used) { u.tokens, u.cost = u.tokens-less.tokens, u.cost-less.cost }

// account holds one negotiation's counts.
type account struct {
	used
	// open counts reservations, and last is the latest change.
	open   int
	last   time.Time
	models map[string]*spent
}

// spent counts the requests of a model.
type spent struct {
	requests int64
	usage    Usage
	cost     cost
	assumed  used
}

func newLedger(budget Budget) *ledger {
	return &ledger{budget: budget, negotiations: map[string]*account{}, older: map[string]*spent{}}
}

// beginDay starts the counts of a new day, if the budget is daily.
func (l *ledger) beginDay() {
	day := time.Now().UTC().Truncate(24 * time.Hour)
	if l.budget.Daily && day.After(l.day) {
		l.total, l.day = l.reserved, day
	}
}

// charge counts usage that the ledger does not know against the total.
func (l *ledger) charge(tokens int64, spent MicroDollars) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.beginDay()
	l.total.add(used{tokens, limit(spent)})
}

// reservation is the worst case of one request.
type reservation struct {
	ledger             *ledger
	negotiation, model string
	used               used
}

// reserve reserves the worst case of a request. It returns ErrBudget if a limit could be exceeded.
func (l *ledger) reserve(negotiation, model string, request *Request) (*reservation, error) {
	input, output := request.mostInput(), int64(request.MaxTokens)
	r := &reservation{ledger: l, negotiation: negotiation, model: model, used: used{
		tokens: input + output, cost: l.budget.Prices[model].most(input, output),
	}}
	l.lock.Lock()
	defer l.lock.Unlock()
	l.beginDay()
	a := l.negotiations[negotiation]
	if a == nil {
		a = &account{models: map[string]*spent{}}
	}
	if !l.total.fits(r.used, l.budget.Tokens, l.budget.Cost) ||
		!a.fits(r.used, l.budget.NegotiationTokens, l.budget.NegotiationCost) {
		return nil, ErrBudget
	}
	l.forget()
	l.negotiations[negotiation] = a
	l.total.add(r.used)
	l.reserved.add(r.used)
	a.add(r.used)
	a.open, a.last = a.open+1, time.Now()
	return r, nil
}

// settle replaces the reserved amount by the usage, and returns the result. If the usage is unknown, the
// reserved amount counts, unless the API has not processed the request.
func (r *reservation) settle(usage Usage, unprocessed bool) spent {
	s := spent{requests: 1}
	switch {
	case usage.isPlausible():
		s.usage, s.cost = usage, r.ledger.budget.Prices[r.model].of(usage)
	case !unprocessed:
		s.assumed = r.used
	}
	counts := used{s.usage.InputTokens + s.usage.OutputTokens + s.assumed.tokens, s.cost.sum(s.assumed.cost)}
	l := r.ledger
	l.lock.Lock()
	defer l.lock.Unlock()
	l.beginDay()
	l.reserved.subtract(r.used)
	a := l.negotiations[r.negotiation]
	for _, u := range []*used{&l.total, &a.used} {
		u.subtract(r.used)
		u.add(counts)
	}
	a.open, a.last = a.open-1, time.Now()
	if a.models[r.model] == nil {
		a.models[r.model] = &spent{}
	}
	a.models[r.model].add(s)
	return s
}

func (s *spent) add(other spent) {
	s.requests += other.requests
	s.usage.InputTokens += other.usage.InputTokens
	s.usage.CachedInputTokens += other.usage.CachedInputTokens
	s.usage.OutputTokens += other.usage.OutputTokens
	s.cost = s.cost.sum(other.cost)
	s.assumed.add(other.assumed)
}

// forget adds up old negotiations once there are many.
func (l *ledger) forget() {
	if len(l.negotiations) < remembered {
		return
	}
	for negotiation, a := range l.negotiations {
		if a.open > 0 || time.Since(a.last) < forgotten {
			continue
		}
		for model, s := range a.models {
			if l.older[model] == nil {
				l.older[model] = &spent{}
			}
			l.older[model].add(*s)
		}
		delete(l.negotiations, negotiation)
	}
}

// spending returns the counts sorted by negotiation and model. Forgotten negotiations share an empty name.
func (l *ledger) spending() (list []Spending) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for model, s := range l.older {
		list = append(list, s.spending(model, ""))
	}
	for negotiation, a := range l.negotiations {
		for model, s := range a.models {
			list = append(list, s.spending(model, negotiation))
		}
	}
	slices.SortFunc(list, func(a, b Spending) int {
		return cmp.Or(cmp.Compare(a.Negotiation, b.Negotiation), cmp.Compare(a.Model, b.Model))
	})
	return list
}

func (s *spent) spending(model, negotiation string) Spending {
	return Spending{
		Model: model, Negotiation: negotiation, Requests: s.requests, InputTokens: s.usage.InputTokens,
		CachedInputTokens: s.usage.CachedInputTokens, OutputTokens: s.usage.OutputTokens,
		Cost: s.cost.microDollars(), AssumedTokens: s.assumed.tokens, AssumedCost: s.assumed.cost.microDollars(),
	}
}
