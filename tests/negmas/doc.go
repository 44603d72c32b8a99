// Package negmas compares the bargaining engine with NegMAS 0.16, a Python library for automated negotiation.
// Both read the same scenarios, run the same strategies with equal deadlines, and must reach the same
// agreements in the same step, with equal utilities.
//
// `make negmas` runs NegMAS (compare.py), records the results in testdata/answers.json, measures both, and
// writes docs/NEGMAS.md. It also records in testdata/files NegMAS' utilities for this repository's scenarios,
// and scenarios saved by NegMAS with their utilities (files.py). This package's tests replay the recorded
// results and need no Python.
//
// NegMAS 0.16 is licensed under AGPL-3.0-or-later. It runs in a separate process; no file in this repository
// contains NegMAS code.
package negmas
