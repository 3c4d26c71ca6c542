//! Tests the viewer without a terminal: keys go in, and screens come out.

mod files;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use herringbone::source::{FetchPolicy, Source};
use herringbone::{Limits, OpenOptions, ParquetFile, WriteOptions, Writer};
use herringbone_arrow::array::types::Int32Type;
use herringbone_arrow::array::{ArrayRef, Int32Array, ListArray, RecordBatch, StringArray};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;

use super::draw::{Look, draw};
use super::model::Model;
use super::need::{Answer, Need};
use super::reads::{Reads, Watch};
use crate::input;
use crate::input::context::Context;

/// Writes a file of 1000 rows, in row groups of 500 rows and pages of 100 rows. It has the columns
/// `id`, `city` with nulls, and the lists `tags`.
fn write(folder: &Path) -> PathBuf {
    write_rows(folder, 1000)
}

/// Writes a file of any row count, in two row groups of five pages each.
fn write_rows(folder: &Path, rows: i32) -> PathBuf {
    let count = usize::try_from(rows).unwrap();
    let path = folder.join("rows.parquet");
    let id: ArrayRef = Arc::new(Int32Array::from_iter_values(0..rows));
    let city = (0..count).map(|id| ["Rome", "Oslo", "東京"].get(id % 4).copied());
    let city: ArrayRef = Arc::new(city.collect::<StringArray>());
    let tags = (0..rows).map(|id| (id % 2 == 0).then(|| vec![Some(id), None]));
    let tags: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(tags));
    let columns = [("id", id), ("city", city), ("tags", tags)];
    let columns = columns.map(|(name, array)| (name, array, name != "id"));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut options = WriteOptions::new();
    options.columns.page_rows = Some(count / 10);
    options.row_group_rows = count / 2;
    let file = fs::File::create(&path).unwrap();
    let mut writer = Writer::new(file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    path
}

fn context() -> Context {
    Context::new(true, Limits::default(), None, None)
}

/// Creates a watch that wants every answer and passes progress to a function.
fn watch<'a>(progress: &'a dyn Fn(u64, u64)) -> Watch<'a> {
    Watch {
        is_wanted: &|| true,
        progress,
    }
}

/// The viewer without its worker thread, so that each need is answered at once.
struct Viewer {
    model: Model,
    reads: Reads,
}

impl Viewer {
    fn open(path: &Path, size: (u16, u16)) -> Self {
        let input = input::all(&[path.to_owned()], &context()).unwrap().pop();
        let (reads, mut facts) = Reads::open(vec![input.unwrap()]).unwrap();
        facts.name = "rows.parquet".into();
        facts.size = 1536;
        let model = Model::new(facts, size);
        let mut viewer = Self { model, reads };
        viewer.settle();
        viewer
    }

    /// Answers needs until there are none.
    fn settle(&mut self) {
        for _ in 0..100 {
            let Some(need) = self.model.need() else {
                return;
            };
            let reply = self.reads.answer(&need, &watch(&|_, _| ()));
            self.model.answer(need, reply);
        }
        panic!("the needs have no end: {:?}", self.model.need());
    }

    fn press(&mut self, code: KeyCode) {
        self.model.key(KeyEvent::new(code, KeyModifiers::NONE));
        self.settle();
    }

    /// Types text, pressing Enter for a line end.
    fn type_(&mut self, text: &str) {
        for character in text.chars() {
            self.press(match character {
                '\n' => KeyCode::Enter,
                character => KeyCode::Char(character),
            });
        }
    }

    fn buffer(&self, (width, height): (u16, u16), has_colors: bool) -> Buffer {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        let look = Look {
            has_colors,
            is_waiting: self.model.need().is_some(),
            percent: None,
        };
        let drawn = terminal.draw(|frame| draw(&self.model, look, frame.buffer_mut()));
        drawn.unwrap().buffer.clone()
    }

