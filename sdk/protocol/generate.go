package protocol

//go:generate go run ../internal/gen -idl ../../idl/haggle.json -out . -anchor ../internal/anchor
