package haggle

// The layout of mints and token accounts, as the token programs document it.
const (
	mintSize                         = 82
	mintOffsetDecimals               = 44
	mintOffsetInitialised            = 45
	tokenAccountSize                 = 165
	tokenAccountOffsetOwner          = 32
	tokenAccountOffsetAmt            = 64
	tokenAccountOffsetDelegate       = 72
	tokenAccountOffsetState          = 108
	tokenAccountOffsetCloseAuthority = 129
	offsetAccountType                = 165
	offsetExtensions                 = 166
	accountTypeMint                  = 1
	accountTypeTokenAccount          = 2
	extensionImmutableOwner          = 7
	extensionCPIGuard                = 11
	tokenCloseAccount                = 9
)
