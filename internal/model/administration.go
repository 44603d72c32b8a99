package model

import "encoding/binary"

// readSettings reads the arguments that initialize_config and update_config share, and checks their ranges.
func (c *call) readSettings(config *Config) error {
	c.arguments.read(&config.Treasury)
	c.arguments.read(&config.DecayBps)
	c.arguments.read(&config.Window)
	c.arguments.read(&config.FeeBps)
	c.arguments.read(&config.MaxRounds)
	inRange := config.Treasury != Address{} &&
		config.DecayBps <= 1_000 &&
		config.Window >= 60 && config.Window <= 3_600 &&
		config.FeeBps <= 500 &&
		config.MaxRounds >= 1 && config.MaxRounds <= 20
	return refuse(!inRange, InvalidParams)
}

func (c *call) initializeConfig() error {
	wrong := wrongAddresses{
		seeds:   c.key("config") != configAddress.address || c.key("program_data") != programDataAddress.address,
		program: c.key("system_program") != systemProgram,
	}
	config := &Config{Authority: c.signer(), Bump: configAddress.bump}
	if err := first(
		wrong.worst(),
		c.readSettings(config),
		refuse(!isUpgradeAuthority(c.account(c.key("program_data")).Data, c.signer()), Unauthorized),
	); err != nil {
		return err
	}
	if err := c.create(c.signer(), configAddress.address, ProgramID, config.Bytes()); err != nil {
		return err
	}
	c.logConfig("ConfigInitialized", config)
	c.happened("configured")
	return nil
}

// isUpgradeAuthority reads the loader's account of a program: its kind as u32, the slot of the deployment, then the authority
// as an option.
func isUpgradeAuthority(programData []byte, who Address) bool {
	return len(programData) >= 45 && binary.LittleEndian.Uint32(programData) == 3 && programData[12] == 1 &&
		Address(programData[13:45]) == who
}

// changeConfig is what the instructions of the authority have in common: the configuration's address, the ranges of the
// arguments, who signs, and an event with what it is then.
func (c *call) changeConfig(outcome string, change func(*Config) error, maySign func(*Config) Address) error {
	address := c.key("config")
	account := c.account(address)
	config, _ := ReadConfig(account.Data)
	signer := maySign(config)
	if err := first(
		refuse(address != configAddress.address, ConstraintSeeds),
		change(config),
		// Zeros stand for nobody, even though the system program's address is all zeros.
		refuse(c.signer() != signer || signer == Address{}, Unauthorized),
	); err != nil {
		return err
	}
	account.Data = config.Bytes()
	c.put(address, account)
	c.logConfig("ConfigUpdated", config)
	c.happened(outcome)
	return nil
}

func authority(config *Config) Address { return config.Authority }

func (c *call) updateConfig() error {
	return c.changeConfig("administration: settings changed", c.readSettings, authority)
}

func (c *call) setPaused() error {
	var paused bool
	c.arguments.read(&paused)
	outcome := "administration: resumed"
	if paused {
		outcome = "administration: paused"
	}
	return c.changeConfig(outcome, func(config *Config) error {
		config.Paused = paused
		return nil
	}, authority)
}

func (c *call) proposeAuthority() error {
	return c.changeConfig("administration: authority proposed", func(config *Config) error {
		c.arguments.read(&config.PendingAuthority)
		return nil
	}, authority)
}

func (c *call) acceptAuthority() error {
	return c.changeConfig("administration: authority accepted", func(config *Config) error {
		config.Authority, config.PendingAuthority = config.PendingAuthority, Address{}
		return nil
	}, func(config *Config) Address { return config.PendingAuthority })
}

func (c *call) logConfig(name string, config *Config) {
	c.log(name, "authority", config.Authority, "treasury", config.Treasury, "default_decay_rate_bps", config.DecayBps,
		"default_response_window", config.Window, "default_protocol_fee_bps", config.FeeBps,
		"default_max_rounds", config.MaxRounds, "is_paused", config.Paused)
}
