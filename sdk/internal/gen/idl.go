package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// idlFile is the Anchor IDL (specification 0.1.0), as far as the program uses it.
type idlFile struct {
	Address      string           `json:"address"`
	Instructions []idlInstruction `json:"instructions"`
	Accounts     []idlRecord      `json:"accounts"`
	Events       []idlRecord      `json:"events"`
	Errors       []idlError       `json:"errors"`
	Types        []idlTypeDef     `json:"types"`
	Constants    []idlConstant    `json:"constants"`
}

type idlInstruction struct {
	Name          string       `json:"name"`
	Docs          []string     `json:"docs"`
	Discriminator []int        `json:"discriminator"`
	Accounts      []idlAccount `json:"accounts"`
	Args          []idlField   `json:"args"`
}

type idlAccount struct {
	Name     string   `json:"name"`
	Docs     []string `json:"docs"`
	Writable bool     `json:"writable"`
	Signer   bool     `json:"signer"`
	Optional bool     `json:"optional"`
	Address  string   `json:"address"`
	PDA      *idlPDA  `json:"pda"`
}

type idlPDA struct {
	Seeds   []idlSeed `json:"seeds"`
	Program *idlSeed  `json:"program"`
}

// idlSeed is a constant (Value), or the account or the argument that Path names.
type idlSeed struct {
	Kind  string `json:"kind"`
	Value []int  `json:"value"`
	Path  string `json:"path"`
}

type idlField struct {
	Name string   `json:"name"`
	Docs []string `json:"docs"`
	Type idlType  `json:"type"`
}

type idlRecord struct {
	Name          string `json:"name"`
	Discriminator []int  `json:"discriminator"`
}

type idlError struct {
	Code    uint32 `json:"code"`
	Name    string `json:"name"`
	Message string `json:"msg"`
}

type idlTypeDef struct {
	Name string   `json:"name"`
	Docs []string `json:"docs"`
	Type struct {
		Kind     string       `json:"kind"`
		Fields   []idlField   `json:"fields"`
		Variants []idlVariant `json:"variants"`
	} `json:"type"`
}

type idlVariant struct {
	Name   string          `json:"name"`
	Fields json.RawMessage `json:"fields"`
}

type idlConstant struct {
	Name  string   `json:"name"`
	Docs  []string `json:"docs"`
	Type  idlType  `json:"type"`
	Value string   `json:"value"`
}

// idlType is a primitive, an array of a primitive, or a type with a definition of its own.
type idlType struct {
	Primitive string
	Element   string
	Length    int
	Defined   string
}

func (t *idlType) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &t.Primitive)
	}
	var composed struct {
		Array   []json.RawMessage `json:"array"`
		Defined *struct {
			Name string `json:"name"`
		} `json:"defined"`
	}
	if err := json.Unmarshal(data, &composed); err != nil {
		return err
	}
	switch {
	case composed.Defined != nil:
		t.Defined = composed.Defined.Name
		return nil
	case len(composed.Array) == 2:
		if err := json.Unmarshal(composed.Array[0], &t.Element); err != nil {
			return fmt.Errorf("an array's element must be a primitive: %w", err)
		}
		return json.Unmarshal(composed.Array[1], &t.Length)
	}
	return fmt.Errorf("type %s is not supported", data)
}

func readIDL(path string) (*idlFile, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file idlFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &file, nil
}
