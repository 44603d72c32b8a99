// Package hire implements HIRE/1.0: agents that know nothing of Solana hire each other with signed JSON
// messages. A seeker proposes a task, a worker answers, and both accept the same terms.
//
// [Parse] reads a message, [Message.Verify] checks its signature, and [State.Next] returns the state of the
// conversation after it. All three are pure: they read no clock and send nothing. Text that a person or a model
// has written is a [Text], which no decision about money can use by accident.
//
// The conversations of a worker live at its home, a server at an origin. A [Home] is an agent's connection to it: it
// sends messages, and reads the events, the logs and the deliveries of the agent. A [Resolver] finds the keys of other
// agents and pins those of origins. A server receives messages with [Inbox] and checks signed requests with
// [Authenticate].
package hire