    /// Returns the screen's lines, without the spaces at their ends.
    fn screen(&self, size: (u16, u16)) -> Vec<String> {
        let buffer = self.buffer(size, true);
        let lines = (0..size.1).map(|y| {
            let mut line = String::new();
            let mut x = 0;
            while x < size.0 {
                let symbol = buffer[(x, y)].symbol();
                line.push_str(symbol);
                x += u16::try_from(super::text::width(symbol).max(1)).unwrap();
            }
            line.trim_end().to_owned()
        });
        lines.collect()
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn rows_fill_the_screen() {
    let folder = folder();
    let mut viewer = Viewer::open(&write(folder.path()), (40, 8));
    assert_eq!(
        viewer.screen((40, 8)),
        [
            "rows.parquet  1000 rows, 3 columns, 1.5…",
            "row  id  city  tags",
            "  0   0  Rome  [0,null]",
            "  1   1  Oslo  null",
            "  2   2  東京  [2,null]",
            "  3   3  null  null",
            "  4   4  Rome  [4,null]",
            "row 0, row group 0; id:…  ? keys, q quit",
        ]
    );
    viewer.model.resize((80, 7));
    viewer.settle();
    viewer.press(KeyCode::End);
    viewer.press(KeyCode::Right);
    assert_eq!(
        viewer.screen((80, 7)),
        [
            "rows.parquet  1000 rows, 3 columns, 1.5 KiB",
            "row   id  city  tags",
            "996  996  Rome  [996,null]",
            "997  997  Oslo  null",
            "998  998  東京  [998,null]",
            "999  999  null  null",
            "row 999, row group 1; city: text                                  ? keys, q quit",
        ]
    );
    viewer.model.resize((200, 4));
    viewer.settle();
    let screen = viewer.screen((200, 4));
    assert_eq!(screen[2], "999  999  null  null");
    let status = format!("{:186}? keys, q quit", "row 999, row group 1; city: text");
    assert_eq!(screen[3], status);
}

#[test]
fn a_narrow_screen_scrolls_to_the_cursor() {
    let folder = folder();
    let mut viewer = Viewer::open(&write(folder.path()), (16, 5));
    assert_eq!(
        viewer.screen((16, 5))[1..4],
        ["row  id  city", "  0   0  Rome", "  1   1  Oslo"]
    );
    viewer.press(KeyCode::Char('$'));
    assert_eq!(
        viewer.screen((16, 5))[1..4],
        ["row  tags", "  0  [0,null]", "  1  null"]
    );
    viewer.press(KeyCode::Left);
    assert_eq!(viewer.screen((16, 5))[1], "row  city");
    viewer.press(KeyCode::Char('^'));
    assert_eq!(viewer.screen((16, 5))[1], "row  id  city");
}

#[test]
fn a_row_is_reached_by_its_number() {
    let folder = folder();
    let size = (60, 6);
    let mut viewer = Viewer::open(&write(folder.path()), size);
    viewer.type_("70");
    assert_eq!(viewer.screen(size)[5], "row: 70");
    viewer.type_("3\n");
    let screen = viewer.screen(size);
    assert_eq!(
        screen[2..5],
        [
            "702  702  東京  [702,null]",
            "703  703  null  null",
            "704  704  Rome  [704,null]"
        ]
    );
    assert!(screen[5].starts_with("row 703, row group 1; id: int32"));
    viewer.type_(":1000\n");
    assert!(viewer.screen(size)[5].starts_with("rows are counted from 0, and there are 1000"));
    viewer.type_(":x\n");
    assert!(viewer.screen(size)[5].starts_with("expected the number of a row, found `x`"));
    assert_eq!(viewer.model.grid.row, 703);
    viewer.type_(":5");
    viewer.press(KeyCode::Esc);
    assert!(viewer.screen(size)[5].starts_with("row 703"));
}

#[test]
fn conditions_find_rows_on_both_sides() {
    let folder = folder();
    let size = (80, 9);
    let mut viewer = Viewer::open(&write(folder.path()), size);
    let mut found = Vec::new();
    viewer.type_("/city is null and id >= 500\n");
    found.push(viewer.model.grid.row);
    viewer.type_("n");
    found.push(viewer.model.grid.row);
    viewer.type_("N");
    found.push(viewer.model.grid.row);
    assert_eq!(found, [503, 507, 503]);
    viewer.type_("N");
    assert_eq!(viewer.model.grid.row, 503);
    let message = viewer.model.message.as_deref();
    assert_eq!(
        message,
        Some("no row before 503 has city is null and id >= 500; n searches after it")
    );
    viewer.press(KeyCode::End);
    viewer.type_("n");
    let message = viewer.model.message.as_deref();
    assert_eq!(
        message,
        Some("no row from 1000 on has city is null and id >= 500; N searches before it")
    );
    // The message is too long for the status line. It is above the rows, because the cursor is in
    // the lower half.
    assert_eq!(viewer.screen(size)[2], message.unwrap());
    viewer.type_("/id >\n");
    assert!(
        viewer
            .model
            .message
            .as_deref()
            .unwrap()
            .contains("ends after `>`")
    );
    viewer.type_("/nothing = 1\n");
    assert!(viewer.model.message.as_deref().unwrap().contains("nothing"));
    viewer.type_("/");
    viewer.press(KeyCode::Up);
    assert_eq!(viewer.screen(size)[8], "where: nothing = 1");
}

#[test]
fn long_reads_show_their_progress() {
    let folder = folder();
    let mut viewer = Viewer::open(&write(folder.path()), (80, 16));
    let mut progress = |need: &Need| {
        let shown = std::cell::RefCell::new(Vec::new());
        let push = |done, all| shown.borrow_mut().push((done, all));
        viewer.reads.answer(need, &watch(&push)).unwrap();
        shown.into_inner()
    };
    let path = vec!["city".to_owned()];
    let frequency = progress(&Need::Frequency { path: path.clone() });
    assert_eq!(frequency.last(), Some(&(1000, 1000)));
    assert!(frequency.is_sorted());
    let stats = progress(&Need::Stats { path, reads: true });
    assert_eq!(stats.last(), Some(&(1000, 1000)));
    let search = |from, is_forward| Need::Match {
        condition: "id < 0".into(),
        from,
        is_forward,
    };
    assert_eq!(progress(&search(600, true)), [(400, 400)]);
    assert_eq!(progress(&search(600, false)), [(600, 600)]);

    viewer
        .model
        .key(KeyEvent::new(KeyCode::Char('f'), KeyModifiers::NONE));
    let screen = |percent| {
        let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 80, 16));
        let look = Look {
            has_colors: false,
            is_waiting: true,
            percent,
        };
        draw(&viewer.model, look, &mut buffer);
        let line = (0..31)
            .map(|x| buffer[(x, 15)].symbol())
            .collect::<String>();
        line.trim_end().to_owned()
    };
    assert_eq!(screen(None), "reading; Esc cancels");
    assert_eq!(screen(Some(42)), "reading, 42 % done; Esc cancels");
}

