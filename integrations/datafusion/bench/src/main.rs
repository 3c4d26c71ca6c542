//! Runs queries on Parquet files, which Herringbone and the engine's own reader read in turns.
//!
//! ```text
//! herringbone-datafusion-bench FOLDER (tpch | hits | few-rows | row-group | answers | pools) [--bytes] [--scale N] [--partitions N] [--turns N] [--query N]
//! ```
//!
//! The files are written to the folder once. `few-rows` has queries over `hits` that return few rows. `answers` measures nothing, but
//! compares rows (see `answers.rs`). `pools` finds the smallest memory pools for statements over TPC-H. `--bytes` counts the bytes
//! that queries fetch. Otherwise their times are measured, without planning: it is the same for both readers.

mod answers;
mod bytes;
mod data;
mod pools;
#[path = "../../tests/it/tpch_tables.rs"]
mod tpch_tables;
mod turns;

use std::path::PathBuf;

use turns::{Case, Turns};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The command line.
struct Arguments {
    folder: PathBuf,
    what: String,
    scale: f64,
    turns: Turns,
    query: Option<usize>,
    /// True if bytes are counted instead of measuring times.
    bytes: bool,
}

impl Arguments {
    fn new() -> Option<Self> {
        let mut words = std::env::args().skip(1);
        let mut arguments = Self {
            folder: PathBuf::from(words.next()?),
            what: words.next()?,
            scale: 0.1,
            turns: Turns {
                partitions: 1,
                turns: 5,
            },
            query: None,
            bytes: false,
        };
        while let Some(option) = words.next() {
            if option == "--bytes" {
                arguments.bytes = true;
                continue;
            }
            let value = words.next()?;
            match option.as_str() {
                "--scale" => arguments.scale = value.parse().ok()?,
                "--partitions" => arguments.turns.partitions = value.parse().ok()?,
                "--turns" => arguments.turns.turns = value.parse().ok()?,
                "--query" => arguments.query = Some(value.parse().ok()?),
                _ => return None,
            }
        }
        Some(arguments)
    }

    fn cases(&self) -> Option<(PathBuf, Vec<Case>)> {
        let tpch = || data::tpch(&self.folder, self.scale);
        let case = |(number, sql): (usize, &'static str)| Case {
            name: format!("Q{number}"),
            sql: sql.to_owned(),
        };
        let (folder, cases): (_, Vec<Case>) = match self.what.as_str() {
            "tpch" | "answers" | "pools" => (
                tpch(),
                (1..).zip(tpch_tables::queries()).map(case).collect(),
            ),
            "row-group" => {
                let folder = data::one_row_group(&self.folder, &tpch());
                let numbered = (1..).zip(tpch_tables::queries());
                let picked = numbered.filter(|(number, _)| matches!(number, 1 | 6));
                (folder, picked.map(case).collect())
            }
            "few-rows" => {
                let queries = (1..).zip(bytes::FEW_ROWS);
                (data::hits(&self.folder), queries.map(case).collect())
            }
            "hits" => {
                let queries = include_str!("hits.sql").lines();
                (
                    data::hits(&self.folder),
                    (1..).zip(queries).map(case).collect(),
                )
            }
            _ => return None,
        };
        let cases = (1..).zip(cases);
        let picked = cases.filter(|(number, _)| self.query.is_none_or(|query| query == *number));
        Some((folder, picked.map(|(_, case)| case).collect()))
    }
}

fn main() {
    let arguments = Arguments::new();
    let Some((arguments, (folder, cases))) =
        arguments.and_then(|arguments| arguments.cases().map(|cases| (arguments, cases)))
    else {
        eprintln!(
            "usage: herringbone-datafusion-bench FOLDER (tpch | hits | few-rows | row-group | answers | pools) [--bytes] \
             [--scale N] [--partitions N] [--turns N] [--query N]"
        );
        std::process::exit(2);
    };
    let partitions = arguments.turns.partitions;
    match arguments.what.as_str() {
        "answers" => answers::compare(&arguments.folder, &folder, &cases, partitions),
        "pools" => pools::print(&arguments.folder, &folder, partitions),
        _ if arguments.bytes => bytes::print(&folder, &cases, partitions),
        _ => arguments.turns.run(&folder, &cases),
    }
}
