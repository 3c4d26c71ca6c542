//! The help topics, for anything that concerns more than one command.

/// The topic `where`.
const WHERE: &str = "\
--where takes columns (dots lead into structs; a word of SQL or an odd name is in \"quotes\";
names match in any case if only one does), compared with literals by = <> < <= > >=, [not]
between, [not] in (...), [not] like, [not] ilike, is [not] null, is [not] distinct from, and
combined by and, or, not. Literals: 5, 0.1, 'text', true, NaN, -Infinity, x'00ff' for bytes
(as tables print them; JSON and CSV: base64), and text for dates, timestamps, periods and
UUIDs: '2024-01-31', '2024-01-31T12:00:00+0200', 'PT1.5S',
'00112233-4455-6677-8899-aabbccddeeff'. A comparison with a null is not true, as in SQL; NaN
equals itself and is above all numbers. Elements of a list or map are tested by any(tags) =
'x' and all(tags) <> 'x', or 'x' = any(tags). After like '50!%' escape '!', the % stands for
itself. -w @FILE reads a long condition from a file.

variant_get(column, '$.a.b[0]', 'type') stands for the value at a path of a column of variants:
boolean, int, bigint, double, decimal(p,s), date, timestamp, timestamp_ntz, string, or a type as
in --schema. What the type cannot hold without loss is null, as what is missing. Without a type,
is [not] null asks whether there is a value. Only the shredded columns of the path are read, and
pages passed over by their bounds.

--bbox takes rows whose geometry has a bounding box that touches the one given, borders
included, in the reference system of the column, x (longitude) before y. Nulls and empty
geometries have none; a box that is not known may be anywhere. xmin above xmax goes across the
antimeridian. With --where, both must hold. Statistics, and a column of boxes (a covering of
GeoParquet), pass over row groups and pages.";

/// The topic `columns`.
const COLUMNS: &str = "\
-c takes columns with commas between them, in the order of the output: `id`, or `price=fare` for
another name, `day:date=at` for another type too, `fare:decimal(9,2)` for the type alone. `!tip`
leaves a column out; all columns that are not named then follow the others, as for `*`. Dots
lead into structs, lists and maps: `addr.zip` is a part of the column addr, `zip=addr.zip` a
column of its own. A name that holds one of , . : = ! ( ) \" \\ or a blank is written in
\"quotes\". Types are those of SQL, or of Arrow as `schema --format arrow` prints them. A value
that the type does not hold exactly is an error; but a timestamp becomes its date or its time of
day, and is taken to be in UTC if it has no zone.

Rows go through -w, --sample, -c, --sort-by, --offset and -n, in this order. So conditions have
the names of the file, and --sort-by those of the output. --seed makes a sample the same each
time.";

