package protocol

//go:generate go run ../internal/gen -idl ../../idl/haggle.json -cu ../../program/cu.json -out .
