//! Decodes text in encodings other than UTF-8, on the fly.

use std::io::{self, Read};

use encoding_rs::{Decoder, DecoderResult, Encoding};

/// The buffer size in bytes.
const BUFFER: usize = 64 << 10;

/// A reader that transcodes text to UTF-8.
pub(super) struct Decoded<R> {
    input: R,
    encoding: &'static Encoding,
    decoder: Decoder,
    /// The input buffer. Bytes before `raw_at` are already decoded.
    raw: Vec<u8>,
    raw_at: usize,
    /// True at the end of the input.
    is_last: bool,
    /// True if everything is decoded.
    is_done: bool,
    /// The output buffer. Text before `at` has already been returned.
    text: Vec<u8>,
    at: usize,
}

impl<R: Read> Decoded<R> {
    /// Creates a reader for the text in `input`. A byte order mark takes precedence over
    /// `encoding`.
    pub(super) fn new(input: R, encoding: &'static Encoding) -> Self {
        Self {
            input,
            encoding,
            decoder: encoding.new_decoder(),
            raw: Vec::new(),
            raw_at: 0,
            is_last: false,
            is_done: false,
            text: Vec::new(),
            at: 0,
        }
    }

    /// Decodes more text.
    fn decode(&mut self) -> io::Result<()> {
        if self.raw_at >= self.raw.len() && !self.is_last {
            self.raw.resize(BUFFER, 0);
            self.raw_at = self.raw.len();
            let count = self.input.read(&mut self.raw)?;
            self.raw.truncate(count);
            self.raw_at = 0;
            self.is_last = count == 0;
        }
        let raw = self.raw.get(self.raw_at..).unwrap_or_default();
        self.text.resize(BUFFER, 0);
        let decoder = &mut self.decoder;
        let (result, read, written) =
            decoder.decode_to_utf8_without_replacement(raw, &mut self.text, self.is_last);
        self.text.truncate(written);
        self.at = 0;
        self.raw_at += read;
        match result {
            DecoderResult::InputEmpty => self.is_done = self.is_last,
            DecoderResult::OutputFull => {}
            DecoderResult::Malformed(..) => {
                let name = self.encoding.name();
                let text = format!("text that is not {name}; --csv-encoding sets another encoding");
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.text.len() && !self.is_done {
            self.decode()?;
        }
        let mut text = self.text.get(self.at..).unwrap_or_default();
        let count = text.read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], label: &str) -> io::Result<String> {
        let encoding = Encoding::for_label(label.as_bytes()).unwrap();
        let mut text = String::new();
        Decoded::new(bytes, encoding).read_to_string(&mut text)?;
        Ok(text)
    }

    /// The expected texts are from Python's `bytes.decode`.
    #[test]
    fn texts_become_utf8() {
        for (bytes, label, expected) in [
            (&b"M\xfcller"[..], "latin1", "Müller"),
            (b"5 \x80", "windows-1252", "5 €"),
            (b"\xa4", "iso-8859-15", "€"),
            (b"\xff\xfea\0\xe9\0", "latin1", "aé"),
            (b"a\0\xe9\0", "utf-16le", "aé"),
            (b"\x93\xfa", "shift_jis", "日"),
            (b"", "latin1", ""),
        ] {
            assert_eq!(decoded(bytes, label).unwrap(), expected, "{label}");
        }
        let long = vec![0xe9; 3 * BUFFER + 7];
        assert_eq!(decoded(&long, "latin1").unwrap(), "é".repeat(long.len()));
    }

    #[test]
    fn bytes_without_a_meaning_are_errors() {
        for (bytes, label) in [(&b"\x93"[..], "shift_jis"), (b"a\0b", "utf-16le")] {
            let error = decoded(bytes, label).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{label}");
        }
    }
}