/// The topic `types`.
const TYPES: &str = "\
Types are those of Arrow, as `schema --format arrow` prints them, also in lower case, or of SQL:

  boolean                                    boolean, bool
  Int8 … Int64, UInt8 … UInt64               tinyint, smallint, int, bigint, int64, …
  Float16, Float32, Float64                  real, float, double
  Decimal128(9, 2), Decimal256(50, 0)        decimal(9,2), numeric(9,2)
  Utf8, LargeUtf8, Binary                    text, varchar, string, bytea, blob
  Date32, Time64(ns), Timestamp(us)          date, time, timestamp
  Timestamp(us, \"UTC\")                     timestamptz
  List(Int64), Struct(\"a\": Int64)          parts of columns

--schema takes the schema of a Parquet or Arrow file, or a text as `schema --format arrow`
prints it: a field a line, those inside of others indented by two more spaces, `not null` and
extension types behind the type. A name with line ends, or that begins with #, a blank or a
quote, is a string of JSON: \"#CHROM\": Utf8. Columns of CSV are found by their names. Bytes are
base64, UUIDs have their usual form, durations and intervals are like \"PT1.5S\" and \"P1M2DT3S\",
maps are objects or lists of [key,value]; in CSV, nested values are JSON. Every text is taken
that says a value of the type exactly: 1.50 is a Decimal128(5, 1), 1.55 is none. Only
fractions become the nearest float. A timestamp has an offset where its type has a time zone,
and only there.";

/// The topic `csv`.
const CSV: &str = "\
Separators other than the comma are found, and noted: if the first line has no comma, but all
lines have as many of `;`, tab or `|`, that is the separator. A first line `sep=;` says it as
well. --delimiter sets another; it is for CSV that is written too, as is --no-header.

  --skip-lines 3                 lines before the CSV
  --comment '#'                  lines that begin with # are ignored
  --null NA                      nulls are NA without quotes
  --decimal-comma                1.234,50 is a number (in quotes too, between commas)
  --thousands                    1,234.50 is a number
  --date-format %d.%m.%Y         31.12.2024 is a date; of several, a column has one
  --csv-encoding latin1          the text is not UTF-8; names are those of browsers
  --type zip,phone=Utf8          types of some columns; --infer-rows 0 makes all of them text
  --type at=timestamp_s          whole numbers are seconds since 1970 (or timestamp_ms)
  --schema FILE                  types of all columns
  --on-error skip                bad rows are left out, or `null`: bad values are null
  --json-path data               the rows are the array of {\"data\": […]} in JSON

gzip and Zstandard are unpacked. All commands that read rows take CSV, JSON, GeoJSON and Arrow,
by their names, by --from, or by their first bytes. Several texts have the types of all values.

In CSV: booleans, Int64, UInt64, Float64 (nan and inf next to numbers too), dates (2024-01-02),
timestamps (2024-01-02T03:04:05.123; instants in UTC if all of them have an offset), else text:
also 007, +1, numbers with more digits than the type holds, columns of several types, and all
that is in quotes, unless the file quotes everything. Names that are there twice get a
number, which a note tells. --infer-rows 0 makes all columns text, --type zip,phone=Utf8 some of
them; --type takes any type of --schema. In JSON lines: integers are Int64, UInt64 or decimals
of up to 76 digits, others Float64, or decimals where that loses digits; values of several types
become text, and a note names them; texts such as 2024-01-02T03:04:05.123Z are dates and
timestamps, if all of a column come back unchanged; arrays of [key,value] of two types are maps.

In CSV, an empty field is null, \"\" is an empty string, or null where the type has no
empty value. With --null NA, nulls are read and written as NA without quotes; strings may
then be empty without quotes too. A blank line is a row if there is one column, and
nothing if there are several.

In CSV that is written, text which would be read as another type is quoted, and so are decimals.";

/// The topic `values`.
const VALUES: &str = "\
JSON lines lose nothing: integers and floats are numbers (shortest form that reads back), NaN
and infinities the strings \"NaN\", \"Infinity\", \"-Infinity\"; decimals are strings, bytes base64,
UUIDs their usual form, geometries well-known text; dates, times and timestamps ISO 8601 (with Z
or an offset when there is a time zone, years beyond 9999 with a sign), durations and intervals
like \"PT1.5S\" and \"P1M2DT3S\"; structs are objects, maps lists of [key,value]. CSV has the same
texts without quotes of JSON, nested values as JSON, an empty field for null and \"\" for an empty
string; text that looks like a number or a date is quoted, and so are decimals. A null that is
alone in its row is a blank line. With --null NA, a null is NA, and a string NA is \"NA\".";

/// The topic `odd-files`.
const ODD_FILES: &str = "\
Commands that read rows take these options for files that bend the rules, and for programs that
need another layout:

  --ignore-annotations LIST   read columns as they are stored, and maps as lists of structs,
                              e.g. if an interval is too long or the key of a map is null
  --no-arrow-schema           take types from the Parquet schema alone, not from the Arrow
                              schema that pyarrow, polars and this command store in the file
  --int96-unit UNIT           s, ms, us or ns for INT96 timestamps; ns covers 1677 to 2262
                              [default: the finest unit that can represent all of them]
  --int96-overflow WHAT       error, null or wrap, for INT96 timestamps that do not fit
  --lenient-variants          accept wrongly shredded VARIANT values; of a field that is stored
                              twice, the shredded copy counts
  --strings LAYOUT            offsets, large-offsets or views: the Arrow layout of strings and
                              bytes, for --format arrow
  --batch-size N              the number of rows that are decoded at a time

--on-error skip or null, --ignore-crc and --max LIMIT=N are for damaged and large files; the
help of each command has them.";

/// The topic `keys`.
const KEYS: &str = "\
The keys file is JSON. All of its members may be absent, and others are errors. Keys are base64,
of 16, 24 or 32 bytes; `head -c 32 /dev/urandom | base64` makes one.

  {
    \"footer_key\": \"MDEyMzQ1Njc4OTAxMjM0NQ==\",
    \"column_keys\": {\"salary,address.street\": \"MTIzNDU2Nzg5MDEyMzQ1MA==\"},
    \"aad_prefix\": \"employees/part0\"
  }

To read and to write:
  footer_key    of the footer, and of all columns that have none of their own
  column_keys   of columns, by path in the syntax of --columns; one that leads to a struct or
                list is for all that is in it
                A column of boxes next to geometries (a covering) is written with the key of the
                geometries; to read it, name both: \"geometry,bbox\"
  aad_prefix    what identifies the file, text or `base64:…`; readers have to supply it unless
                it is stored
To read:
  by_metadata   keys by the metadata that the file has of them, which is text or `base64:…`
  master_keys   master keys by identifier, for files of the key tools of parquet-java and
                pyarrow, with their key material inside or beside them; \"kms\" says how they
                wrap keys: \"local\" as LocalWrapKmsClient does, \"test\" as the KMS in the tests
                of both
  algorithms    what files may be encrypted by [default: [\"AES_GCM_V1\"]]. With
                AES_GCM_CTR_V1, nothing tells whether the bodies of pages were changed
  duckdb        true reads files of DuckDB too, in which nothing ties a page to its place
To encrypt:
  algorithm         AES_GCM_V1 or AES_GCM_CTR_V1 [default: AES_GCM_V1]
  plaintext_footer  true signs the footer and leaves it readable [default: false]
  store_aad_prefix  false has readers supply the prefix [default: true]
  key_metadata      what readers find keys by: {\"footer_key\": …, \"column_keys\": {PATH: …}},
                    each text or `base64:…`; text alone is that of the footer key";

/// The topic `exit-codes`.
const EXIT_CODES: &str = "\
  0    success; a closed pipe too
  1    `verify` found an error or a warning, `diff` a difference, or
       `repair` or --on-error lost something
  2    the command line is wrong, or names a column or row group that the file does not have
  3    the bytes are wrong, beyond a limit or not supported
  4    the system or the network refused: no such file, access denied, disk full, server error
  130  interrupted";

/// The help topics by name.
pub(crate) const TOPICS: &[(&str, &str)] = &[
    ("where", WHERE),
    ("columns", COLUMNS),
    ("types", TYPES),
    ("csv", CSV),
    ("values", VALUES),
    ("odd-files", ODD_FILES),
    ("keys", KEYS),
    ("exit-codes", EXIT_CODES),
];
