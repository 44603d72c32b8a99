// Package proxy runs a proxy in front of a Solana node, injecting faults at given rates:
//
//	proxy, err := proxy.Start(proxy.Options{
//		RPCURL: chain.RPCURL, WSURL: chain.WSURL, Seed: 1,
//		Rates: proxy.Rates{proxy.DroppedAfter: 0.05, proxy.RateLimited: 0.02, proxy.ConnectionCut: 0.01},
//	})
//	...
//	defer proxy.Close()
//	client, err := haggle.NewClient(haggle.Config{Endpoint: proxy.URL(), WSEndpoint: proxy.WSURL()})
//	...
//	fmt.Println(proxy.Counts().FaultyShare())
//
// Everything that the proxy passes on comes from the node: it drops, delays, repeats and damages messages,
// but invents none. A damaged response is never valid JSON, and a stale response is an earlier node response,
// with the original slot.
//
// The seed determines the faults: with the same seed the n-th call of each method meets the same fault,
// whatever other requests are sent.
package proxy
