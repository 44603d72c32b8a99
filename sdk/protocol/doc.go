// Package protocol implements the Haggle program's data formats and rules. It uses no network. It contains
// the codec for accounts, instructions and events, addresses, error codes, and the rules that follow from a
// negotiation's state alone, such as the next offer's range, the fee, the tranches and the terms hash.
//
// The codec is generated from the IDL. Decoding is exact: another discriminator, length or enum value is a
// [*DecodeError], never a zero value. Amounts use the mint's base units, rates use basis points, times in
// Unix seconds of the chain's clock.
package protocol
