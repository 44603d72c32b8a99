// Package service has the use cases of the gateway. REST, MCP and the commands call it and nothing below it,
// so authorisation, limits and idempotency are the same for all of them.
//
//	s, err := service.New(service.Config{Store: database})
//	proposed, err := s.Propose(ctx, caller, service.ProposeRequest{Proposals: []service.Proposal{
//		{Publisher: "site-a.local", Terms: terms},
//	}})
//	n, err := s.Accept(ctx, caller, service.AcceptRequest{Offers: []service.Offer{{id, round}}})
//
// # Callers
//
// Every method has the [identity.Caller] of the request. Clients and anonymous callers negotiate; publishers
// manage their own strategies, approvals and licences; administrators register publishers and clients. The
// name of a client comes from its registration. An object of another publisher or client is reported as not
// found, so that ids reveal nothing. Anonymous callers with the same address prefix are one client.
//
// Clients receive the publisher's answers. The analysis of an answer contains hidden limits: only the
// publisher receives it.
//
// # Bundles
//
// A bundle is one proposal to several publishers. If all required publishers agree, their negotiations are
// accepted at once. Otherwise none is: an agreeing publisher's answer is then a standing offer of the
// proposed terms. The client accepts any of the standing offers in one call, all of them or none. An
// agreement that needs a publisher's approval is accepted alone, because the approval can be refused.
//
// # Errors
//
// Every error that a caller causes is an [*Error]. Other errors come from the database or the context.
package service
