// Package svm runs single instructions in the virtual machine of a Solana validator: a process of program/svm, which
// holds accounts, runs what it is told to, and answers with the result, the log, the compute units and the changed accounts.
//
// There are no transactions, signatures, fees or blocks: an account signs if its flag says so. That makes it possible to run
// thousands of instructions a second against a program's ELF file, and to put accounts into any state.
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

// Account is an account as the chain keeps it. One that was never set is zero.
type Account struct {
	Lamports   uint64
	Owner      solana.PublicKey
	Executable bool
	Data       []byte
}

// KeyedAccount is an account at its address.
type KeyedAccount struct {
	Address solana.PublicKey
	Account
}

// Instruction is what is run: any accounts, any flags, any data.
type Instruction struct {
	Program  solana.PublicKey
	Accounts []solana.AccountMeta
	Data     []byte
}

// Outcome is what came of an instruction.
type Outcome struct {
	// Code is the number of a custom error; meaningless unless Failed.
	Code uint32
	// Failed reports that the instruction returned an error, and so has changed nothing.
	Failed bool
	// OtherError names an error that is not a custom one, as "MissingRequiredSignature"; Failed is true then.
	OtherError string
	// Units are the compute units that were used.
	Units uint64
	// Log is the log of the instruction and of those that it called.
	Log []string
	// Changed are the accounts that are not as they were.
	Changed []KeyedAccount
}

// Machine is a running process. It is for one goroutine at a time.
type Machine struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader
	stderr  bytes.Buffer
	frame   []byte
}

// Start starts a machine from the binary that Build has built. It has the system program, both token programs and the
// associated token account program. It ends with Close or with the context.
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

// Close ends the process.
func (m *Machine) Close() error {
	err := m.stdin.Close()
	if ended := m.command.Wait(); ended != nil {
		return m.died(ended)
	}
	return err
}

// Load loads a program from its ELF file's content.
func (m *Machine) Load(program solana.PublicKey, elf []byte) error {
	m.begin(questionLoad)
	m.frame = append(append(m.frame, program[:]...), elf...)
	_, err := m.ask()
	return err
}

// Begin forgets all accounts and sets these instead.
func (m *Machine) Begin(accounts []KeyedAccount) error {
	m.begin(questionBegin)
	return m.askAbout(accounts)
}

// Set sets these accounts, and no others.
func (m *Machine) Set(accounts []KeyedAccount) error {
	m.begin(questionSet)
	return m.askAbout(accounts)
}

// Accounts are what the machine has at these addresses.
func (m *Machine) Accounts(addresses ...solana.PublicKey) ([]KeyedAccount, error) {
	m.begin(questionGet)
	if err := m.putCount(len(addresses)); err != nil {
		return nil, err
	}
	for _, address := range addresses {
		m.frame = append(m.frame, address[:]...)
	}
	answer, err := m.ask()
	if err != nil {
		return nil, err
	}
	accounts := answer.accounts()
	return accounts, answer.end()
}

// SetClock sets the chain's clock, in Unix seconds.
func (m *Machine) SetClock(now int64) error {
	m.begin(questionClock)
	m.frame = binary.LittleEndian.AppendUint64(m.frame, uint64(now))
	_, err := m.ask()
	return err
}

// Rent is how many lamports make an account of size bytes rent exempt.
func (m *Machine) Rent(size uint32) (uint64, error) {
	m.begin(questionRent)
	m.frame = binary.LittleEndian.AppendUint32(m.frame, size)
	answer, err := m.ask()
	if err != nil {
		return 0, err
	}
	lamports := answer.uint64()
	return lamports, answer.end()
}

// Run runs an instruction. The error is the machine's; what the program answers is in the outcome.
func (m *Machine) Run(instruction Instruction) (*Outcome, error) {
	return m.run(questionRun, instruction)
}

// Probe is what Run would answer; everything stays as it is.
func (m *Machine) Probe(instruction Instruction) (*Outcome, error) {
	return m.run(questionProbe, instruction)
}

func (m *Machine) run(question byte, instruction Instruction) (*Outcome, error) {
	m.begin(question)
	m.frame = append(m.frame, instruction.Program[:]...)
	if err := m.putCount(len(instruction.Accounts)); err != nil {
		return nil, err
	}
	for _, meta := range instruction.Accounts {
		m.frame = append(append(m.frame, meta.PublicKey[:]...), flags(meta))
	}
	m.frame = append(m.frame, instruction.Data...)
	answer, err := m.ask()
	if err != nil {
		return nil, err
	}
	outcome := answer.outcome()
	return outcome, answer.end()
}

func (m *Machine) askAbout(accounts []KeyedAccount) error {
	if err := m.putCount(len(accounts)); err != nil {
		return err
	}
	for _, account := range accounts {
		m.putAccount(account)
	}
	_, err := m.ask()
	return err
}

// ask sends the frame and reads the answer.
func (m *Machine) ask() (*reader, error) {
	if len(m.frame) > frameLimit {
		return nil, fmt.Errorf("a question of %d bytes is longer than %d", len(m.frame), frameLimit)
	}
	binary.LittleEndian.PutUint32(m.frame, uint32(len(m.frame)-4))
	if _, err := m.stdin.Write(m.frame); err != nil {
		return nil, m.died(err)
	}
	var length [4]byte
	if _, err := io.ReadFull(m.stdout, length[:]); err != nil {
		return nil, m.died(err)
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size == 0 || size > frameLimit {
		return nil, fmt.Errorf("the machine answers with %d bytes", size)
	}
	answer := make([]byte, size)
	if _, err := io.ReadFull(m.stdout, answer); err != nil {
		return nil, m.died(err)
	}
	if answer[0] != 0 {
		return nil, fmt.Errorf("the machine refuses: %s", answer[1:])
	}
	return &reader{rest: answer[1:]}, nil
}

// died explains a conversation that broke off with what the process said last.
func (m *Machine) died(err error) error {
	if m.stderr.Len() == 0 {
		return fmt.Errorf("the machine has ended: %w", err)
	}
	return errors.Join(fmt.Errorf("the machine has ended: %w", err), errors.New(m.stderr.String()))
}
