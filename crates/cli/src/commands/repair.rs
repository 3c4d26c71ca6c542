//! `repair`: what can be had of a damaged file, in a new one.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::slice;

use herringbone::format::KeyValue;
use herringbone::format::footer::MAGIC;
use herringbone::repair::{Lost, RepairOptions, RepairSchema, RepairSource};
use herringbone::schema::ARROW_SCHEMA_KEY;
use herringbone::{ErrorKind, Int96Overflow, Int96Units, Location, ReadOptions};
use herringbone_arrow::array::RecordBatch;

use crate::args::Repair;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::input::{self, Input};
use crate::load::{self, Rows, Work};
use crate::progress::Progress;
use crate::rows::int96_unit;
use crate::save;
use crate::target::Target;

/// Writes the sound row groups.
pub(crate) fn run(context: &Context, request: &Repair) -> Result<()> {
    let destination = &request.destination;
    Target::check(destination)?;
    let inputs = input::all(slice::from_ref(&request.input), &context.limits)?;
    let Some(input) = inputs.first() else {
        return Ok(());
    };
    let mut options = RepairOptions::default();
    options.limits = context.limits.clone();
    options.row_group_rows = request.input_row_group_rows;
    options.ignore_footer = request.ignore_footer;
    if let Some(path) = &request.schema {
        options.schema = Some(schema(context, path)?);
    }
    let mut read = request.decode.options().limits(context.limits.clone());
    let repair = checked(context, input, &options, &read)?;
    let is_whole = repair.source() == RepairSource::Footer && repair.lost().is_empty();
    if repair.sound().is_empty() && !is_whole {
        return Err(Failure::Data(format!(
            "{}: no row group is sound",
            input.name
        )));
    }
    if read.schema.int96_overflow == Int96Overflow::CoarserUnit {
        let mut units = Int96Units::default();
        let sound = read.clone().row_groups(repair.sound().to_vec());
        let added = units.add(repair.file(), &sound);
        added.map_err(|error| input.failure(&error))?;
        read.schema.int96_unit = int96_unit(&units)?;
        read.schema.int96_overflow = Int96Overflow::Error;
    }
    let reader = repair.read(read).map_err(|error| input.failure(&error))?;
    let rows = Rows {
        schema: reader.schema(),
        work: Work::Rows(repair.num_rows()),
        batches: Box::new(reader.map(|batch| -> Result<RecordBatch> {
            batch.map_err(|error| Failure::Data(format!("{}: {error}", input.name)))
        })),
    };
    let mut write = request.write.options(request.decode.threads);
    write.key_value_metadata.extend(key_values(&repair));
    save::parquet(context, destination, write, rows)?;
    context.note(&format!(
        "{}: {} rows in {} row groups",
        input.name,
        repair.num_rows(),
        repair.sound().len()
    ));
    Ok(())
}

/// Finds what is left, and says what is lost.
fn checked(
    context: &Context,
    input: &Input,
    options: &RepairOptions,
    read: &ReadOptions,
) -> Result<herringbone::repair::Repair> {
    let opened = input.repair(options);
    let mut repair = opened.map_err(|error| advised(input, options, &error))?;
    let found = match repair.source() {
        RepairSource::Footer => "the footer is whole",
        RepairSource::Remains => "a part of the footer is left",
        _ => "the footer is lost; row groups are put together from pages",
    };
    context.note(&format!("{}: {found}", input.name));
    let total = repair.num_row_groups() as u64;
    let mut progress = Progress::of_file(!context.quiet, total, "row groups read");
    let checked = repair.check(read, |_| progress.add(1));
    drop(progress);
    checked.map_err(|error| input.failure(&error))?;
    for lost in repair.lost() {
        context.lost(&input.name, &said(lost));
    }
    Ok(repair)
}

/// The failure to find anything, with the option that may help.
fn advised(input: &Input, options: &RepairOptions, error: &herringbone::Error) -> Failure {
    let failure = input.failure(error);
    match failure {
        Failure::Data(message)
            if options.schema.is_none() && error.kind() == ErrorKind::Corrupt =>
        {
            Failure::Data(message + "; here: --schema FILE")
        }
        // Pages that can be put together in several ways are no wrong command line.
        Failure::Usage(message) if options.row_group_rows.is_none() => {
            Failure::Data(message + "; here: --input-row-group-rows N")
        }
        other => other,
    }
}

fn said(lost: &Lost) -> String {
    let rows = lost
        .rows
        .map_or_else(String::new, |rows| format!("{rows} rows: "));
    let place = match &lost.location {
        nowhere if *nowhere == Location::default() => String::new(),
        place => format!(" ({place})"),
    };
    format!("{rows}{}{place}", lost.reason)
}

/// The schema of a Parquet file as it is, or what an Arrow schema would be stored as.
fn schema(context: &Context, path: &Path) -> Result<RepairSchema> {
    let mut magic = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    if read.is_ok() && magic == MAGIC {
        let inputs = input::all(slice::from_ref(&path.to_owned()), &context.limits)?;
        if let Some(sibling) = inputs.first() {
            return Ok(RepairSchema::of_file(&sibling.open()?));
        }
    }
    let schema = load::schema_file(path, &context.limits)?;
    RepairSchema::of_arrow(&schema)
        .map_err(|error| Failure::parquet(&path.display().to_string(), &error))
}

/// The metadata that stays: all but the Arrow schema, of which the writer makes its own.
fn key_values(repair: &herringbone::repair::Repair) -> Vec<KeyValue> {
    let pairs = repair.file().metadata().key_value_metadata().iter();
    pairs
        .filter(|pair| pair.key != ARROW_SCHEMA_KEY)
        .cloned()
        .collect()
}
