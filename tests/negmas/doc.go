// Package negmas compares the bargaining engine with NegMAS 0.16, a Python library of automated negotiation.
// Both read the same scenario files, run the same strategies under the same deadline, and must come to the
// same agreements in the same step, with the same utilities.
//
// `make negmas` runs NegMAS (compare.py), records its answers in testdata/answers.json, measures both, and
// writes docs/NEGMAS.md. It also records in testdata/files the utilities that NegMAS computes from scenario
// files of this repository, and files that NegMAS has saved itself with their utilities (files.py). The
// tests of this package replay the recorded answers and need no Python.
//
// NegMAS 0.16 has the licence AGPL-3.0-or-later. It runs in a process of its own; no file of this repository
// contains code of it.
package negmas
