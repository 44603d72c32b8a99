// Package svm runs single instructions in a Solana validator's virtual machine. The machine is a program/svm
// process. It holds accounts, runs instructions, and returns the result, the log, the compute units and the
// changed accounts.
//
// There are no transactions, signatures, fees or blocks: an account signs if the signer flag is set. So
// thousands of instructions per second can run against a program's ELF file, and accounts may be in any
// state.
package svm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/gagliardetto/solana-go"
)

// Account is an account on the chain. An account never set is zero.
type Account struct {
	Lamports   uint64
	Owner      solana.PublicKey
	Executable bool
	Data       []byte
}

type KeyedAccount struct {
	Address solana.PublicKey
	Account
}

// Instruction is an instruction with any accounts, flags and data.
type Instruction struct {
	Program  solana.PublicKey
	Accounts []solana.AccountMeta
	Data     []byte
}

// Outcome is an instruction's outcome.
type Outcome struct {
	// Code is a custom error's number. It is valid only if Failed is true and OtherError is empty.
	Code uint32
	// Failed reports whether the instruction returned an error. It then changed nothing.
	Failed bool
	// OtherError is the name of an unnumbered error, such as "MissingRequiredSignature". Failed is then true.
	OtherError string
	// Units is the number of compute units used.
	Units uint64
	// Log contains the log lines from the instruction and all called instructions.
	Log []string
	// ReturnData contains the bytes returned last by a program.
	ReturnData []byte
	// Changed lists the changed accounts.
	Changed []KeyedAccount
}

// Machine is a running process. It is not safe for concurrent use.
type Machine struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader
	stderr  bytes.Buffer
	frame   []byte
}

// Start starts a machine from the binary built by Build. It includes the system program, both token programs
// and the associated token account program. Close or the end of the context stops it.
func Start(ctx context.Context, binary string) (*Machine, error) {
	m := &Machine{command: exec.CommandContext(ctx, binary)}
	m.command.Stderr = &m.stderr
	var err error
	if m.stdin, err = m.command.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := m.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	m.stdout = bufio.NewReaderSize(stdout, 1<<16)
	if err := m.command.Start(); err != nil {
		return nil, err
	}
	return m, nil
}

// Close stops the process.
func (m *Machine) Close() error {
	err := m.stdin.Close()
	if ended := m.command.Wait(); ended != nil {
		return m.exitError(ended)
	}
	return err
}

// Load loads a program from ELF file content.
func (m *Machine) Load(program solana.PublicKey, elf []byte) error {
	m.begin(requestLoad)
	m.frame = append(append(m.frame, program[:]...), elf...)
	_, err := m.roundTrip()
	return err
}

// ELF returns the content of a program's ELF file.
func (m *Machine) ELF(program solana.PublicKey) ([]byte, error) {
	m.begin(requestELF)
	m.frame = append(m.frame, program[:]...)
	response, err := m.roundTrip()
	if err != nil {
		return nil, err
	}
	elf := response.bytes()
	return elf, response.end()
}

// Begin removes all accounts and sets these.
func (m *Machine) Begin(accounts []KeyedAccount) error {
	m.begin(requestBegin)
	return m.sendAccounts(accounts)
}

// Set sets these accounts and keeps the others.
func (m *Machine) Set(accounts []KeyedAccount) error {
	m.begin(requestSet)
	return m.sendAccounts(accounts)
}

// Accounts returns the accounts at these addresses.
func (m *Machine) Accounts(addresses ...solana.PublicKey) ([]KeyedAccount, error) {
	m.begin(requestGet)
	if err := m.putCount(len(addresses)); err != nil {
		return nil, err
	}
	for _, address := range addresses {
		m.frame = append(m.frame, address[:]...)
	}
	response, err := m.roundTrip()
	if err != nil {
		return nil, err
	}
	accounts := response.accounts()
	return accounts, response.end()
}

// SetClock sets the chain's clock, in Unix seconds.
func (m *Machine) SetClock(now int64) error {
	m.begin(requestClock)
	m.frame = binary.LittleEndian.AppendUint64(m.frame, uint64(now))
	_, err := m.roundTrip()
	return err
}

// Rent returns the lamports that make an account of size bytes rent exempt.
func (m *Machine) Rent(size uint32) (uint64, error) {
	m.begin(requestRent)
	m.frame = binary.LittleEndian.AppendUint32(m.frame, size)
	response, err := m.roundTrip()
	if err != nil {
		return 0, err
	}
	lamports := next[uint64](response)
	return lamports, response.end()
}

// Run runs an instruction. The outcome contains the program's error; Run returns only machine errors.
func (m *Machine) Run(instruction Instruction) (*Outcome, error) {
	return m.run(requestRun, instruction)
}

// Probe returns Run's outcome but keeps no changes.
func (m *Machine) Probe(instruction Instruction) (*Outcome, error) {
	return m.run(requestProbe, instruction)
}

func (m *Machine) run(request byte, instruction Instruction) (*Outcome, error) {
	m.begin(request)
	m.frame = append(m.frame, instruction.Program[:]...)
	if err := m.putCount(len(instruction.Accounts)); err != nil {
		return nil, err
	}
	for _, meta := range instruction.Accounts {
		m.frame = append(append(m.frame, meta.PublicKey[:]...), flags(meta))
	}
	m.frame = append(m.frame, instruction.Data...)
	response, err := m.roundTrip()
	if err != nil {
		return nil, err
	}
	outcome := response.outcome()
	return outcome, response.end()
}

func (m *Machine) sendAccounts(accounts []KeyedAccount) error {
	if err := m.putCount(len(accounts)); err != nil {
		return err
	}
	for _, account := range accounts {
		if err := m.putAccount(account); err != nil {
			return err
		}
	}
	_, err := m.roundTrip()
	return err
}

// roundTrip sends the frame and reads the response.
func (m *Machine) roundTrip() (*reader, error) {
	if len(m.frame) > frameLimit {
		return nil, fmt.Errorf("request of %d bytes: limit is %d", len(m.frame), frameLimit)
	}
	binary.LittleEndian.PutUint32(m.frame, uint32(len(m.frame)-4))
	if _, err := m.stdin.Write(m.frame); err != nil {
		return nil, m.exitError(err)
	}
	var length [4]byte
	if _, err := io.ReadFull(m.stdout, length[:]); err != nil {
		return nil, m.exitError(err)
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size == 0 || size > frameLimit {
		return nil, fmt.Errorf("response of %d bytes", size)
	}
	response := make([]byte, size)
	if _, err := io.ReadFull(m.stdout, response); err != nil {
		return nil, m.exitError(err)
	}
	if response[0] != 0 {
		return nil, fmt.Errorf("request refused: %s", response[1:])
	}
	return &reader{rest: response[1:]}, nil
}

// exitError adds the process's stderr to an error.
func (m *Machine) exitError(err error) error {
	if m.stderr.Len() == 0 {
		return fmt.Errorf("machine stopped: %w", err)
	}
	return errors.Join(fmt.Errorf("machine stopped: %w", err), errors.New(m.stderr.String()))
}
