//! Well-known binary in its ISO variant, as far as it takes to see coordinates.

/// Geometries inside of geometries that are followed.
const DEPTH: usize = 32;

/// Why a value shows no coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is no well-known binary.
    Malformed,
    /// A kind of geometry that is not known here, or too many of them inside of each other.
    Unknown,
}

/// A position; NaN where it does not have the coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Position {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) z: f64,
    pub(super) m: f64,
}

/// Shows all positions of a value and returns the code of its type.
pub(super) fn positions(value: &[u8], see: &mut impl FnMut(Position)) -> Result<u32, Fault> {
    let mut wkb = Wkb {
        bytes: value,
        little_endian: true,
    };
    let code = wkb.geometry(DEPTH, see)?;
    match wkb.bytes {
        [] => Ok(code),
        _ => Err(Fault::Malformed),
    }
}

struct Wkb<'a> {
    bytes: &'a [u8],
    little_endian: bool,
}

impl Wkb<'_> {
    fn geometry(&mut self, depth: usize, see: &mut impl FnMut(Position)) -> Result<u32, Fault> {
        if depth == 0 {
            return Err(Fault::Unknown);
        }
        let [order] = self.take()?;
        self.little_endian = match order {
            0 => false,
            1 => true,
            _ => return Err(Fault::Malformed),
        };
        let code = self.number()?;
        let (has_z, has_m) = match code / 1000 {
            0 => (false, false),
            1 => (true, false),
            2 => (false, true),
            3 => (true, true),
            _ => return Err(Fault::Malformed),
        };
        match code % 1000 {
            1 => self.positions(1, has_z, has_m, see)?,
            2 => self.line(has_z, has_m, see)?,
            3 => {
                for _ in 0..self.number()? {
                    self.line(has_z, has_m, see)?;
                }
            }
            4..=7 => {
                for _ in 0..self.number()? {
                    self.geometry(depth - 1, see)?;
                }
            }
            _ => return Err(Fault::Unknown),
        }
        Ok(code)
    }

    fn line(
        &mut self,
        has_z: bool,
        has_m: bool,
        see: &mut impl FnMut(Position),
    ) -> Result<(), Fault> {
        let count = self.number()?;
        self.positions(count, has_z, has_m, see)
    }

    fn positions(
        &mut self,
        count: u32,
        has_z: bool,
        has_m: bool,
        see: &mut impl FnMut(Position),
    ) -> Result<(), Fault> {
        for _ in 0..count {
            see(Position {
                x: self.coordinate()?,
                y: self.coordinate()?,
                z: if has_z { self.coordinate()? } else { f64::NAN },
                m: if has_m { self.coordinate()? } else { f64::NAN },
            });
        }
        Ok(())
    }

    fn coordinate(&mut self) -> Result<f64, Fault> {
        let bytes = self.take()?;
        Ok(match self.little_endian {
            true => f64::from_le_bytes(bytes),
            false => f64::from_be_bytes(bytes),
        })
    }

    fn number(&mut self) -> Result<u32, Fault> {
        let bytes = self.take()?;
        Ok(match self.little_endian {
            true => u32::from_le_bytes(bytes),
            false => u32::from_be_bytes(bytes),
        })
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or(Fault::Malformed)?;
        self.bytes = rest;
        Ok(*taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes in hexadecimal, spaces left out.
    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(|it| *it != b' ').collect();
        let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(byte).collect()
    }

    fn seen(hex: &str) -> Result<(u32, Vec<[f64; 4]>), Fault> {
        let mut seen = Vec::new();
        let code = positions(&bytes(hex), &mut |at| seen.push([at.x, at.y, at.z, at.m]))?;
        Ok((code, seen))
    }

    const ONE: &str = "000000000000f03f";
    const TWO: &str = "0000000000000040";

    #[test]
    fn positions_of_geometries() {
        let (code, point) = seen(&format!("01 01000000 {ONE}{TWO}")).unwrap();
        assert_eq!((code, &point[0][..2]), (1, &[1.0, 2.0][..]));
        assert!(point[0][2].is_nan() && point[0][3].is_nan());
        // Most significant byte first, with Z and M.
        let (code, point) =
            seen("00 00000bb9 3ff0000000000000 4000000000000000 3ff0000000000000 4000000000000000")
                .unwrap();
        assert_eq!((code, point), (3001, vec![[1.0, 2.0, 1.0, 2.0]]));
        let polygon = format!("01 03000000 02000000 01000000 {ONE}{TWO} 01000000 {TWO}{ONE}");
        assert_eq!(seen(&polygon).unwrap().1.len(), 2);
        // A collection of a line and an empty polygon.
        let collection = format!(
            "01 07000000 02000000 01 02000000 02000000 {ONE}{ONE}{TWO}{TWO} 01 03000000 00000000"
        );
        let (code, line) = seen(&collection).unwrap();
        assert_eq!((code, line.len(), line[1][1]), (7, 2, 2.0));
    }

    #[test]
    fn what_is_no_geometry() {
        let nested = format!(
            "{} 01 01000000 {ONE}{TWO}",
            "01 07000000 01000000".repeat(40)
        );
        for (hex, fault) in [
            (String::new(), Fault::Malformed),
            ("02 01000000".into(), Fault::Malformed),
            (format!("01 01000000 {ONE}"), Fault::Malformed),
            (format!("01 01000000 {ONE}{TWO} 00"), Fault::Malformed),
            ("01 02000000 ffffffff".into(), Fault::Malformed),
            ("01 01000020".into(), Fault::Malformed),
            ("01 08000000 00000000".into(), Fault::Unknown),
            (nested, Fault::Unknown),
        ] {
            assert_eq!(seen(&hex), Err(fault), "{hex}");
        }
    }
}
