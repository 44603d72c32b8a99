// Package protocol is the Haggle program without a network: the codec of its accounts, instructions and
// events, its addresses and errors, and the rules that follow from a negotiation's state alone, such as the
// range of the next offer, the fee, the tranches and the terms hash.
//
// The codec is generated from the IDL. Decoding is exact: another discriminator, length or enum value is a
// [*DecodeError], never a zero value. Amounts are in base units of the mint, rates in basis points, times in
// Unix seconds of the chain's clock.
package protocol
