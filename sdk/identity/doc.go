// Package identity checks counterparties before agents engage with them: whether they are known, and whether
// the trust score is high enough.
//
// A [Gate] reads a trust score, 0 to 100, from a [Source] and refuses every agent under the threshold.
// Sources are a registry such as SAID over HTTPS ([NewRegistry]), a file with a list ([OpenAllowlist]), and
// any function ([SourceFunc]); [FirstOf] combines several. If a source fails, the agent is refused.
//
//	registry, err := identity.NewRegistry(identity.RegistryConfig{Endpoint: "https://registry.example"})
//	...
//	gate := identity.Gate{Source: registry, Threshold: 60}
//	if err := gate.Check(ctx, seller); errors.Is(err, identity.ErrRefused) {
//
// [Gate.Admit] provides Admit for agent.Config. Gate.Check fits policy.Config.Screen, so that wallets
// themselves refuse to create or join negotiations with others.
//
// A [Declaration] is an agent's signed statement about strategy, model and prompt, for research.
package identity
