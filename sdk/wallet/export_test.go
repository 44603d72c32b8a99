package wallet

// CreateEncryptedQuickly is CreateEncrypted with a low work factor.
var CreateEncryptedQuickly = createEncrypted
