// Package a2a is the binding of a home's conversations to the Agent2Agent protocol (A2A 1.0), for seekers whose
// framework speaks it. A message of A2A has one data part: a signed message of HIRE. A conversation is a task, and its
// id is the context. Nothing is stored here: a task is a view of the home's log, so it survives restarts.
package a2a
