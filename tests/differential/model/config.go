package model

// ConfigSize is the size of the configuration account in bytes.
const ConfigSize = 143

// Config is the ProtocolConfig account; the fields are in byte order.
type Config struct {
	Authority             Address
	Treasury              Address
	DefaultDecayRateBps   uint16
	DefaultResponseWindow int64
	DefaultProtocolFeeBps uint16
	DefaultMaxRounds      uint8
	TotalNegotiations     uint64
	TotalSettledVolume    uint64
	TotalFeesCollected    uint64
	IsPaused              bool
	Bump                  uint8
	PendingAuthority      Address
}

var configDiscriminator = discriminator("account", "ProtocolConfig")

func (c *Config) Bytes() []byte { return encodeAccount(configDiscriminator, c) }

// ReadConfig reads the account's data. It returns false for a wrong size or discriminator.
func ReadConfig(data []byte) (*Config, bool) {
	c := new(Config)
	if !decodeAccount(data, configDiscriminator, ConfigSize, c) {
		return nil, false
	}
	return c, true
}
