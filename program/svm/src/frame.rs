//! Request and response frames: a u32 length, then as many bytes. All numbers are little endian.

use std::io::{self, Read, Write};

/// The longest request or response in bytes. It limits the allocation for a corrupt length.
pub const LIMIT: usize = 16 << 20;

/// Reads a frame. It returns None if the stream ends before one begins.
///
/// # Errors
/// The stream's errors; UnexpectedEof if it ends within a frame; InvalidData if the frame is longer than
/// [`LIMIT`].
pub fn read(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read(&mut length[..1])? {
        0 => return Ok(None),
        _ => from.read_exact(&mut length[1..])?,
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > LIMIT {
        return Err(too_long(length));
    }
    let mut frame = vec![0; length];
    from.read_exact(&mut frame)?;
    Ok(Some(frame))
}

/// Writes a frame.
///
/// # Errors
/// The stream's errors; InvalidData if the frame is longer than [`LIMIT`].
pub fn write(to: &mut impl Write, frame: &[u8]) -> io::Result<()> {
    if frame.len() > LIMIT {
        return Err(too_long(frame.len()));
    }
    to.write_all(&(frame.len() as u32).to_le_bytes())?;
    to.write_all(frame)
}

fn too_long(length: usize) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("a frame of {length} bytes is longer than {LIMIT}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written() {
        let mut stream = Vec::new();
        write(&mut stream, b"one").unwrap();
        write(&mut stream, b"").unwrap();
        let mut stream = stream.as_slice();
        assert_eq!(read(&mut stream).unwrap().unwrap(), b"one");
        assert_eq!(read(&mut stream).unwrap().unwrap(), b"");
        assert!(read(&mut stream).unwrap().is_none());
    }

    #[test]
    fn truncated_and_overlong_frames_are_errors() {
        assert!(read(&mut [3, 0, 0, 0, 1].as_slice()).is_err());
        assert!(read(&mut [3, 0].as_slice()).is_err());
        let error = read(&mut u32::MAX.to_le_bytes().as_slice()).unwrap_err();
        assert!(error.to_string().contains("longer than"), "{error}");
    }
}
