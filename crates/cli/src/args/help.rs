//! The texts at the end of the help pages: examples, and explanations that are too long for an
//! option's line.

/// The text at the end of the program's own help page.
pub(super) const COMMAND: &str = "\
Examples:
  herringbone trips.parquet
  herringbone info trips.parquet
  herringbone stats trips.parquet
  herringbone head -5 trips.parquet
  herringbone cat -c id,fare -w 'fare > 50' --csv trips.parquet > trips.csv
  curl -s https://example.com/trips.parquet | herringbone schema -
  herringbone head s3://bucket/trips.parquet
  herringbone convert trips.csv trips.parquet
  herringbone rewrite trips.parquet small.parquet --compression zstd:9

A directory such as sales/ or a pattern such as 'sales/*/*.parquet' is a table of many files
(see `herringbone help cat`).
With the feature `remote`, a file may be a URL: http, https, s3, gs, az, abfs, abfss, file.
The variables AWS_*, GOOGLE_* and AZURE_* configure stores, HTTP_PROXY web servers.

Topics: `herringbone help where`, columns, types, csv, values, odd-files, keys, exit-codes.";

/// The text at the end of the help page for `info`.
pub(super) const INFO: &str = "\
Columns of geometries have a line with their reference system, edges, box and types.
\"in dictionary\" is the share of data pages with keys of a dictionary. Nulls in lists do not
include empty lists; they are ? if the file does not tell them apart.

Examples:
  herringbone info trips.parquet
  herringbone info part-*.parquet
  herringbone info sales/        # sums over all files";

