package wallet

// CreateEncryptedQuickly is CreateEncrypted without its cost.
var CreateEncryptedQuickly = createEncrypted
