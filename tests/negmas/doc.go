// Package negmas compares the bargaining engine with NegMAS 0.16, a Python library for automated negotiation.
// Both read the same scenario files, run the same strategies under the same deadline, and must come to the
// same agreements in the same step, with the same utilities.
//
// `make negmas` runs NegMAS (compare.py), records the results in testdata/answers.json, measures both, and
// writes docs/NEGMAS.md. It also records in testdata/files the utilities that NegMAS computes from this
// repository's scenario files, and files saved by NegMAS with their utilities (files.py). This package's
// tests replay the recorded results and need no Python.
//
// NegMAS 0.16 is licensed under AGPL-3.0-or-later. It runs in a separate process; no file in this repository
// contains NegMAS code.
package negmas
