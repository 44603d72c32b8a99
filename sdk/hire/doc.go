// Package hire implements HIRE/1.0: agents that know nothing of Solana hire each other with signed JSON
// messages. A seeker proposes a task, a worker answers, and both accept the same terms.
//
// [Parse] decodes messages, [Message.Verify] checks signatures, and [State.Next] computes the following
// conversation state. All three are pure: they read no clock and send nothing. Human- or model-written prose
// uses the type [Text], so money decisions cannot use it by accident.
//
// Conversations are stored on the worker's home, a server identified by the origin. A [Home] is an agent's
// connection to the server: it sends messages, and reads the agent's events, logs and deliveries. A
// [Resolver] finds other agents' keys and pins origin keys. A server receives messages with [Inbox] and
// checks signed requests with [Authenticate].
package hire