/// The text at the end of the help page for `schema`.
pub(super) const SCHEMA: &str = "\
Several files must have equal schemas, else the error names the first difference. `herringbone
diff --schemas` prints all differences.

Examples:
  herringbone schema trips.parquet
  herringbone schema --format arrow trips.parquet
  herringbone schema --format json trips.parquet | jq '.fields[].name'";

/// The text at the end of the help page for `diff`.
pub(super) const DIFF: &str = "\
Compares schemas, then sizes and row groups, then the rows, by the columns that both files
have. Arrow layouts of the same values and names of list items are no difference. With --key,
both are sorted by these columns, and rows with equal keys are compared; without it, rows at
the same position. Values of different types are compared exactly: 1 equals 1.0 and 1.00, a
millisecond 1000 microseconds, but 0.1 as FLOAT is not 0.1 as DOUBLE, nor is -0.0 0.0.
JSON lines have an object a difference, of kind schema, storage, changed, only_in_a, only_in_b
and rows; the last one has the numbers. Rows of one file list all columns with their values.

--schemas, and more than two files, compare the schemas alone: the files that share one are
printed together, with their differences from the schema that most files have.

Exit codes: 0 schema and rows are equal, whatever the storage is; 1 they are not.

Examples:
  herringbone diff trips.parquet trips2.parquet
  herringbone diff --key id -n 100 trips.parquet trips2.parquet
  herringbone diff --schemas part-*.parquet
  herringbone diff --key city,day --json a.parquet b.parquet | jq 'select(.kind == \"changed\")'";

/// The text at the end of the help page for `count`.
pub(super) const COUNT: &str = "\
One file or directory: the number alone. Several: a line for each, number, tab and name, then
the total.
With --where or --bbox, only the columns in them are read. See `herringbone help where`.
--use-metadata-file believes the numbers of rows in `_metadata`: files that changed after it was
written are noticed only if rows of theirs are read.

Examples:
  herringbone count trips.parquet
  herringbone count part-*.parquet
  herringbone count --where \"fare > 50 and tip is null\" trips.parquet
  herringbone count --bbox 12.2,41.7,12.8,42.1 places.parquet";

/// The text at the end of the help page for `head`.
pub(super) const HEAD: &str = "\
Reads no more of the file than it needs. See `herringbone help columns`.

Examples:
  herringbone head trips.parquet
  herringbone head -n 3 --columns id,address.city trips.parquet";

/// The text at the end of the help page for `browse`.
pub(super) const BROWSE: &str = "\
Reads the footer, then only the pages whose rows are on the screen. Press ? for the keys, q to
quit. / searches by a condition in the syntax of --where of `cat`. Long reads do not block the
keyboard: Esc cancels them. NO_COLOR turns colours off.

`cargo install --path crates/command` installs a command with this viewer.

Examples:
  herringbone browse trips.parquet";

/// The text at the end of the help page for `tail`.
pub(super) const TAIL: &str = "\
Reads no more of the file than it needs. All options are those of `cat`.

Examples:
  herringbone tail trips.parquet
  herringbone tail -3 -w \"city = 'Rome'\" trips.parquet";

/// The text at the end of the help page for `sample`.
pub(super) const SAMPLE: &str = "\
Rows come in their order, and each one is equally likely. Only pages that hold such a row are
read, of files with page indexes. With -w, the columns of the condition are read first. With
--seed, the rows are the same each time. All options are those of `cat`.

Examples:
  herringbone sample trips.parquet
  herringbone sample -n 1000 --seed 1 --csv part-*.parquet > some.csv";

/// The text at the end of the help page for `show`.
pub(super) const SHOW: &str = "\
A line with rows, columns, size and writer of each file, and a table of the first rows. All
options are those of `cat`; with --json or --csv, the line is left out.

Examples:
  herringbone trips.parquet
  herringbone show trips.parquet -n 3 -c id,fare";

/// The text at the end of the help page for `freq`.
pub(super) const FREQ: &str = "\
Counts the values in all files together, the most frequent first, and then all others in one
line. Nulls are a value. Elements of lists count each. JSON lines have an object a value:
column, value, count and share; the last one has the number of others in place of a value.
--together counts the combinations of several columns: pairs that occur twice, for example.

Examples:
  herringbone freq city trips.parquet
  herringbone freq -c city,addr.zip --top 3 -w \"fare > 50\" part-*.parquet
  herringbone freq city --json trips.parquet | jq -r .value";

/// The text at the end of the help page for `cat`.
pub(super) const CAT: &str = "\
Several files are printed one after the other; they must have the same columns, else the
error names the first difference. What may be null, and Arrow layouts such as
dictionaries, may differ.

A directory, a pattern in quotes such as 'sales/**/*.parquet', and a URL of a store that ends
with / or has a * are one table. Names that begin with . or _ are left out. Directories such as
year=2024 become columns of their files. Conditions on these leave out directories and files
before they are opened. Columns are those of the first file: what another file does not have is
null, and other columns are left out, with a note. --by-name takes the columns of all files.

--by-name finds columns, and fields of structs, by name. Their order may differ, what a file
does not have is null, and a column of nulls without a type takes the type of other files.
--cast reads a column whose types differ as one type that has all values: integers as a wider
integer or a decimal, small integers and floats as a float, decimals as one with the digits of
both, dates as timestamps, units of time as the finer one, text and bytes as bytes. Types
without such a type (64-bit integers and floats) stay an error.

--on-error skip goes on behind a row group whose pages are damaged. --on-error null puts nulls
for a page whose checksum is wrong, or that cannot be decompressed or lacks its dictionary, if
its column may be null itself and is in no list; anything else (a damaged header, text that is
not UTF-8, a column that may not be null) costs the rest of the row group, as with skip. What
is lost is said on standard error, a line each, and the exit code is then 1. --limit and
--offset count rows that are lost as well, unless --where or --bbox chooses rows. Damage to the
footer is always an error.

Variants that were shredded against the rules of the format, as objects with fields
both in columns and beside them, are errors; with --lenient-variants the columns
count, in --where as well.

See also `herringbone help where`, `help columns` and `help values`.

Examples:
  herringbone cat trips.parquet | jq .fare
  herringbone cat --where \"fare > 50 and day >= '2024-01-31'\" trips.parquet
  herringbone cat --where \"variant_get(event, '$.user.age', 'int') >= 18\" events.parquet
  herringbone cat --bbox 12.2,41.7,12.8,42.1 --columns name places.parquet
  herringbone cat --bbox geometry=176,-20,-178,-15 --where \"population > 1000\" places.parquet
  herringbone cat --limit 100 --offset 1000 trips.parquet
  herringbone cat -c id,address.city,'\"odd,name\"' trips.parquet
  herringbone cat -c 'id, price=fare, day:date=at, !tip' --sort-by price trips.parquet
  herringbone cat --format csv part-*.parquet > all.csv
  herringbone cat --format arrow trips.parquet > trips.arrows
  herringbone cat --row-groups 0,2-4 --threads 1 trips.parquet
  herringbone cat --on-error null damaged.parquet";

/// The text at the end of the help page for `rewrite`.
pub(super) const REWRITE: &str = "\
Rows, their order, the Parquet schema and the key-value metadata stay, as do bloom filters (of
the same columns) and sorting columns (of row groups whose rows are still sorted). Key-value
metadata that describe columns (of pandas, Spark and Avro) are adapted to the columns that are
left, or left out. INT96 stays INT96. What cannot stay is noted on standard error. Everything
else is written anew. OUT appears when it is complete: until then it has another name, and an
error or an interrupt removes it.

[COLS=]: without columns a choice is for all of them;
`--compression zstd:3 --compression a,b.c=none` makes an exception of two. The syntax of columns
is that of `cat`; a column stands for all that is in it.

Encodings: plain; rle (booleans); delta_binary_packed (INT32, INT64); delta_length_byte_array
(BYTE_ARRAY); delta_byte_array (BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY); byte_stream_split (numbers
and FIXED_LEN_BYTE_ARRAY); alp (FLOAT, DOUBLE; few readers know it yet).

--on-error skip or null goes on behind damage, as of `cat`: OUT is complete but for what is said
to be lost, and the exit code is 1.

A sample of the values of each column decides between a dictionary and the encodings that
--compatibility allows, by bytes after the codec and the time of reading; --prefer says which of
the two matters more, --explain prints what was tried.

`--compatibility modern` writes data pages version 2 and newer encodings: smaller, but not for
readers from before 2024, nor for Spark before 4.3. `--compatibility newest` adds what few
readers know yet, ALP above all.

-c, -w, -n and the other choices of rows and columns are those of `cat`. Metadata and bloom
filters follow columns that get another name.

--sort-by a,b.c:desc: nulls come last unless the name is followed by `:nulls-first`; equal
rows stay as they were. The file says that it is sorted. Rows beyond --sort-memory wait in
temporary files, without a name and compressed, which are encrypted where OUT is; they take
less room than the rows in memory.

Sizes are bytes, or have a unit: 64KiB, 128MiB, 1GiB.

Examples:
  herringbone rewrite trips.parquet small.parquet --compression zstd:9 --compatibility modern
  herringbone rewrite trips.parquet small.parquet --compatibility modern --prefer size --explain
  herringbone rewrite trips.parquet fares.parquet -c id,fare --row-group-rows 100000
  herringbone rewrite trips.parquet rome.parquet -w \"city = 'Rome'\" -c 'id, price=fare'
  herringbone rewrite a.parquet b.parquet --bloom-filter id --encoding fare=byte_stream_split
  herringbone rewrite --force trips.parquet trips.parquet --compression lz4_raw --dictionary off
  herringbone rewrite trips.parquet sorted.parquet --sort-by city,fare:desc
  curl -s https://example.com/trips.parquet | herringbone rewrite - trips.parquet";

/// The text at the end of the help page for `split`.
pub(super) const SPLIT: &str = "\
The rows of several files follow each other, as with `concat`. The parts keep their order, and
the metadata, as `rewrite` does. The other options are those of `concat`. With --by, the rows
are sorted by the column first, and a file is written for each of its values. Several columns,
as in --by city,year, make a file for each combination of values that occurs, and the path has
a place for each of them. Characters of a value that mean something in paths become %2F and the
like. A null becomes __HIVE_DEFAULT_PARTITION__. If the path names the column too, as in
city={city}, the files do not contain it: readers take it from the path. Folders are created.
Parts get their names once all of them are complete, so a failure leaves none. This is true of
stores such as S3, too; web servers take each part alone.
--json prints a line for each file: file, value, num_rows. The value of several columns is an
object.

Examples:
  herringbone split trips.parquet -o 'part-{}.parquet' --part-rows 1000000
  herringbone split trips.parquet -o 'part-{}.parquet' --part-bytes 128MiB
  herringbone split trips.parquet -o 'out/city={city}/trips.parquet' --by city
  herringbone split trips.parquet -o 'out/city={city}/year={year}/trips.parquet' --by city,year";

/// The text at the end of the help page for `concat`.
pub(super) const CONCAT: &str = "\
Rows come in the order of the files. The files must have the same columns, else the error names
the first difference; what may be null in one may be null in OUT, and Arrow layouts, of which
Parquet says nothing, may differ. What goes beside the rows stays as with `rewrite`, where the
files agree. Row groups are cut anew, so many small files become one with few large row groups.
Of key-value metadata that differ, those of the first file are kept; keys that not all files
have are noted. Files whose days Spark or Hive count in different calendars
(org.apache.spark.legacyDateTime) are refused.

--by-name and --cast are those of `cat`: files whose columns are in another order, are missing,
or have another type become one.

The options and the syntax of columns are those of `rewrite`. --row-groups is of each file.

Examples:
  herringbone concat part-*.parquet -o all.parquet
  herringbone concat -o all.parquet --sort-by time --compression zstd:9 part-*.parquet
  herringbone concat -o all.parquet --by-name --cast 2023.parquet 2024.parquet";

/// The text at the end of the help page for `convert`.
pub(super) const CONVERT: &str = "\
The formats follow from the names of the files: .parquet .parq .pq; .csv; .tsv .tab; .jsonl
.ndjson (JSON lines); .json (an array of objects; JSON lines are read too); .geojson (a
FeatureCollection); .geojsonl .geojsons (a Feature a line); .arrow .ipc .feather (Arrow IPC
files); .arrows (Arrow IPC streams). Text that is compressed with gzip or Zstandard is
unpacked, with .gz or .zst in its name or without. With any other name, and for `-`, the first
bytes of IN decide, and OUT needs --to. OUT appears when it is complete: until then it has
another name, and an error or an interrupt removes it. Several files, a directory or a pattern
are one table: their columns must be the same, unless --by-name finds them by name.

CSV and JSON lines are read as `cat` writes them. Without --schema their types are inferred from
the first rows, so that nothing of these changes; everything may be null. What does not fit
later is an error with its line and column, never a null and never rounded.

--variant v reads a column of JSON lines as VARIANT: values of any types, and numbers with all
digits. --variant v=auto also shreds it into columns that the first rows suggest, and
--variant 'v=Struct(\"a\": Int64)' into these; what fits no column stays beside them. A null is
one of the column, or the variant's own if the column of --schema is `not null`.

JSON may also be an array of objects, on one line or on many. GeoJSON may be a
FeatureCollection, an array of Features, or Features one after the other.

GeoJSON is longitude and latitude; other reference systems, and M, are errors. Properties and
the other members of a Feature are columns, `id_1` being a property `id` next to an `id` of the
Feature; the geometry is `geometry`. Elsewhere, geometries are well-known text: POINT (30 10).
--geoparquet 1.1 writes them for readers that do not know GEOMETRY, 2.0 for those that do.

Parquet output: the options and the syntax of columns are those of `rewrite`; so is --on-error.

See also `herringbone help csv`, `help types`, `help where` and `help columns`.

Examples:
  herringbone convert trips.csv trips.parquet
  herringbone convert trips.parquet trips.jsonl
  herringbone convert trips.parquet - --to arrow-stream | python3 plot.py
  herringbone convert 2024-*.csv 2024.parquet
  herringbone schema --format arrow old.parquet > types.txt
  herringbone convert --schema types.txt trips.csv trips.parquet --compression zstd:9
  herringbone convert --type zip,phone=Utf8 --type 'price=Decimal128(9, 2)' shop.csv out.parquet
  herringbone convert --variant event=auto log.jsonl log.parquet
  herringbone convert --delimiter ';' --no-header --null NULL export.csv trips.parquet
  herringbone convert log.jsonl.gz log.parquet
  herringbone convert --decimal-comma --date-format %d.%m.%Y shop.csv.gz shop.parquet
  herringbone convert lakes.geojsonl lakes.parquet --geoparquet 1.1 --covering";

/// The text at the end of the help page for `meta`.
pub(super) const META: &str = "\
One JSON document a file: on a line of its own, or indented on a terminal. It begins with
\"format_version\": 1; names are those of parquet.thrift, and what the file leaves out is left
out. Enums are the names of the specification, bytes base64, bounds {\"bytes\": …, \"value\": …}
with the value where the type is known. A later version 1 may add names, but none change their
meaning; the README of this command lists them all.

Examples:
  herringbone meta trips.parquet | jq '.row_groups[0].columns[].meta_data.codec'
  herringbone meta --indexes --pretty trips.parquet | less";

/// The text at the end of the help page for `pages`.
pub(super) const PAGES: &str = "\
Reads the headers of pages, not what is in them. JSON lines have an object a page: file,
row_group, column, path, page (counted from 0 in its chunk), offset, header_size, type,
compressed_size, uncompressed_size, crc, num_values, encoding and what else the header says. The
syntax of --columns is that of `cat`.

--bounds reads the footer and the indexes, and no pages. Its objects have file, row_group,
column, path, page (counted from 0 among the data pages of its chunk), first_row (counted from 0
in the row group), offset, compressed_size, num_rows, null_count, nan_count, min and max. What
is not known, or of no use, is left out: pages of nothing but nulls have no bounds, and bounds
of text may be shortened.

Examples:
  herringbone pages trips.parquet
  herringbone pages --columns fare --row-groups 0 trips.parquet
  herringbone pages --bounds -c address.city trips.parquet
  herringbone pages --format jsonl trips.parquet | jq -s 'map(.compressed_size) | add'";

/// The text at the end of the help page for `stats`.
pub(super) const STATS: &str = "\
One line per column: the number of values and nulls, of different values (after ~ an estimate
within about 1 %), the least, the greatest and the mean, and the bytes in the file. The mean
of text is that of its length in bytes. Numbers have a standard deviation (of a sample) and
quantiles; after ~ they are those of 16,384 values at random. A column without nulls whose
values ascend or descend says so. Of a list, elements are counted, not empty lists. JSON lines
have an object a column: file, path, type, num_values, null_count, distinct_count,
is_distinct_exact, min, max, is_exact, mean or mean_bytes, std_dev, p5, median, p95,
are_quantiles_exact, sorted, compressed_size and share; what is not known is left out. --csv
has them for spreadsheets.

--fast reads footers alone; a bound after ~ may be below the least or above the greatest
value.

--by row-group has an object a column chunk, from the footer: file, row_group, column, path,
num_rows, null_count, nan_count, min, max, is_min_exact and is_max_exact. Bounds of an order
that is not known, such that are NaN or the wrong way round, are left out. `meta` prints what
the file says, of use or not.

Examples:
  herringbone stats trips.parquet
  herringbone stats -c fare -w \"city = 'Rome'\" part-*.parquet
  herringbone stats --by row-group --json trips.parquet | jq -s 'map(.null_count) | add'";

/// The text at the end of the help page for `bloom check`.
pub(super) const BLOOM_CHECK: &str = "\
The answer is `no` where no row of the row group has the value, `maybe` where one may, and
`no filter` where the column chunk has none. Of a filter, the header and one block of 32 bytes
are read. JSON lines have an object a row group: file, row_group, column, path and answer. VALUE
is as CSV has it; bytes may be written as in conditions as well, x'00ff'.

Examples:
  herringbone bloom check trips.parquet id 4711
  herringbone bloom check trips.parquet address.city Rome --format jsonl | jq -r .answer";

/// The text at the end of the help page for `report`.
pub(super) const REPORT: &str = "\
One page that needs no network, for screens and print, light and dark, with and without a
mouse. First, findings in sentences, each with a command that helps, by these rules:

  a dictionary was abandoned   2 % of the file or more, and not all data pages use it
  small row groups             more than one, and less than 16 MiB on average
  large row groups             one of more than 1 GiB
  no page index                a column chunk of several pages without one
  no bounds                    a column chunk without bounds, of a type that has an order
  weak codec                   10 % of the data or more without a codec, or with gzip, lzo, lz4
  sorted, but not declared     the bounds of all pages and row groups of a column ascend
  digits as text               all values are digits without leading zeros
  INT96                        a column of this type
  small pages                  more than 100 of a column, and less than 8 KiB on average
  a large footer               5 % of the file or more, and more than 64 KiB
  nothing but nulls            a column without a value

Then bytes by column, a table of columns, a map of pages along the rows, row groups, the
findings of `verify`, the schema and the keys of metadata. All of the file is read for
`verify`. Bounds are values of the file: --no-values leaves them out.

--json prints the findings: file, kind, message and command of each. If several have a command,
the last line has the one that mends all of them together. --fail-on warning ends with 1 if
there is a finding, for scripts.

The page of a directory has its files, sums, and the columns in which files differ:

  small files                  more than one, and less than 16 MiB on average
  different columns            files with other columns or types than most

Examples:
  herringbone report trips.parquet -o report.html
  herringbone report sales sales.html
  herringbone report trips.parquet --json --fail-on warning
  herringbone report trips.parquet -o - --no-values > report.html";

/// The text at the end of the help page for `verify`.
pub(super) const VERIFY: &str = "\
Decodes every page and compares with it what the file says of itself: offsets and lengths, page
headers, checksums, counts, bounds, page indexes, bloom filters, encodings, sorting columns,
values that their annotation does not allow, null keys of maps, digits of decimals, VARIANT
values, boxes and types of geometries, also those of GeoParquet, the Arrow schema. A line for
each finding: file, severity, kind, message, place (counted from 0). Severities:

  error    a reader that believes the file fails, or gets wrong rows
  warning  some readers may fail or get wrong rows, or something could not be checked
  note     not as the specification has it, but no reader gets other rows because of it

What the specification leaves to writers is not a finding. Pages without checksums are noted
on standard error: if valid bytes of their values change, the file still is sound.

JSON lines have an object a finding: file, severity, kind, message and, as far as they are
known, row_group, column, page and offset.

Exit codes: 0 sound, perhaps with notes; 1 errors or warnings; 3 a file is unreadable: its
footer is lost or damaged.

Examples:
  herringbone verify trips.parquet
  herringbone verify --json part-*.parquet | jq -r 'select(.severity == \"error\") | .file' | uniq
  herringbone verify trips.parquet && mv trips.parquet archive/";

/// The text at the end of the help page for `repair`.
pub(super) const REPAIR: &str = "\
Copies the row groups that are sound: those that can be read to their end. What is
lost is said on standard error, a line each. OUT appears when it is complete, and only
if there are rows for it.

If the footer is damaged, cut or lost, what is left of it is used, and after that pages are
looked for in the bytes. The schema is then that of the footer, if it is left, or that of
--schema: best another Parquet file that the same program wrote; or an Arrow file, or a text as
`convert` takes it, which stand for the way in which this program stores their types. The schema
is believed: one that swaps columns of a type swaps their values.

Pages that can be put together or decompressed in several ways are lost, and the line for them
names the option that decides: --input-row-group-rows if neighbouring columns of one type could
be one, or several row groups; --schema with a Parquet file if the codec is not certain.

A footer that can be read is believed. If it is what is wrong, --ignore-footer looks for pages
without it: with its schema, if that is left, or with that of --schema.

Lost for good: the rows of a row group in which any page of any column is damaged; without a
footer also those between the first damage and the last; key-value metadata that went with the
footer; and everything without a schema.

--json prints a line for each loss, of kind lost, and one for the result, of kind repaired.

Exit codes: 0 OUT holds all rows that the file is known to have had; 1 something is
lost; 3 nothing can be had.

Examples:
  herringbone repair damaged.parquet whole.parquet
  herringbone repair no-footer.parquet whole.parquet --schema sibling.parquet
  herringbone repair cut.parquet whole.parquet --schema types.txt --input-row-group-rows 100000";

/// The text at the end of the help page for `encrypt`.
pub(super) const ENCRYPT: &str = "\
Writes the rows of IN to OUT as `rewrite` does, and encrypts it by Parquet Modular Encryption.
Keys never stand on the command line, where others can see them: they come from a keys file,
which --keys or the variable HERRINGBONE_KEYS names. Every command takes it, to read encrypted
files.

`herringbone help keys` says what is in it.

The options of `rewrite` work too (`herringbone help rewrite`), e.g. -c, -w and --sort-by.

All columns are encrypted. Other commands that write Parquet keep the encryption of what
they read: the algorithm, the footer, the keys of columns, the AAD prefix and key metadata.
A file that is not encrypted is refused by all other commands where keys are given:
somebody may have replaced it.

To change keys, without plaintext on a disk: `decrypt` to standard output and
`encrypt` from there.

DuckDB 2.0 reads OUT if a column chunk has no second data page (`--row-group-rows 1024`), no
column is a list, and AES_GCM_V1 is used without column keys, AAD prefix and plaintext footer.

Examples:
  herringbone encrypt trips.parquet -o secret.parquet --keys keys.json
  herringbone cat secret.parquet --keys keys.json
  vault read -field=keys secret/trips | herringbone head secret.parquet --keys -
  HERRINGBONE_KEYS=keys.json herringbone rewrite secret.parquet sorted.parquet --sort-by time
  herringbone decrypt a.parquet -o - --keys old.json |
    herringbone encrypt - -o b.parquet --keys new.json
  herringbone convert trips.csv - --to parquet |
    herringbone encrypt - -o secret.parquet --keys keys.json";

/// The text at the end of the help page for `decrypt`.
pub(super) const DECRYPT: &str = "\
Writes the rows of IN to OUT as `rewrite` does, and encrypts nothing. `herringbone help keys`
says what the keys file is. The options of `rewrite` work too (`herringbone help rewrite`); with
--columns, the keys of those columns are enough.

Examples:
  herringbone decrypt secret.parquet -o trips.parquet --keys keys.json
  herringbone decrypt secret.parquet -o - --columns id,fare --keys keys.json | duckdb …";

/// The text at the end of the help page for `help`.
pub(super) const HELP: &str = "\
Topics: where, columns, types, csv, values, odd-files, keys, exit-codes.

Examples:
  herringbone help convert
  herringbone help where";

/// The text at the end of the help page for `completions`.
pub(super) const COMPLETIONS: &str = "\
Examples:
  herringbone completions bash > ~/.local/share/bash-completion/completions/herringbone
  herringbone completions zsh > ~/.zfunc/_herringbone
  herringbone completions fish > ~/.config/fish/completions/herringbone.fish";

/// The text at the end of the help page for `man`.
pub(super) const MAN: &str = "\
Examples:
  herringbone man > ~/.local/share/man/man1/herringbone.1
  herringbone man convert > ~/.local/share/man/man1/herringbone-convert.1";

/// The text at the end of the help page for `sql`.
pub(super) const SQL: &str = "\
All arguments are those of the program `herringbone-sql`, which is next to this program or on
the path. It is a program of its own, because it is many times as large as this one.

Examples:
  herringbone sql \"select city, count(*) from 'trips.parquet' group by city\"";
