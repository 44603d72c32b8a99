// Package identity is asked before an agent engages a counterparty: is it known, is it trusted enough, and is the service that is
// bought or sold the one that its description says?
//
// A [Gate] asks a [Source] for a trust score of 0 to 100 and refuses everybody below a threshold. Sources are a registry such as SAID
// over HTTPS ([NewRegistry]), a file with a list ([OpenAllowlist]), and any function ([SourceFunc]); [FirstOf] asks several. Whoever
// cannot be asked about is refused.
//
//	registry, err := identity.NewRegistry(identity.RegistryConfig{Endpoint: "https://registry.example"})
//	...
//	gate := identity.Gate{Source: registry, Threshold: 60}
//	if err := gate.Check(ctx, seller); errors.Is(err, identity.ErrRefused) {
//
// [Gate.Admit] is the Admit of an agent's configuration. Gate.Check has the form of policy.Config.Screen, so that a wallet refuses by
// itself to create or join negotiations with others.
//
// [CheckService] compares a service's description with the hash that a negotiation commits to.
package identity
