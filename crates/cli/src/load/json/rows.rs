//! Where the rows of a text begin and end.

/// Finds the ends of objects in a text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Brackets and braces that are open.
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Rows {
    /// Whether the text so far ends within a row.
    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// How many bytes of `text`, which begins with a row or within one, belong to it, if it ends there.
    pub(super) fn end(&mut self, text: &[u8]) -> Option<usize> {
        for (at, byte) in text.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// How many rows end in `text`, where what lies between them is passed over.
    pub(super) fn count(&mut self, mut text: &[u8]) -> usize {
        let mut count = 0;
        while let Some(end) = self.end(text) {
            count += 1;
            text = text.get(end..).unwrap_or_default();
        }
        count
    }
}

/// Bytes of white space at the beginning.
pub(super) fn blank(text: &[u8]) -> usize {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    text.iter().take_while(is_blank).count()
}

/// Line feeds in a text.
pub(super) fn line_ends(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}
