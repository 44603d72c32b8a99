//! The Token-2022 extensions that escrow allows.
//!
//! An account with extensions contains a byte behind the first 165 bytes (mints are zero-padded to this
//! length): 1 for mints, 2 for token accounts. Then the extensions follow: a two-byte number, a two-byte
//! length, and the value. Number 0 ends the list, and so does the end of the data.
//!
//! The lists of this file name the allowed extensions, so the program refuses unknown ones.

/// The smallest size of token accounts, in bytes.
pub const BASE: usize = 165;
/// The offset of the byte that distinguishes mints from token accounts.
const TYPE: usize = BASE;
/// The offset of the list.
const LIST: usize = TYPE + 1;
const TYPE_MINT: u8 = 1;
const TYPE_ACCOUNT: u8 = 2;
/// The smallest size of mints, in bytes.
pub const MINT_BASE: usize = 82;
/// The multisignature size. Token-2022 gives neither mints nor token accounts this size.
const MULTISIG: usize = 355;

const END: u16 = 0;
const IMMUTABLE_OWNER: u16 = 7;
const MEMO_TRANSFER: u16 = 8;
const CPI_GUARD: u16 = 11;
const METADATA_POINTER: u16 = 18;
const TOKEN_METADATA: u16 = 19;
const GROUP_POINTER: u16 = 20;
const TOKEN_GROUP: u16 = 21;
const GROUP_MEMBER_POINTER: u16 = 22;
const TOKEN_GROUP_MEMBER: u16 = 23;

/// The maximum number of mint extensions: each once.
const MINT_EXTENSIONS: usize = 6;
/// The maximum number of token account extensions: each once.
const ACCOUNT_EXTENSIONS: usize = 3;

/// Reports whether Token-2022 account data is sized like a mint, and each extension only describes the
/// tokens: none can take, block, tax or hide them.
#[inline(always)]
pub fn is_harmless_mint(data: &[u8]) -> bool {
    data.len() == MINT_BASE || is_harmless_extended_mint(data)
}

#[inline(never)]
fn is_harmless_extended_mint(data: &[u8]) -> bool {
    let (Some(padding), Some(list)) = (data.get(MINT_BASE..TYPE), list_of(data, TYPE_MINT)) else {
        return false;
    };
    is_zero(padding)
        && each_is(list, MINT_EXTENSIONS, |number, _| {
            matches!(
                number,
                METADATA_POINTER
                    | TOKEN_METADATA
                    | GROUP_POINTER
                    | TOKEN_GROUP
                    | GROUP_MEMBER_POINTER
                    | TOKEN_GROUP_MEMBER
            )
        })
}

/// Reports whether Token-2022 account data, longer than the smallest size, is a token
/// account's.
#[inline(always)]
pub fn is_extended_account(data: &[u8]) -> bool {
    list_of(data, TYPE_ACCOUNT).is_some()
}

/// Reports whether token accounts with the given extensions can receive a program's transfer. An immutable
/// owner and a CPI guard allow it; a required memo prevents it unless the owner has switched it off.
#[inline(never)]
pub fn allow_receiving(data: &[u8]) -> bool {
    let Some(list) = list_of(data, TYPE_ACCOUNT) else {
        return false;
    };
    each_is(list, ACCOUNT_EXTENSIONS, |number, value| match number {
        IMMUTABLE_OWNER | CPI_GUARD => true,
        MEMO_TRANSFER => matches!(value, [0]),
        _ => false,
    })
}

/// The list, if the byte before matches the expected type.
#[inline(always)]
fn list_of(data: &[u8], expected: u8) -> Option<&[u8]> {
    if data.len() == MULTISIG || *data.get(TYPE)? != expected {
        return None;
    }
    data.get(LIST..)
}

#[inline(always)]
fn is_zero(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some((word, behind)) = rest.split_first_chunk() {
        if u64::from_ne_bytes(*word) != 0 {
            return false;
        }
        rest = behind;
    }
    for byte in rest {
        if *byte != 0 {
            return false;
        }
    }
    true
}

