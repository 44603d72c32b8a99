// Package token decodes mints and token accounts (SPL Token, Token-2022) and builds the instructions around
// an escrow: creating associated token accounts, wrapping and unwrapping SOL. It uses no network.
package token