#[test]
fn pages_about_a_column() {
    let folder = folder();
    let size = (80, 16);
    let mut viewer = Viewer::open(&write(folder.path()), size);
    viewer.press(KeyCode::Right);
    viewer.type_("f");
    assert_eq!(
        viewer.screen(size)[..6],
        [
            "city: most frequent values",
            "count   share  value",
            "  250  25.0 %  Oslo",
            "  250  25.0 %  Rome",
            "  250  25.0 %  東京",
            "  250  25.0 %  null",
        ]
    );
    viewer.press(KeyCode::Esc);
    viewer.type_("s");
    let screen = viewer.screen(size);
    assert_eq!(screen[0], "city: statistics of the footer");
    assert!(screen.contains(&"nulls     250".to_owned()), "{screen:?}");
    assert!(screen.contains(&"distinct  ?".to_owned()), "{screen:?}");
    viewer.type_("r");
    let screen = viewer.screen(size);
    assert_eq!(screen[0], "city: statistics of all values");
    for line in [
        "values    1000",
        "distinct  3",
        "min       Oslo",
        "max       東京",
    ] {
        assert!(screen.contains(&line.to_owned()), "{line}: {screen:?}");
    }
    viewer.press(KeyCode::Esc);
    viewer.type_("p]");
    let screen = viewer.screen(size);
    assert_eq!(screen[0], "city: pages in row group 1");
    let rows: Vec<&String> = screen
        .iter()
        .filter(|screen| screen.contains("  city  "))
        .collect();
    let file = ParquetFile::open(folder.path().join("rows.parquet")).unwrap();
    assert_eq!(rows.len(), file.pages(1, 1).unwrap().count(), "{screen:?}");
    viewer.type_("]");
    assert!(viewer.screen(size)[15].starts_with("there is no other row group"));
}

