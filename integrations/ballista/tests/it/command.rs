//! Tests the command `herringbone-sql`.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use datafusion::arrow::array::{Int64Array, RecordBatch};
use datafusion::arrow::ipc::reader::StreamReader;

use crate::support::Folder;

/// The command, with some arguments.
pub(crate) struct Sql(Vec<String>);

pub(crate) fn sql(args: &[&str]) -> Sql {
    Sql(args.iter().map(|&arg| arg.to_owned()).collect())
}

impl Sql {
    fn output(&self, sql: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_herringbone-sql"));
        command.args(&self.0).arg(sql).output().unwrap()
    }

    /// Runs statements that must succeed, and returns the output.
    pub(crate) fn run(&self, sql: &str) -> String {
        let output = self.output(sql);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs statements that must fail, and returns the message.
    pub(crate) fn fail(&self, sql: &str) -> String {
        let output = self.output(sql);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn rows_have_the_format_of_the_arguments() {
    let query = "select 1 as a, 'x;y' as b union all select 2, null order by a";
    let table = "+---+-----+\n| a | b   |\n+---+-----+\n| 1 | x;y |\n| 2 |     |\n+---+-----+\n";
    assert_eq!(sql(&[]).run(query), table);
    assert_eq!(sql(&["--format", "csv"]).run(query), "a,b\n1,x;y\n2,\n");
    assert_eq!(
        sql(&["--format", "csv"]).run("select 1 as a where false"),
        "a\n"
    );
    let arrow = sql(&["--format", "arrow"]).output("select 5 as five");
    let batches: Vec<RecordBatch> = StreamReader::try_new(arrow.stdout.as_slice(), None)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let column = batches[0].column_by_name("five").unwrap();
    assert_eq!(
        column
            .as_any()
            .downcast_ref::<Int64Array>()
            .unwrap()
            .values(),
        &[5]
    );
}

#[test]
fn statements_share_a_session() {
    let folder = Folder::new();
    let path = folder.path("numbers.parquet");
    let script = format!(
        "copy (select value as v from generate_series(1, 100)) to '{path}';
         create external table numbers stored as parquet location '{path}';
         select sum(v) as total from numbers where v > 98;"
    );
    assert_eq!(
        sql(&["--format", "csv"]).run(&script),
        "count\n100\ntotal\n199\n"
    );
    let file = folder.path("script.sql");
    std::fs::write(&file, "select 7 as seven").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_herringbone-sql"))
        .args(["--format", "csv", "--repeat", "3", "-f", &file])
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"seven\n7\n");
    let times = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        times
            .lines()
            .filter(|line| line.ends_with(" seconds"))
            .count(),
        3,
        "{times}"
    );

    let explain = format!("explain select v from '{path}' where v > 98");
    assert!(sql(&[]).run(&explain).contains("reader=herringbone"));
    let stock = sql(&["--stock"]).run(&explain);
    assert!(!stock.contains("reader=herringbone"), "{stock}");
    let pruning = sql(&["--set", "herringbone.pushdown=false"]).run(&explain);
    assert!(pruning.contains("pruning_predicate="), "{pruning}");
}

/// The expected values follow from the rows that were written.
#[test]
fn functions_list_the_chunks_and_pages_of_a_file() {
    let folder = Folder::new();
    let path = folder.path("numbers.parquet");
    let csv = sql(&["--format", "csv"]);
    csv.run(&format!(
        "copy (select value as v, 'x' as t from generate_series(1, 100)) to '{path}'"
    ));
    let chunks = format!(
        "select row_group_id, path_in_schema, type, num_values, stats_min_value, stats_max_value, stats_null_count
         from parquet_metadata('{path}') order by column_id"
    );
    assert_eq!(
        csv.run(&chunks).lines().skip(1).collect::<Vec<_>>(),
        ["0,v,INT64,100,1,100,0", "0,t,BYTE_ARRAY,100,x,x,0"]
    );
    let pages = format!(
        "select path_in_schema, count(*) > 0 as has_data from parquet_pages('{path}')
         where page_type like 'DATA_PAGE%' and compressed_size > 0 group by 1 order by 1"
    );
    assert_eq!(csv.run(&pages), "path_in_schema,has_data\nt,true\nv,true\n");
    let message = csv.fail("select * from parquet_pages('/no/such.parquet')");
    assert!(message.contains("/no/such.parquet"), "{message}");
    assert!(
        csv.fail("select * from parquet_metadata(1, 2)")
            .contains("with one path")
    );
}

/// The expected rows are those of the text of the files.
#[test]
fn csv_and_json_files_are_tables() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| {
        let path = folder.path(name);
        std::fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    };
    write("a.csv", "a,b\n1,x\n2,y;z\n3,\n");
    write("semicolons.txt", "a;b\n7;x\n");
    write("parts/k=1/one.csv", "a\n5\n6\n");
    write("parts/k=2/two.csv", "a\n7\n");
    let lines = "{\"a\":1,\"b\":\"x\",\"c\":[10,20]}\n{\"a\":2,\"b\":null,\"c\":[]}\n";
    write("j.json", lines);
    write("j.ndjson", lines);
    write("array.json", "[{\"a\":1},{\"a\":2}]");
    let csv = sql(&["--format", "csv"]);
    let root = folder.path("");
    for (statements, expected) in [
        ("select * from 'FOLDERa.csv'", "a,b\n1,x\n2,y;z\n3,\n"),
        ("select sum(a) as s from 'FOLDERa.csv' where b is not null", "s\n3\n"),
        ("select a, c[1] as c from 'FOLDERj.json'", "a,c\n1,10\n2,\n"),
        (
            "create external table t stored as csv location 'FOLDERa.csv'; select max(b) as b from t",
            "b\ny;z\n",
        ),
        (
            "create external table t stored as csv location 'FOLDERsemicolons.txt'
             options ('format.delimiter' ';', 'format.has_header' 'true'); select b, a from t",
            "b,a\nx,7\n",
        ),
        (
            "create external table t (a int, k int) stored as csv partitioned by (k) location 'FOLDERparts/'
             options ('format.has_header' 'true'); select k, sum(a) as s from t group by k order by k",
            "k,s\n1,11\n2,7\n",
        ),
        (
            "create external table t stored as json location 'FOLDERj.ndjson'; select count(b) as b from t",
            "b\n1\n",
        ),
        (
            "create external table t stored as json location 'FOLDERarray.json'
             options ('format.newline_delimited' 'false'); select sum(a) as a from t",
            "a\n3\n",
        ),
        (
            "copy (select 1 as a, 'x' as b) to 'FOLDERo.csv.gz' stored as csv options ('format.compression' 'gzip');
             select * from 'FOLDERo.csv.gz'",
            "count\n1\na,b\n1,x\n",
        ),
        (
            "copy (select a, b from 'FOLDERa.csv' where a < 3) to 'FOLDERo.parquet';
             select p.b, j.b as j from 'FOLDERo.parquet' p join 'FOLDERj.json' j on p.a = j.a order by p.a",
            "count\n2\nb,j\nx,x\ny;z,\n",
        ),
    ] {
        let statements = statements.replace("FOLDER", &root);
        assert_eq!(csv.run(&statements), expected, "{statements}");
    }
}

