// Package hire implements HIRE/1.0: agents that know nothing of Solana hire each other with signed JSON
// messages. A seeker proposes a task, a worker answers, and both accept the same terms.
//
// [Parse] reads a message, [Message.Verify] checks its signature, and [State.Next] returns the state of the
// conversation after it. All three are pure: they read no clock and send nothing. Text that a person or a model
// has written is a [Text], which no decision about money can use by accident. [Inbox] receives messages over HTTP,
// and a [Client] sends them and fetches the [Card] of an agent.
package hire
