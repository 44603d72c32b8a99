package service_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

func TestADealBecomesALicenseWithTheVerifiedName(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		opened := f.propose(t, f.openAI, at(1500), "site-a.local")
		require.Equal(t, engine.Counter, opened.Action)
		n := opened.Answers[0].Negotiation
		require.Equal(t, "OpenAI", n.ClientName)
		_, _, err := f.GenerateLicense(ctx, f.openAI, n.ID)
		fails(t, err, service.Conflict, service.CodeStatus)

		answer, err := f.Counter(ctx, f.openAI, service.CounterRequest{Negotiation: n.ID, Terms: at(1600)})
		require.NoError(t, err)
		require.Equal(t, engine.Counter, answer.Action)
		require.Equal(t, 2, answer.Negotiation.Round)
		_, err = f.Accept(ctx, f.openAI, service.AcceptRequest{Offers: []service.Offer{{n.ID, 1}}})
		fails(t, err, service.Conflict, service.CodeOfferChanged)
		accepted, err := f.Accept(ctx, f.openAI, service.AcceptRequest{Offers: []service.Offer{{n.ID, 2}}})
		require.NoError(t, err)
		require.Equal(t, engine.Accept, accepted.Answers[0].Action)
		require.Equal(t, answer.Terms, accepted.Answers[0].Negotiation.FinalTerms)

		license, created, err := f.GenerateLicense(ctx, f.siteA, n.ID)
		require.NoError(t, err)
		require.True(t, created)
		require.Equal(t, "OpenAI", license.Policy.Rules[0].Agent)
		require.Equal(t, "site-a.local", license.Policy.Publisher)
		require.Equal(t, terms.Decimal(answer.Terms.Price), license.Policy.Rules[0].PricePerFetch)
		again, created, err := f.GenerateLicense(ctx, f.openAI, n.ID)
		require.NoError(t, err)
		require.False(t, created)
		require.Equal(t, license, again)

		status, err := f.Status(ctx, f.openAI, n.ID)
		require.NoError(t, err)
		require.Equal(t, license.ID, status.LicenseID)
		require.Len(t, status.Rounds, 5, "two proposals, two answers, one acceptance")
		for _, caller := range []identity.Caller{f.openAI, f.siteA, f.administrator} {
			_, err = f.License(ctx, caller, license.ID)
			require.NoError(t, err)
		}
		for _, caller := range []identity.Caller{f.claude, f.siteB} {
			_, err = f.License(ctx, caller, license.ID)
			fails(t, err, service.NotFound, "not_found")
		}
		_, err = f.RevokeLicense(ctx, f.siteB, license.ID, "mistake")
		fails(t, err, service.NotFound, "not_found")
		revoked, err := f.RevokeLicense(ctx, f.siteA, license.ID, "not paid")
		require.NoError(t, err)
		require.False(t, revoked.RevokedAt.IsZero())
	})
}

// A client's answer equals the stored state.
func TestAnswersAreTheStoredState(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		for _, price := range []uint64{400, 1500, 4000} {
			answer := f.propose(t, f.openAI, at(price), "site-a.local").Answers[0]
			status, err := f.Status(ctx, f.openAI, answer.Negotiation.ID)
			require.NoError(t, err)
			require.Equal(t, answer.Negotiation, status.Negotiation, "price %d", price)
			if answer.Negotiation.Status != engine.Negotiating {
				continue
			}
			accepted, err := f.Accept(ctx, f.openAI, service.AcceptRequest{
				Offers: []service.Offer{{answer.Negotiation.ID, 1}},
			})
			require.NoError(t, err)
			status, err = f.Status(ctx, f.openAI, answer.Negotiation.ID)
			require.NoError(t, err)
			require.Equal(t, accepted.Answers[0].Negotiation, status.Negotiation)
		}
	})
}

