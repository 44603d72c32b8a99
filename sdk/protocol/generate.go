package protocol

//go:generate go run ../internal/gen -idl ../../idl/haggle.json -effects ../../idl/effects.json -cu ../../program/cu.json -out .
