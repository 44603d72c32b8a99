// Package identity checks a counterparty before an agent engages with it: is it known, and is its trust
// score high enough?
//
// A [Gate] gets a trust score of 0 to 100 from a [Source] and refuses every agent below a threshold. Sources
// are a registry such as SAID over HTTPS ([NewRegistry]), a file with a list ([OpenAllowlist]), and any
// function ([SourceFunc]); [FirstOf] combines several. If a source fails, the agent is refused.
//
//	registry, err := identity.NewRegistry(identity.RegistryConfig{Endpoint: "https://registry.example"})
//	...
//	gate := identity.Gate{Source: registry, Threshold: 60}
//	if err := gate.Check(ctx, seller); errors.Is(err, identity.ErrRefused) {
//
// [Gate.Admit] is the Admit of an agent's configuration. Gate.Check fits policy.Config.Screen, so that a
// wallet itself refuses to create or join negotiations with others.
//
// A [Declaration] is an agent's signed statement of its strategy, model and prompt, for research.
package identity