func TestClientsNeverSeeTheAnalysis(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		opened := f.propose(t, f.openAI, at(1500), "site-a.local")
		id := opened.Answers[0].Negotiation.ID
		status, err := f.Status(t.Context(), f.openAI, id)
		require.NoError(t, err)
		list, err := f.Negotiations(t.Context(), f.openAI, store.Filter{}, store.Page{})
		require.NoError(t, err)
		facts, err := f.PublicStrategy(t.Context(), "site-a.local")
		require.NoError(t, err)
		for _, text := range []string{asJSON(t, opened), asJSON(t, status), asJSON(t, list), asJSON(t, facts)} {
			for _, secret := range []string{
				"analysis", "score", "accept_from", "tone", "min_price", "max_price", "preferred", "max_rounds",
				"strategy_id", ":1000", "utility",
			} {
				require.NotContains(t, text, secret)
			}
		}
		status, err = f.Status(t.Context(), f.siteA, id)
		require.NoError(t, err)
		require.Equal(t, engine.RuleConcession, status.Rounds[1].Analysis.Rule)
		require.Equal(t, engine.Neutral, status.Rounds[1].Analysis.Tone)
		_, err = f.AuditLog(t.Context(), f.openAI, id, 0, 10)
		fails(t, err, service.Forbidden, "scope-missing")
		entries, err := f.AuditLog(t.Context(), f.siteA, id, 0, 10)
		require.NoError(t, err)
		require.Contains(t, asJSON(t, entries), "accept_from")
	})
}

func TestNegotiationsOfOthersAreNotFound(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		n := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation
		for _, stranger := range []identity.Caller{f.claude, f.siteB, f.anonymous} {
			_, err := f.Status(ctx, stranger, n.ID)
			fails(t, err, service.NotFound, "not_found")
		}
		for _, stranger := range []identity.Caller{f.claude, f.anonymous} {
			_, err := f.Counter(ctx, stranger, service.CounterRequest{Negotiation: n.ID, Terms: at(1)})
			fails(t, err, service.NotFound, "not_found")
			_, err = f.Accept(ctx, stranger, service.AcceptRequest{Offers: []service.Offer{{n.ID, 1}}})
			fails(t, err, service.NotFound, "not_found")
		}
		_, err := f.Counter(ctx, f.siteA, service.CounterRequest{Negotiation: n.ID, Terms: at(1)})
		fails(t, err, service.Forbidden, "scope-missing")
		_, _, err = f.GenerateLicense(ctx, f.siteB, n.ID)
		fails(t, err, service.NotFound, "not_found")
		_, _, err = f.GenerateLicense(ctx, f.anonymous, n.ID)
		fails(t, err, service.Forbidden, "scope-missing")
		_, err = f.Approve(ctx, f.siteB, service.ApprovalRequest{Negotiation: n.ID, Approved: true})
		fails(t, err, service.NotFound, "not_found")
		_, err = f.Approve(ctx, f.siteA, service.ApprovalRequest{Negotiation: n.ID, Approved: true})
		fails(t, err, service.Conflict, service.CodeStatus)
		_, err = f.Negotiations(ctx, f.siteB, store.Filter{Publisher: f.siteA.ID}, store.Page{})
		fails(t, err, service.NotFound, "not_found")
		list, err := f.Negotiations(ctx, f.claude, store.Filter{Publisher: f.siteA.ID, Client: f.openAI.ID},
			store.Page{})
		require.NoError(t, err)
		require.Empty(t, list.Items)
	})
}

func TestAnonymousClientsNegotiateButGetNoNamedLicense(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		opened := f.propose(t, f.anonymous, at(4000), "site-a.local")
		require.Equal(t, engine.Accept, opened.Action)
		n := opened.Answers[0].Negotiation
		require.Empty(t, n.ClientName)
		_, err := f.Status(ctx, f.anonymous, n.ID)
		require.NoError(t, err)
		_, _, err = f.GenerateLicense(ctx, f.siteA, n.ID)
		fails(t, err, service.Conflict, service.CodeUnnamed)
		_, err = f.Negotiations(ctx, f.anonymous, store.Filter{}, store.Page{})
		fails(t, err, service.Forbidden, "scope-missing")

		f.propose(t, f.anonymous, at(1500), "site-a.local")
		_, err = f.Propose(ctx, f.anonymous, service.ProposeRequest{
			Proposals: []service.Proposal{{"site-a.local", at(1500)}},
		})
		limit := fails(t, err, service.Limit, service.CodeLimitOpen)
		require.Equal(t, time.Hour, limit.RetryAfter)
		require.Equal(t, engine.Counter, f.propose(t, f.openAI, at(1500), "site-a.local").Action,
			"registered clients still can")
	})
}