#[test]
fn statements_are_read_from_a_pipe_and_memory_has_a_limit() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_herringbone-sql"))
        .args(["--format", "csv"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = command.stdin.take().unwrap();
    input
        .write_all(b"select 1 as a;\nselect 2 as b;\n")
        .unwrap();
    drop(input);
    let output = command.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"a\n1\nb\n2\n");
    let sorted = "set datafusion.runtime.max_temp_directory_size = '0K';
         select value from generate_series(1, 1000000) order by value % 1000, value";
    let message = sql(&["--memory-limit", "1M"]).fail(sorted);
    assert!(
        message.to_lowercase().contains("memory") || message.contains("exhausted"),
        "{message}"
    );
    assert!(
        sql(&["--memory-limit", "much"])
            .fail("select 1")
            .contains("MUCH")
    );
}

/// If rows were collected first, they would fill all memory.
#[test]
fn rows_are_written_as_they_arrive() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_herringbone-sql"))
        .args(["--format", "csv"])
        .arg("select value as v from generate_series(7, 1000000000000)")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(command.stdout.take().unwrap()).lines();
    let first = [lines.next(), lines.next()].map(|line| line.unwrap().unwrap());
    assert_eq!(first, ["v", "7"]);
    drop(lines);
    assert!(command.wait().unwrap().success());
}

#[test]
fn errors_say_what_is_wrong() {
    let message = sql(&["--set", "herringbone.pushdwon=false"]).fail("select 1");
    assert!(message.contains("pushdwon"), "{message}");
    assert!(sql(&["--set", "x"]).fail("select 1").contains("KEY=VALUE"));
    assert!(sql(&[]).fail("select nothing").contains("nothing"));
    assert!(
        sql(&[])
            .fail("select * from '/no/such.parquet'")
            .contains("/no/such.parquet")
    );
    assert!(
        sql(&["-f", "x"])
            .fail("select 1")
            .contains("cannot be used with")
    );
    assert!(
        sql(&["--scheduler", "localhost"])
            .fail("select 1")
            .starts_with("herringbone-sql: ")
    );
}
