// Package license buys licenses to publishers' content from a gateway: the AI company's half in negotiations.
//
//	key := &httpsig.BearerTransport{Origin: "https://gateway.example", APIKey: text}
//	client, err := license.NewClient(license.Config{
//		BaseURL: "https://gateway.example", HTTP: &http.Client{Transport: key},
//	})
//	result, err := client.Buy(ctx, license.Request{
//		ID: "2026-04 news", Publishers: []string{"site.example"}, Purposes: []license.Purpose{license.Inference},
//		Fetches: 10_000, MaxPriceMicro: 2_000, BudgetMicro: 20_000_000, Strategy: strategy.Linear(),
//	})
//
// [Client.Buy] bargains with a strategy of package bargain. Proposals and acceptances never exceed
// [Request.MaxPriceMicro] or [Request.BudgetMicro]. All remaining methods are single operations.
//
// Prices are whole micro units of the publisher's currency for each fetch: 1,800 is 0.0018.
//
// Package httpsig provides the credentials: API keys, Ed25519 signatures and Web Bot Auth. Clients that use
// none are anonymous: they can negotiate, but receive no license. A [Gateway] is the protocol: the default is
// REST, and [ConnectMCP] is the Model Context Protocol.
package license