func TestARepeatedRequestGetsTheFirstAnswer(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		r := service.ProposeRequest{
			Proposals: []service.Proposal{{"site-a.local", at(1500)}}, IdempotencyKey: "first",
		}
		opened, err := f.Propose(ctx, f.openAI, r)
		require.NoError(t, err)
		id := opened.Answers[0].Negotiation.ID
		counter := service.CounterRequest{Negotiation: id, Terms: at(1600), IdempotencyKey: "second"}
		answer, err := f.Counter(ctx, f.openAI, counter)
		require.NoError(t, err)
		accept := service.AcceptRequest{Offers: []service.Offer{{id, 2}}, IdempotencyKey: "third"}
		accepted, err := f.Accept(ctx, f.openAI, accept)
		require.NoError(t, err)

		f.offset.Add(int64(time.Minute))
		repeated, err := f.Propose(ctx, f.openAI, r)
		require.NoError(t, err)
		require.Equal(t, asJSON(t, opened), asJSON(t, repeated))
		answered, err := f.Counter(ctx, f.openAI, counter)
		require.NoError(t, err)
		require.Equal(t, asJSON(t, answer), asJSON(t, answered))
		acceptedAgain, err := f.Accept(ctx, f.openAI, accept)
		require.NoError(t, err)
		require.Equal(t, asJSON(t, accepted), asJSON(t, acceptedAgain))
		list, err := f.Negotiations(ctx, f.openAI, store.Filter{}, store.Page{})
		require.NoError(t, err)
		require.Len(t, list.Items, 1)
		require.Equal(t, 3, list.Items[0].Round)

		r.Proposals[0].Terms = at(1700)
		_, err = f.Propose(ctx, f.openAI, r)
		fails(t, err, service.Invalid, service.CodeKeyReused)
		other, err := f.Propose(ctx, f.claude, r)
		require.NoError(t, err, "keys of clients are independent")
		require.NotEqual(t, id, other.Answers[0].Negotiation.ID)
		r.IdempotencyKey = "tab\t"
		_, err = f.Propose(ctx, f.openAI, r)
		require.Equal(t, "idempotency_key", fails(t, err, service.Invalid, "invalid").Field)
	})
}

func TestBundlesAreAcceptedTogetherOrNotAtAll(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		both := f.propose(t, f.openAI, at(4000), "site-a.local", "site-b.local")
		require.Equal(t, engine.Accept, both.Action)
		require.NotEmpty(t, both.BundleID)
		for _, answer := range both.Answers {
			require.Equal(t, engine.Accepted, answer.Negotiation.Status)
			_, _, err := f.GenerateLicense(ctx, f.openAI, answer.Negotiation.ID)
			require.NoError(t, err)
		}
		mixed, err := f.Propose(ctx, f.openAI, service.ProposeRequest{Proposals: []service.Proposal{
			{"site-a.local", at(4000)}, {"site-b.local", at(1500)},
		}})
		require.NoError(t, err)
		require.Equal(t, engine.Counter, mixed.Action)
		var offers []service.Offer
		for _, answer := range mixed.Answers {
			require.Equal(t, engine.Negotiating, answer.Negotiation.Status, "nothing is accepted alone")
			offers = append(offers, service.Offer{Negotiation: answer.Negotiation.ID, Round: 1})
		}
		require.Equal(t, engine.ReasonBundle, mixed.Answers[0].Reason)
		require.Equal(t, at(4000), *mixed.Answers[0].Terms)
		offers[1].Round = 7
		_, err = f.Accept(ctx, f.openAI, service.AcceptRequest{Offers: offers})
		fails(t, err, service.Conflict, service.CodeOfferChanged)
		status, err := f.Status(ctx, f.openAI, offers[0].Negotiation)
		require.NoError(t, err)
		require.Equal(t, engine.Negotiating, status.Status)
		offers[1].Round = 1
		accepted, err := f.Accept(ctx, f.openAI, service.AcceptRequest{Offers: offers})
		require.NoError(t, err)
		require.Equal(t, engine.Accepted, accepted.Answers[0].Negotiation.Status)
		require.Equal(t, engine.Accepted, accepted.Answers[1].Negotiation.Status)

		listed, err := f.Propose(ctx, f.claude, service.ProposeRequest{Proposals: []service.Proposal{
			{"site-a.local", at(4000)}, {"site-b.local", at(1500)},
		}, Required: []string{"site-a.local"}})
		require.NoError(t, err)
		require.Equal(t, engine.Accept, listed.Action)
		require.Equal(t, engine.Accepted, listed.Answers[0].Negotiation.Status)
		require.Equal(t, engine.Negotiating, listed.Answers[1].Negotiation.Status)
		_, err = f.Propose(ctx, f.claude, service.ProposeRequest{Proposals: []service.Proposal{
			{"site-a.local", at(4000)}}, Required: []string{"site-c.local"}})
		require.Equal(t, "required[0]", fails(t, err, service.Invalid, "invalid").Field)
	})
}

