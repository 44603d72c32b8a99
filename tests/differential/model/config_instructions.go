package model

import "encoding/binary"

// Settings contains the arguments for initialize_config and update_config.
type Settings struct {
	Treasury              Address
	DefaultDecayRateBps   uint16
	DefaultResponseWindow int64
	DefaultProtocolFeeBps uint16
	DefaultMaxRounds      uint8
}

func (s Settings) checkRanges() error {
	inRange := s.Treasury != Address{} &&
		s.DefaultDecayRateBps <= 1_000 &&
		s.DefaultResponseWindow >= 60 && s.DefaultResponseWindow <= 3_600 &&
		s.DefaultProtocolFeeBps <= 500 &&
		s.DefaultMaxRounds >= 1 && s.DefaultMaxRounds <= 20
	return failIf(!inRange, InvalidParams)
}

func (s Settings) apply(config *Config) {
	config.Treasury = s.Treasury
	config.DefaultDecayRateBps = s.DefaultDecayRateBps
	config.DefaultResponseWindow = s.DefaultResponseWindow
	config.DefaultProtocolFeeBps = s.DefaultProtocolFeeBps
	config.DefaultMaxRounds = s.DefaultMaxRounds
}

type InitializeConfig struct {
	Authority     Address `account:"signer,writable"`
	Config        Address `account:"writable,vacant"`
	ProgramData   Address `account:"loader"`
	SystemProgram Address `account:""`
	Settings      Settings
}

func (i *InitializeConfig) execute(e *execution) error {
	wrong := addressErrors{
		pda:     i.Config != configPDA.address || i.ProgramData != programDataPDA.address,
		program: i.SystemProgram != systemProgram,
	}
	if err := firstError(
		wrong.first(),
		i.Settings.checkRanges(),
		failIf(!isUpgradeAuthority(e.account(i.ProgramData).Data, i.Authority), Unauthorized),
	); err != nil {
		return err
	}
	config := &Config{Authority: i.Authority, Bump: configPDA.bump}
	i.Settings.apply(config)
	if err := e.create(i.Authority, configPDA.address, ProgramID, config.Bytes()); err != nil {
		return err
	}
	e.logConfig("ConfigInitialized", config)
	e.note("configured")
	return nil
}

// isUpgradeAuthority reads the loader's ProgramData account: the kind in a u32, the deployment slot in a u64,
// then the authority as an option.
func isUpgradeAuthority(programData []byte, signer Address) bool {
	return len(programData) >= 45 && binary.LittleEndian.Uint32(programData) == 3 && programData[12] == 1 &&
		Address(programData[13:45]) == signer
}

// changeConfig contains the common steps of the instructions that change the configuration. The required signer
// must not be zero: zeros stand for the system program, and mean that no authority is pending.
func (e *execution) changeConfig(address, signer, required Address, ranges error,
	change func(*Config)) error {
	if err := firstError(
		failIf(address != configPDA.address, ConstraintSeeds),
		ranges,
		failIf(signer != required || required == Address{}, Unauthorized),
	); err != nil {
		return err
	}
	account := e.account(address)
	config, _ := ReadConfig(account.Data)
	change(config)
	account.Data = config.Bytes()
	e.put(address, account)
	e.logConfig("ConfigUpdated", config)
	return nil
}

func (e *execution) authority(config Address) Address {
	c, _ := ReadConfig(e.account(config).Data)
	return c.Authority
}

type UpdateConfig struct {
	Authority Address `account:"signer"`
	Config    Address `account:"writable,config"`
	Settings  Settings
}

func (i *UpdateConfig) execute(e *execution) error {
	e.note("config: settings changed")
	return e.changeConfig(i.Config, i.Authority, e.authority(i.Config), i.Settings.checkRanges(),
		i.Settings.apply)
}

type SetPaused struct {
	Authority Address `account:"signer"`
	Config    Address `account:"writable,config"`
	Paused    bool
}

func (i *SetPaused) execute(e *execution) error {
	if i.Paused {
		e.note("config: paused")
	} else {
		e.note("config: resumed")
	}
	return e.changeConfig(i.Config, i.Authority, e.authority(i.Config), nil, func(config *Config) {
		config.IsPaused = i.Paused
	})
}

type ProposeAuthority struct {
	Authority    Address `account:"signer"`
	Config       Address `account:"writable,config"`
	NewAuthority Address
}

func (i *ProposeAuthority) execute(e *execution) error {
	e.note("config: authority proposed")
	return e.changeConfig(i.Config, i.Authority, e.authority(i.Config), nil, func(config *Config) {
		config.PendingAuthority = i.NewAuthority
	})
}

type AcceptAuthority struct {
	Authority Address `account:"signer"`
	Config    Address `account:"writable,config"`
}

func (i *AcceptAuthority) execute(e *execution) error {
	config, _ := ReadConfig(e.account(i.Config).Data)
	e.note("config: authority accepted")
	return e.changeConfig(i.Config, i.Authority, config.PendingAuthority, nil, func(config *Config) {
		config.Authority, config.PendingAuthority = config.PendingAuthority, Address{}
	})
}

func (e *execution) logConfig(name string, config *Config) {
	e.log(name, "authority", config.Authority, "treasury", config.Treasury,
		"default_decay_rate_bps", config.DefaultDecayRateBps,
		"default_response_window", config.DefaultResponseWindow,
		"default_protocol_fee_bps", config.DefaultProtocolFeeBps,
		"default_max_rounds", config.DefaultMaxRounds, "is_paused", config.IsPaused)
}
