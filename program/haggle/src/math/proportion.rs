//! Computes the part of an amount in proportion to two other amounts.

/// `amount * part / whole`, rounded down. Requires `part <= whole` and `whole > 0`; the result does not
/// exceed `amount`.
// Factors less than 2^32 have a 64-bit product.
#[allow(clippy::arithmetic_side_effects)]
#[inline(always)]
pub fn floored(amount: u64, part: u64, whole: u64) -> u64 {
    if (amount | part) >> 32 == 0 {
        amount * part / whole
    } else {
        long_floored(amount, part, whole)
    }
}

const LOW: u64 = u32::MAX as u64;

/// Divides the product by Knuth's algorithm D (The Art of Computer Programming, volume 2, 4.3.1) in digits of
/// 32 bits. The cost depends on the amounts only by the digit corrections, at most four.
// The divisor's highest bit is set, and `part <= whole` limits the quotient to 64 bits.
#[allow(clippy::arithmetic_side_effects)]
#[cold]
#[inline(never)]
fn long_floored(amount: u64, part: u64, whole: u64) -> u64 {
    let (high, low) = product(amount, part);
    let shift = whole.leading_zeros();
    let divisor = whole << shift;
    let high = high << shift | low >> 1 >> (u64::BITS - 1 - shift);
    let low = low << shift;
    let (first, rest) = digit(high, low >> 32, divisor);
    let (second, _) = digit(rest, low & LOW, divisor);
    first << 32 | second
}

/// A product's upper and lower 64 bits.
// No sum exceeds (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
#[allow(clippy::arithmetic_side_effects)]
#[inline(always)]
fn product(a: u64, b: u64) -> (u64, u64) {
    let low = (a & LOW) * (b & LOW);
    let middle = (a >> 32) * (b & LOW) + (low >> 32);
    let other = (a & LOW) * (b >> 32) + (middle & LOW);
    let high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
    (high, other << 32 | low & LOW)
}

/// The digit of `(high * 2^32 + next) / divisor`, and the remainder. Requires `high < divisor`.
// The first guess exceeds the digit by up to 2. After the 2^32 comparison, the product fits into 64 bits.
#[allow(clippy::arithmetic_side_effects)]
#[inline(never)]
fn digit(high: u64, next: u64, divisor: u64) -> (u64, u64) {
    let upper = divisor >> 32;
    let (mut quotient, mut rest) = (high / upper, high % upper);
    while quotient > LOW || quotient * (divisor & LOW) > (rest << 32 | next) {
        quotient -= 1;
        rest += upper;
        if rest > LOW {
            break;
        }
    }
    let remainder = (high << 32 | next).wrapping_sub(quotient.wrapping_mul(divisor));
    (quotient, remainder)
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
        // Both digits of u64::MAX times the first, divided by the second, need two corrections.
        numbers.extend([0x1f_5de8_92d0, 0x20_db45_23fb]);
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