func TestLargeAgreementsWaitForTheirPublisher(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		waiting := f.propose(t, f.openAI, prepaid(4000), "site-a.local").Answers[0]
		require.Equal(t, engine.Approve, waiting.Action)
		queue, err := f.Approvals(ctx, f.siteA, 0, store.Page{})
		require.NoError(t, err)
		require.Equal(t, []service.Negotiation{waiting.Negotiation}, queue.Items)
		f.offset.Add(int64(2 * time.Hour))
		yes := service.ApprovalRequest{Negotiation: waiting.Negotiation.ID, Approved: true}
		n, err := f.Approve(ctx, f.siteA, yes)
		require.NoError(t, err, "the deadline for activity stands still")
		require.Equal(t, engine.Accepted, n.Status)
		require.Equal(t, prepaid(4000), *n.FinalTerms)
		_, _, err = f.GenerateLicense(ctx, f.openAI, n.ID)
		require.NoError(t, err)

		refused := f.propose(t, f.openAI, prepaid(4000), "site-a.local").Answers[0].Negotiation
		n, err = f.Approve(ctx, f.siteA, service.ApprovalRequest{Negotiation: refused.ID})
		require.NoError(t, err)
		require.Equal(t, engine.Rejected, n.Status)
		require.Equal(t, engine.ReasonRefused, n.Reason)
		require.Equal(t, []engine.ReasonCode{engine.CodeRefused}, n.Codes)

		late := f.propose(t, f.openAI, prepaid(4000), "site-a.local").Answers[0].Negotiation
		f.offset.Add(int64(25 * time.Hour))
		_, err = f.Approve(ctx, f.siteA, service.ApprovalRequest{Negotiation: late.ID, Approved: true})
		fails(t, err, service.Conflict, service.CodeStatus)
		status, err := f.Status(ctx, f.openAI, late.ID)
		require.NoError(t, err)
		require.Equal(t, engine.TimedOut, status.Status)

		// A refusal must not leave part of a bundle, so such agreements are accepted alone.
		held := f.propose(t, f.claude, prepaid(4000), "site-a.local", "site-b.local")
		require.Equal(t, engine.Approve, held.Action)
		var offers []service.Offer
		for _, answer := range held.Answers {
			require.Equal(t, engine.ReasonBundleApproval, answer.Reason)
			offers = append(offers, service.Offer{Negotiation: answer.Negotiation.ID, Round: 1})
		}
		_, err = f.Accept(ctx, f.claude, service.AcceptRequest{Offers: offers})
		fails(t, err, service.Conflict, service.CodeNeedsApproval)
		alone, err := f.Accept(ctx, f.claude, service.AcceptRequest{Offers: offers[:1]})
		require.NoError(t, err)
		require.Equal(t, engine.AwaitingApproval, alone.Answers[0].Negotiation.Status)
		yes.Negotiation = offers[0].Negotiation
		n, err = f.Approve(ctx, f.siteA, yes)
		require.NoError(t, err)
		require.Equal(t, engine.Accepted, n.Status)
	})
}

// Every call after the deadline finds the negotiation over, also before the sweep; just before, it is open.
func TestAnInactiveNegotiationIsOver(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		for name, act := range map[string]func(id string) error{
			"proposal": func(id string) error {
				_, err := f.Counter(t.Context(), f.openAI, service.CounterRequest{Negotiation: id, Terms: at(4000)})
				return err
			},
			"acceptance": func(id string) error {
				_, err := f.Accept(t.Context(), f.openAI, service.AcceptRequest{Offers: []service.Offer{{id, 1}}})
				return err
			},
			"leave": func(id string) error {
				_, err := f.Leave(t.Context(), f.openAI,
					service.LeaveRequest{Negotiation: id, Reason: engine.LeavePrice})
				return err
			},
		} {
			early := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
			late := f.propose(t, f.openAI, at(1500), "site-a.local").Answers[0].Negotiation.ID
			f.offset.Add(int64(time.Hour - time.Microsecond))
			require.NoError(t, act(early), name)
			f.offset.Add(int64(time.Microsecond))
			err := act(late)
			require.ErrorContains(t, fails(t, err, service.Conflict, service.CodeStatus),
				"No activity before the deadline", name)
			var status *store.StatusError
			require.ErrorAs(t, err, &status)
			found, err := f.Status(t.Context(), f.openAI, late)
			require.NoError(t, err)
			require.Equal(t, engine.TimedOut, found.Status)
		}
	})
}