#[test]
fn a_cell_is_shown_in_full() {
    let folder = folder();
    let size = (40, 8);
    let mut viewer = Viewer::open(&write(folder.path()), size);
    viewer.type_("$\n");
    let expected = ["tags, row 0", "", "[", "  0,", "  null", "]", ""];
    assert_eq!(viewer.screen(size)[..7], expected);
    viewer.press(KeyCode::Esc);
    assert!(viewer.screen(size)[0].starts_with("rows.parquet"));
}

#[test]
fn the_tree_leads_to_columns() {
    let folder = folder();
    let size = (40, 8);
    let mut viewer = Viewer::open(&write(folder.path()), size);
    viewer.press(KeyCode::Right);
    viewer.type_("t");
    let tree = [
        "Schema",
        "",
        "id: int32 not null",
        "city: text",
        "tags: list",
        "  item: int32",
    ];
    assert_eq!(viewer.screen(size)[..6], tree);
    assert_eq!(viewer.model.panel().unwrap().cursor, Some(1));
    viewer.press(KeyCode::End);
    viewer.type_("s");
    assert_eq!(viewer.screen(size)[0], "tags: statistics of the footer");
    viewer.press(KeyCode::Esc);
    viewer.type_("\n");
    assert_eq!(
        (viewer.model.grid.column, viewer.model.panel().is_none()),
        (2, true)
    );
}

#[test]
fn keys_are_explained_and_the_viewer_ends() {
    let folder = folder();
    let mut viewer = Viewer::open(&write(folder.path()), (40, 40));
    viewer.type_("?");
    let screen = viewer.screen((40, 40));
    assert_eq!(screen[2], "q           close a page, or quit");
    // Nothing is cut at 40 columns.
    assert!(!screen.iter().any(|line| line.contains('…')), "{screen:?}");
    // The first `q` only closes the page, as in other viewers.
    viewer.type_("q");
    assert!(!viewer.model.has_ended && viewer.model.panel().is_none());
    viewer.type_("q");
    assert!(viewer.model.has_ended);
    let mut viewer = Viewer::open(&write(folder.path()), (40, 40));
    viewer.type_("/q");
    assert!(!viewer.model.has_ended);
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    viewer.model.key(control_c);
    assert!(viewer.model.has_ended);
}

#[test]
fn escape_cancels_what_is_read() {
    let folder = folder();
    let mut viewer = Viewer::open(&write(folder.path()), (40, 8));
    let press = |model: &mut Model, code| model.key(KeyEvent::new(code, KeyModifiers::NONE));
    // Esc cancels a read of rows.
    press(&mut viewer.model, KeyCode::End);
    let late = viewer.model.need().unwrap();
    assert!(matches!(&late, Need::Rows(window) if window.rows == (995..1000)));
    assert!(viewer.screen((40, 8))[7].starts_with("reading; Esc cancels"));
    press(&mut viewer.model, KeyCode::Esc);
    assert_eq!(viewer.model.need(), None);
    let screen = viewer.screen((40, 8));
    let expected = ["cancelled; r reads these rows again", "996   ·  ·     ·"];
    assert_eq!(screen[2..4], expected);
    press(&mut viewer.model, KeyCode::Char('r'));
    assert_eq!(viewer.model.need(), Some(late));
    // Esc cancels a search.
    for code in ['/', 'i', 'd', '='].map(KeyCode::Char) {
        press(&mut viewer.model, code);
    }
    press(&mut viewer.model, KeyCode::Char('1'));
    press(&mut viewer.model, KeyCode::Enter);
    let search = viewer.model.need().unwrap();
    assert!(matches!(search, Need::Match { .. }));
    press(&mut viewer.model, KeyCode::Esc);
    viewer.model.answer(search, Ok(Answer::Match(Some(1))));
    assert_eq!(viewer.model.grid.row, 999, "a late answer counts no more");
    // Esc closes a page. The answer that arrives later does not open it again.
    press(&mut viewer.model, KeyCode::Char('f'));
    let need = viewer.model.need().unwrap();
    press(&mut viewer.model, KeyCode::Esc);
    viewer.model.answer(need, Err("late".into()));
    assert!(viewer.model.panel().is_none());
}

