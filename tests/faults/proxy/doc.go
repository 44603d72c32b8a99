// Package proxy puts a proxy in front of a Solana node that misbehaves on purpose, as often as it is told to:
//
//	proxy, err := faults.Start(faults.Options{
//		RPCURL: chain.RPCURL, WSURL: chain.WSURL, Seed: 1,
//		Rates: faults.Rates{faults.DroppedAfter: 0.05, faults.RateLimited: 0.02, faults.ConnectionCut: 0.01},
//	})
//	...
//	defer proxy.Close()
//	client, err := haggle.NewClient(haggle.Config{Endpoint: proxy.URL(), WSEndpoint: proxy.WSURL()})
//	...
//	fmt.Println(proxy.Counts().FaultyShare())
//
// What is passed on at all is the node's own: the proxy loses, delays, repeats and damages, but it makes nothing up that a node
// could not have said. A damaged answer is never valid JSON, and a stale one is what the node has really answered before, with the
// slot of then.
//
// The seed decides: with the same one the n-th request of a method meets the same fault, whatever happens in between.
package proxy
