//! Which parts of the longitudes are known to be taken, for a quick look.

/// Parts of 360 degrees.
const CELLS: usize = 4096;

/// Longitudes in cells of a tenth of a degree or so: those of a cell that is full need not be looked at again.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    /// A bit for each cell, and for what is no longitude.
    full: [u64; 2 * CELLS / 64],
}

impl Default for Cells {
    fn default() -> Self {
        Self {
            full: [0; 2 * CELLS / 64],
        }
    }
}

impl Cells {
    /// All longitudes from `west` to `east` are taken.
    ///
    /// Cells never go down where longitudes go up, whatever is rounded: what lies in one between those of both ends lies
    /// between both ends.
    pub(super) fn fill(&mut self, west: f64, east: f64) {
        let mut at = cell(west) + 1;
        let end = cell(east);
        while at < end {
            let (word, bit) = (at / 64, at % 64);
            let bits = (64 - bit).min(end - at);
            if let Some(full) = self.full.get_mut(word) {
                *full |= (u64::MAX >> (64 - bits)) << bit;
            }
            at += bits;
        }
    }

    /// Whether all longitudes from one to another, which is a little greater or the same, are known to be taken. Both are from
    /// -180 to 180; of NaN it does not matter.
    #[inline]
    pub(super) fn are_full(&self, west: f64, east: f64) -> bool {
        let (west, east) = (cell(west), cell(east));
        east.wrapping_sub(west) <= 1 && self.is_full(west) && self.is_full(east)
    }

    #[inline]
    fn is_full(&self, cell: usize) -> bool {
        let word = self.full.get(cell / 64).copied().unwrap_or_default();
        word >> (cell % 64) & 1 == 1
    }
}

/// From 0 to `CELLS` for longitudes, less than twice as much for anything else.
#[inline]
fn cell(longitude: f64) -> usize {
    /// From here on to twice as much, the last bits of a number count ones.
    const ONES: f64 = (1_u64 << 52) as f64;
    const PER_DEGREE: f64 = CELLS as f64 / 360.0;
    let cell = (longitude + 180.0) * PER_DEGREE + ONES;
    cell.to_bits() as usize % (2 * CELLS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty thousand longitudes and those beside them, the numbers next to borders of cells among them.
    #[test]
    fn full_cells_have_nothing_beyond_the_ends() {
        let longitudes = (0..=20_000).flat_map(|at| {
            let longitude = f64::from(at).mul_add(360.0 / 20_000.0, -180.0);
            let border = (f64::from(at % 4097) / 4096.0).mul_add(360.0, -180.0);
            let near = |it: f64| [it.next_down(), it, it.next_up()];
            near(longitude).into_iter().chain(near(border))
        });
        let longitudes: Vec<_> = longitudes.filter(|it| it.abs() <= 180.0).collect();
        for (west, east) in [(-180.0, 180.0), (-0.3, 12.75), (179.5, 180.0), (7.0, 7.01)] {
            let mut cells = Cells::default();
            cells.fill(west, east);
            let mut full = 0;
            for longitude in &longitudes {
                if cells.are_full(*longitude, *longitude) {
                    assert!((west..=east).contains(longitude), "{longitude}");
                    full += 1;
                }
            }
            // All but those of the cells of both ends.
            let between = longitudes.iter().filter(|it| (west..=east).contains(*it));
            let of_ends = |it: &&f64| (**it - west).min(east - **it) <= 360.0 / CELLS as f64;
            assert!(full >= between.filter(|it| !of_ends(it)).count());
        }
    }
}
