// Package a2a binds a home's conversations to the Agent2Agent protocol (A2A 1.0), for seekers whose framework
// speaks it. An A2A message consists of a single data part: a signed HIRE message. Conversations map to
// tasks, and conversation ids to contexts. Nothing is stored here: a task is a view on the home's log, so it
// survives restarts.
package a2a
