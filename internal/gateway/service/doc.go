// Package service implements the gateway's use cases. REST, MCP and the commands call it and nothing below
// it, so they all share the same authorization, limits and idempotency.
//
//	s, err := service.New(service.Config{Store: database})
//	proposed, err := s.Propose(ctx, caller, service.ProposeRequest{Proposals: []service.Proposal{
//		{Publisher: "site-a.local", Terms: terms},
//	}})
//	n, err := s.Accept(ctx, caller, service.AcceptRequest{Offers: []service.Offer{{id, round}}})
//
// # Callers
//
// Every method takes the request's [identity.Caller]. Clients and anonymous callers negotiate; publishers
// manage their own strategies, approvals and licenses; administrators register publishers and clients. A
// client's name comes from the registration. Another publisher's or client's object is reported as not found,
// so that ids reveal nothing. Anonymous callers with the same address prefix count as a single client.
//
// Clients receive the publisher's answers. An answer's analysis contains hidden limits: only the publisher
// receives it.
//
// # Bundles
//
// A bundle is a single proposal to several publishers. If all required publishers agree, their negotiations
// are accepted at once. Otherwise none is: an agreeing publisher's answer is then a standing offer of the
// proposed terms. The client accepts any of the standing offers in one call, all of them or none. An
// agreement that needs a publisher's approval is accepted alone, because the approval can be refused.
//
// # Errors
//
// Every error caused by a caller is an [*Error]. Other errors come from the database or the context.
package service