/// Reports whether a well-formed list contains up to `most` extensions,
/// all allowed. One byte at the end is ignored, as in Token-2022.
#[inline(always)]
fn each_is(list: &[u8], most: usize, allowed: impl Fn(u16, &[u8]) -> bool) -> bool {
    let mut rest = list;
    for _ in 0..=most {
        let Some((number, behind)) = rest.split_first_chunk() else {
            return true;
        };
        let number = u16::from_le_bytes(*number);
        if number == END {
            return true;
        }
        let Some((length, behind)) = behind.split_first_chunk() else {
            return false;
        };
        let Some((value, behind)) = behind.split_at_checked(u16::from_le_bytes(*length) as usize)
        else {
            return false;
        };
        if !allowed(number, value) {
            return false;
        }
        rest = behind;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All Token-2022 extension numbers, many of them unused, and the largest number.
    fn numbers() -> impl Iterator<Item = u16> {
        (0..=40).chain([255, 256, 0x1200, 0x7fff, 0xffff])
    }

    fn entry(number: u16, value: &[u8]) -> Vec<u8> {
        [
            &number.to_le_bytes()[..],
            &(value.len() as u16).to_le_bytes(),
            value,
        ]
        .concat()
    }

    fn with_list(base: &[u8], kind: u8, list: &[u8]) -> Vec<u8> {
        let mut data = base.to_vec();
        data.resize(BASE, 0);
        data.push(kind);
        data.extend(list);
        data
    }

    fn mint(list: &[u8]) -> Vec<u8> {
        with_list(&[0xa5; MINT_BASE], TYPE_MINT, list)
    }

    fn account(list: &[u8]) -> Vec<u8> {
        with_list(&[0xa5; BASE], TYPE_ACCOUNT, list)
    }

    #[test]
    fn a_mint_can_have_six_of_all_extensions() {
        for number in numbers() {
            for length in [0, 1, 64, 72, 80, 300] {
                let data = mint(&entry(number, &vec![7; length]));
                let expected = number == 0 || [18, 19, 20, 21, 22, 23].contains(&number);
                assert_eq!(
                    is_harmless_mint(&data) && data.len() != MULTISIG,
                    expected && data.len() != MULTISIG,
                    "extension {number} of {length} bytes"
                );
            }
        }
    }

    #[test]
    fn a_receiving_account_can_have_three_of_all_extensions() {
        for number in numbers() {
            for value in [&[][..], &[0], &[1], &[2], &[0, 0], &[0; 8]] {
                let data = account(&entry(number, value));
                let expected = match number {
                    0 | 7 | 11 => true,
                    8 => *value == [0],
                    _ => false,
                };
                assert_eq!(
                    allow_receiving(&data),
                    expected,
                    "extension {number}: {value:?}"
                );
                assert!(is_extended_account(&data));
            }
        }
    }

    #[test]
    fn one_harmful_extension_among_harmless_ones_is_found_in_every_place() {
        for number in numbers().filter(|number| !(18..=23).contains(number) && *number != 0) {
            for place in 0..=6 {
                let mut entries: Vec<_> = (18..=23).map(|number| entry(number, &[1; 5])).collect();
                assert!(is_harmless_mint(&mint(&entries.concat())));
                entries.insert(place, entry(number, &[1; 5]));
                assert!(!is_harmless_mint(&mint(&entries.concat())), "{number}");
            }
        }
        for number in numbers().filter(|number| ![0, 7, 8, 11].contains(number)) {
            for place in 0..=3 {
                let mut entries = vec![entry(7, &[]), entry(8, &[0]), entry(11, &[1])];
                assert!(allow_receiving(&account(&entries.concat())));
                entries.insert(place, entry(number, &[]));
                assert!(!allow_receiving(&account(&entries.concat())), "{number}");
            }
        }
    }

    #[test]
    fn bytes_behind_the_list_are_ignored() {
        for behind in [&[][..], &[9], &[1, 0, 0, 0], &[0xff; 40]] {
            let list = [&[0, 0], behind].concat();
            assert!(is_harmless_mint(&mint(&list)));
            assert!(allow_receiving(&account(&list)));
        }
        // A single byte is too short for a number; Token-2022 ignores it.
        for byte in 0..=u8::MAX {
            assert!(is_harmless_mint(&mint(&[byte])));
            assert!(allow_receiving(&account(&[byte])));
        }
    }

    #[test]
    fn a_truncated_list_is_refused() {
        let list = [entry(18, &[3; 64]), entry(19, &[4; 90])].concat();
        let whole = mint(&list);
        for length in 0..whole.len() {
            // Zero bytes or a single byte of the list, the same for the second entry; also mints without extensions.
            let expected = [MINT_BASE, 166, 167, 166 + 68, 166 + 69].contains(&length);
            assert_eq!(
                is_harmless_mint(&whole[..length]),
                expected,
                "{length} bytes"
            );
        }
        let list = [entry(7, &[]), entry(8, &[0])].concat();
        let whole = account(&list);
        for length in 0..whole.len() {
            let expected = [166, 167, 170, 171].contains(&length);
            assert_eq!(
                allow_receiving(&whole[..length]),
                expected,
                "{length} bytes"
            );
        }
    }

    #[test]
    fn a_length_beyond_the_data_is_refused() {
        for length in [1u16, 2, 64, 255, 256, 0x7fff, 0xffff] {
            let list = [&18u16.to_le_bytes()[..], &length.to_le_bytes()].concat();
            assert!(!is_harmless_mint(&mint(&list)));
            let list = [&11u16.to_le_bytes()[..], &length.to_le_bytes()].concat();
            assert!(!allow_receiving(&account(&list)));
        }
    }

    #[test]
    fn more_extensions_than_there_are_kinds_are_refused() {
        for count in 0..20 {
            let list = entry(18, &[]).repeat(count);
            assert_eq!(is_harmless_mint(&mint(&list)), count <= MINT_EXTENSIONS);
            let list = entry(7, &[]).repeat(count);
            assert_eq!(
                allow_receiving(&account(&list)),
                count <= ACCOUNT_EXTENSIONS
            );
        }
    }

    #[test]
    fn the_account_type_must_match() {
        for kind in 0..=u8::MAX {
            let data = with_list(&[0xa5; MINT_BASE], kind, &entry(18, &[0; 64]));
            assert_eq!(is_harmless_mint(&data), kind == TYPE_MINT);
            let data = with_list(&[0xa5; BASE], kind, &entry(7, &[]));
            assert_eq!(is_extended_account(&data), kind == TYPE_ACCOUNT);
            assert_eq!(allow_receiving(&data), kind == TYPE_ACCOUNT);
        }
    }

    #[test]
    fn a_mint_is_padded_with_zeros_only() {
        for place in MINT_BASE..BASE {
            for byte in [1, 0x80, 0xff] {
                let mut data = mint(&entry(18, &[0; 64]));
                assert!(is_harmless_mint(&data));
                data[place] = byte;
                assert!(!is_harmless_mint(&data), "byte {place}");
            }
        }
    }

    #[test]
    fn an_account_with_the_length_of_a_multisignature_is_refused() {
        for length in 0..=BASE {
            assert_eq!(is_harmless_mint(&vec![0; length]), length == MINT_BASE);
            assert!(!is_extended_account(&vec![0; length]));
        }
        let fill = MULTISIG - LIST - 4;
        let data = mint(&entry(19, &vec![0; fill]));
        assert_eq!(data.len(), MULTISIG);
        assert!(!is_harmless_mint(&data));
        assert!(is_harmless_mint(&mint(&entry(19, &vec![0; fill + 1]))));
        let data = account(&entry(11, &vec![0; fill]));
        assert!(!is_extended_account(&data));
        assert!(!allow_receiving(&data));
        assert!(allow_receiving(&account(&entry(11, &vec![0; fill - 1]))));
    }
}
