package model

// Config is the account of the protocol's configuration.
type Config struct {
	Authority        Address
	Treasury         Address
	DecayBps         uint16
	Window           int64
	FeeBps           uint16
	MaxRounds        uint8
	Negotiations     uint64
	Volume           uint64
	Fees             uint64
	Paused           bool
	Bump             uint8
	PendingAuthority Address
}

func (c *Config) visit(field fields) {
	field("authority", &c.Authority)
	field("treasury", &c.Treasury)
	field("default_decay_rate_bps", &c.DecayBps)
	field("default_response_window", &c.Window)
	field("default_protocol_fee_bps", &c.FeeBps)
	field("default_max_rounds", &c.MaxRounds)
	field("total_negotiations", &c.Negotiations)
	field("total_settled_volume", &c.Volume)
	field("total_fees_collected", &c.Fees)
	field("is_paused", &c.Paused)
	field("bump", &c.Bump)
	field("pending_authority", &c.PendingAuthority)
}

var configDiscriminator = discriminator("account", "ProtocolConfig")

// Bytes are the account's data.
func (c *Config) Bytes() []byte {
	data := append(make([]byte, 0, ConfigSize), configDiscriminator...)
	c.visit(func(_ string, field any) { data = appendField(data, field) })
	return data
}

// ReadConfig reads an account's data; ok is false when they are not the configuration's.
func ReadConfig(data []byte) (c *Config, ok bool) {
	if len(data) != ConfigSize || string(data[:8]) != string(configDiscriminator) {
		return nil, false
	}
	c = new(Config)
	rest := reader{data[8:]}
	c.visit(func(_ string, field any) { rest.read(field) })
	return c, true
}