// The store keeps all that the rules need: two gateways that take turns answer as the engine alone.
func TestTheRulesContinueInAnotherGateway(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		again, err := store.Open(t.Context(), store.Config{Address: f.address, Now: f.store.Now})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, again.Close()) })
		other, err := service.New(service.Config{Store: again})
		require.NoError(t, err)
		rules, err := engine.ParseStrategy([]byte(strategy))
		require.NoError(t, err)
		var state engine.State
		proposal := at(600)
		answer := f.propose(t, f.openAI, proposal, "site-a.local").Answers[0]
		for round := range rules.MaxRounds {
			if round > 0 {
				proposal.Price += 100
				request := service.CounterRequest{Negotiation: answer.Negotiation.ID, Terms: proposal}
				answer, err = []*service.Service{f.Service, other}[round%2].Counter(t.Context(), f.openAI, request)
				require.NoError(t, err)
			}
			decision, err := engine.Respond(&rules, state, proposal)
			require.NoError(t, err)
			require.Equal(t, engine.Counter, answer.Action)
			require.Equal(t, decision.Answer(), answer.Answer)
			require.Equal(t, rules.Deadline(engine.Counter, answer.Negotiation.InitiatedAt, f.store.Now()), answer.Negotiation.DeadlineAt)
			state = state.Next(proposal, decision)
			f.offset.Add(int64(time.Minute))
		}
		decision, err := engine.AcceptCounter(&rules, state)
		require.NoError(t, err)
		accepted, err := other.Accept(t.Context(), f.openAI, service.AcceptRequest{
			Offers: []service.Offer{{answer.Negotiation.ID, int(rules.MaxRounds)}},
		})
		require.NoError(t, err)
		require.Equal(t, decision.Answer(), accepted.Answers[0].Answer)
	})
}

// A client that leaves and returns continues at the publisher's newest price: for the lowest price it cannot begin again
// and again. A day later it is a new client.
func TestNextNegotiationStartsAtTheLastPrice(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		opening := f.propose(t, f.claude, at(600), "site-a.local").Answers[0].Terms.Price
		require.EqualValues(t, 2750, opening)
		answer := f.propose(t, f.openAI, at(600), "site-a.local").Answers[0]
		require.Equal(t, opening, answer.Terms.Price)
		for _, price := range []uint64{900, 1200, 1500} {
			before := answer.Terms.Price
			var err error
			answer, err = f.Counter(ctx, f.openAI, service.CounterRequest{
				Negotiation: answer.Negotiation.ID, Terms: at(price),
			})
			require.NoError(t, err)
			require.Less(t, answer.Terms.Price, before)
		}
		last := answer.Terms.Price
		_, err := f.Leave(ctx, f.openAI, service.LeaveRequest{
			Negotiation: answer.Negotiation.ID, Reason: engine.LeavePrice,
		})
		require.NoError(t, err)
		bundle := f.propose(t, f.openAI, at(600), "site-a.local", "site-b.local").Answers
		require.Equal(t, last, bundle[0].Terms.Price)
		require.Equal(t, opening, bundle[1].Terms.Price, "another publisher")
		require.Equal(t, opening, f.propose(t, f.anonymous, at(1500), "site-a.local").Answers[0].Terms.Price)
		f.offset.Add(int64(engine.Memory))
		require.Equal(t, opening, f.propose(t, f.openAI, at(600), "site-a.local").Answers[0].Terms.Price)
	})
}

// TestSimultaneousNegotiationsConcedeTogether spends the concessions to a client in one negotiation. Another one, which
// was open before, has none left.
func TestSimultaneousNegotiationsConcedeTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		first := f.propose(t, f.openAI, at(1000), "site-a.local").Answers[0].Negotiation.ID
		second := f.propose(t, f.openAI, at(1000), "site-a.local").Answers[0].Negotiation.ID
		asked := func(negotiation string, price uint64) uint64 {
			f.offset.Add(int64(time.Second))
			answer, err := f.Counter(t.Context(), f.openAI, service.CounterRequest{
				Negotiation: negotiation, Terms: at(price),
			})
			require.NoError(t, err)
			require.Equal(t, engine.Counter, answer.Action)
			return answer.Terms.Price
		}
		newest := uint64(0)
		for range 8 { // 10 proposals with the first ones of both
			newest = asked(first, 1000)
		}
		require.EqualValues(t, 2000, newest)
		require.Equal(t, newest, asked(second, 1000))
		require.Equal(t, newest, asked(second, 1700), "a concession has no answer any more")
	})
}
