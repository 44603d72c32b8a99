// Package jobs runs the gateway's periodic work as jobs of River: it ends negotiations and approvals after
// their deadline, writes signed checkpoints of the audit log, and deletes old idempotency keys and expired
// nonces.
//
// Any number of processes run the jobs of one database, PostgreSQL or SQLite. River elects one of them, the
// leader, which inserts each job once in its period. Any process executes it. A job handles everything that
// is due when it runs, so the job of the next period continues the work of a killed process. A job that fails is tried again
// within its period. River elects another leader at most 21 s after the leader was killed.
//
// River's tables are in the schema haggle_gateway_jobs of PostgreSQL, which the first process creates, or in
// the SQLite file of the gateway.
//
// Checkpoints are executed by the process that has locked the checkpoint file. The lock ends with the
// process, and another one that has the same file takes it. Processes with different files, such as on
// several machines, share the checkpoints among the files; each file is valid by itself.
package jobs
