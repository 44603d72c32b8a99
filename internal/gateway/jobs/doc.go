// Package jobs runs the gateway's work in the background as jobs of River: periodically it ends overdue negotiations
// and approvals, writes signed checkpoints of the audit log, and deletes old idempotency keys and expired nonces. A
// pending answer is a job, added in the transaction of the proposal.
//
// Any number of gateways run the jobs of one database, PostgreSQL or SQLite. River elects a leader, which
// inserts every job once per period. Any gateway executes it. A job handles everything that is due when it
// runs, so if a process is killed, the following period's job continues the work. Failed jobs are retried
// within the period. If a process is killed, its attempts at pending answers are repeated after
// [Config.AnswerTimeout], at the earliest after 2 min. A sweep records the overdue answers. If the leader is killed,
// River elects another within 21 s.
//
// River's tables are in the schema haggle_gateway_jobs of PostgreSQL, which the first gateway creates, or in
// the gateway's SQLite file.
//
// The gateway holding the checkpoint file's lock executes checkpoints. The lock ends with the process, and
// another gateway configured with the file takes it. Gateways with different files, such as on several
// machines, share the checkpoints among the files; each file is valid by itself.
package jobs
