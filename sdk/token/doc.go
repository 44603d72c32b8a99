// Package token decodes the mints and token accounts of SPL Token and Token-2022 and builds the instructions
// around an escrow: creating associated token accounts, wrapping and unwrapping SOL. It sends no requests.
package token