/// A source that records its reads as byte ranges.
struct Recorded(Bytes, Arc<Mutex<Vec<Range<u64>>>>);

impl Source for Recorded {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, range: Range<u64>) -> herringbone::Result<Bytes> {
        self.1.lock().unwrap().push(range.clone());
        self.0.read(range)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        FetchPolicy::local()
    }
}

#[test]
fn only_the_pages_on_the_screen_are_read() {
    let folder = folder();
    let path = write_rows(folder.path(), 400_000);
    let input = input::all(std::slice::from_ref(&path), &context())
        .unwrap()
        .pop()
        .unwrap();
    let ranges = Arc::new(Mutex::new(Vec::new()));
    let bytes = Bytes::from(fs::read(&path).unwrap());
    let end = bytes.len() as u64;
    let source = Arc::new(Recorded(bytes, ranges.clone()));
    let file = ParquetFile::from_source(source, OpenOptions::new()).unwrap();
    let footer_reads = ranges.lock().unwrap().len();
    let bytes_of_footer: u64 = ranges
        .lock()
        .unwrap()
        .iter()
        .map(|range| range.end - range.start)
        .sum();
    assert!(
        bytes_of_footer < 100_000 && end > 1_500_000,
        "{bytes_of_footer} of {end}"
    );
    let plain = ParquetFile::open(&path).unwrap();
    let (mut reads, facts) = Reads::of(Arc::new(input), file).unwrap();
    assert_eq!((facts.rows(), facts.row_groups()), (400_000, 2));
    assert_eq!(
        ranges.lock().unwrap().len(),
        footer_reads,
        "the schema needs the footer alone"
    );

    // Rows 250640 to 250649 are in the second row group.
    let model = {
        let mut model = Model::new(facts, (80, 13));
        model.grid.jump(250_645);
        model
    };
    let need = model.need().unwrap();
    assert!(matches!(&need, Need::Rows(window) if window.rows == (250_640..250_650)));
    ranges.lock().unwrap().clear();
    let reply = reads.answer(&need, &watch(&|_, _| ()));
    assert!(matches!(reply, Ok(Answer::Rows(columns)) if columns.len() == 3));
    let mut allowed = Vec::new();
    let mut index_start = end;
    for leaf in 0..3 {
        let index = plain.offset_index(1, leaf).unwrap().unwrap();
        // Rows 50640 to 50649 of this row group are in one page.
        let pages = &index.page_locations;
        let page = pages[pages.partition_point(|page| page.first_row_index <= 50_640) - 1];
        assert!(
            pages
                .iter()
                .all(|page| !(50_641..50_650).contains(&page.first_row_index))
        );
        let start = u64::try_from(page.offset).unwrap();
        allowed.push(start..start + u64::try_from(page.compressed_page_size).unwrap());
        let chunk = plain.metadata().column_chunk(1, leaf).unwrap();
        for row_group in 0..2 {
            let chunk = plain.metadata().column_chunk(row_group, leaf).unwrap();
            let starts = [chunk.column_index_offset, chunk.offset_index_offset];
            let first = starts.into_iter().flatten().min().unwrap();
            index_start = index_start.min(u64::try_from(first).unwrap());
        }
        if let Some(offset) = chunk.meta_data.and_then(|data| data.dictionary_page_offset) {
            let first = index.page_locations[0].offset;
            allowed.push(u64::try_from(offset).unwrap()..u64::try_from(first).unwrap());
        }
    }
    let read = ranges.lock().unwrap().clone();
    let data_reads = read.iter().filter(|read| read.start < index_start);
    let size = |range: &Range<u64>| range.end - range.start;
    let (bytes, page_bytes) = (
        data_reads.map(size).sum::<u64>(),
        allowed.iter().map(size).sum(),
    );
    // A read can take more than its page, because there might be a dictionary at the column chunk's
    // start, and because bridging a gap can be cheaper than another request.
    assert!(
        (page_bytes..page_bytes + 1024).contains(&bytes),
        "{bytes}, not {page_bytes}"
    );
}

