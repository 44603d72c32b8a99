// Package service is a home of HIRE/1.0: it receives messages, stores conversations, and delivers events.
//
//	home, err := service.New(service.Config{Store: opened, ID: "https://worker.example", ...})
//	...
//	err = home.Receive(ctx, message) // a *hire.Refusal changes nothing
//	stream, err := home.Events(agent, after) // the messages to an agent, each once and in order
//	go home.Run(ctx) // wakes streams, pushes events, signs contracts
//
// A conversation lives at the worker's home, whose log is authoritative. All durable state is in the
// database. Several processes can share a PostgreSQL database.
package service
