//! A part of an amount in the proportion of two others.

/// `amount * part / whole`, rounded down. Requires `part <= whole` and `whole > 0`; the result is at most
/// `amount`.
// Below 2^32 the product fits in 64 bits.
#[allow(clippy::arithmetic_side_effects)]
#[inline(always)]
pub fn floored(amount: u64, part: u64, whole: u64) -> u64 {
    if (amount | part) >> 32 == 0 {
        amount * part / whole
    } else {
        long_floored(amount, part, whole)
    }
}

/// Multiplies bit by bit, from the highest, and divides on the way: `quotient * whole + remainder` is always
/// the product of the bits so far and `part`.
// `remainder` and `part` are at most `whole`, and each sum is formed as a difference that cannot underflow.
// `quotient` is at most the bits of `amount` so far.
#[allow(clippy::arithmetic_side_effects)]
#[cold]
#[inline(never)]
fn long_floored(amount: u64, part: u64, whole: u64) -> u64 {
    let (mut quotient, mut remainder) = (0u64, 0u64);
    let mut bits = amount;
    for _ in 0..u64::BITS {
        quotient <<= 1;
        let room = whole - remainder;
        if remainder >= room {
            quotient += 1;
            remainder -= room;
        } else {
            remainder += remainder;
        }
        if bits >> 63 != 0 {
            let room = whole - remainder;
            if part >= room {
                quotient += 1;
                remainder = part - room;
            } else {
                remainder += part;
            }
        }
        bits <<= 1;
    }
    quotient
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::floored;

    fn exact(amount: u64, part: u64, whole: u64) -> u64 {
        (u128::from(amount) * u128::from(part) / u128::from(whole)) as u64
    }

    #[test]
    fn proportions_equal_those_of_128_bit_arithmetic() {
        let mut numbers: Vec<u64> = (0..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit]).collect();
        numbers.extend([3, 7, 9_999, 10_001, 5_000_000, u64::MAX - 1, u64::MAX]);
        for whole in numbers.iter().filter(|whole| **whole > 0) {
            for part in numbers.iter().filter(|part| *part <= whole) {
                for amount in &numbers {
                    assert_eq!(
                        floored(*amount, *part, *whole),
                        exact(*amount, *part, *whole),
                        "{amount} * {part} / {whole}"
                    );
                }
            }
        }
    }
}