#[test]
fn damage_is_shown_in_place_of_rows() {
    let folder = folder();
    let path = write(folder.path());
    let mut bytes = fs::read(&path).unwrap();
    let page = {
        let file = ParquetFile::open(&path).unwrap();
        file.offset_index(0, 1).unwrap().unwrap().page_locations[0]
    };
    let last = usize::try_from(page.offset).unwrap()
        + usize::try_from(page.compressed_page_size).unwrap()
        - 1;
    bytes[last] ^= 0xff;
    fs::write(&path, bytes).unwrap();
    let size = (100, 12);
    let mut viewer = Viewer::open(&path, size);
    let screen = viewer.screen(size);
    assert_eq!(
        screen[1..4],
        [
            "row  id  city  tags",
            "  0   0  err…  [0,null]",
            "  1   1  err…  null"
        ]
    );
    let text = screen.concat();
    assert!(text.contains("page checksum is") && text.contains("column city, row group 0, page 1"));
    viewer.type_("200\n");
    assert!(
        viewer
            .screen(size)
            .iter()
            .any(|line| line == "200  200  Rome  [200,null]")
    );
}

#[test]
fn any_bytes_and_any_keys() {
    let folder = folder();
    let path = write(folder.path());
    let whole = fs::read(&path).unwrap();
    // A Lehmer generator gives the same numbers in each run, so that failures are reproducible.
    let mut state = 0x2026_u64;
    let mut next = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    let keys: Vec<char> = "jkgGlh$^tsfp?r[]n N\n7".chars().collect();
    let mut opened = 0;
    for round in 0..60 {
        let mut bytes = whole.clone();
        for _ in 0..round % 5 {
            let at = next(bytes.len());
            bytes[at] = next(256) as u8;
        }
        fs::write(&path, bytes).unwrap();
        let input = input::all(std::slice::from_ref(&path), &context())
            .unwrap()
            .pop();
        let Ok((reads, facts)) = Reads::open(vec![input.unwrap()]) else {
            continue;
        };
        opened += 1;
        let model = Model::new(facts, (80, 24));
        let mut viewer = Viewer { model, reads };
        viewer.settle();
        viewer.type_("/city = 'Oslo' and id > 3\n");
        for _ in 0..15 {
            viewer.type_(&keys[next(keys.len())].to_string());
            if next(4) == 0 {
                viewer.press(KeyCode::Esc);
            }
            let size = (next(90) as u16, next(30) as u16);
            viewer.model.resize(size);
            viewer.settle();
            viewer.buffer(size, true);
        }
    }
    assert!(opened > 20, "{opened}");
}

#[test]
fn without_colors_there_are_none() {
    let folder = folder();
    let mut viewer = Viewer::open(&write(folder.path()), (40, 8));
    viewer.type_("t");
    for (has_colors, expected) in [(false, false), (true, true)] {
        let buffer = viewer.buffer((40, 8), has_colors);
        let cells = buffer.content().iter();
        let is_colored = cells
            .clone()
            .any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        assert_eq!(is_colored, expected);
    }
}
