//! Tests of copied cells, and of a directory's files.

use super::*;

#[test]
fn a_cell_is_copied_in_full() {
    let folder = folder();
    let size = (40, 8);
    let mut viewer = Viewer::open(&write(folder.path()), size);
    viewer.type_("$y");
    assert_eq!(viewer.model.copied.take().as_deref(), Some("[0,null]"));
    assert!(viewer.screen(size)[7].starts_with("copied 8 characters"));
    // A null is copied as an empty text.
    viewer.type_("jy");
    assert_eq!(viewer.model.copied.take().as_deref(), Some(""));
    // This text is longer than most terminals take.
    let path = folder.path().join("long.parquet");
    let long: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(56_001)]));
    let batch = RecordBatch::try_from_iter([("long", long)]).unwrap();
    let file = fs::File::create(&path).unwrap();
    let mut writer = Writer::new(file, batch.schema(), WriteOptions::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let mut viewer = Viewer::open(&path, (80, 8));
    viewer.type_("y");
    assert_eq!(viewer.model.copied, None);
    assert!(
        viewer
            .screen((80, 8))
            .join("")
            .contains("no room for 56001 bytes")
    );
}

#[test]
fn the_files_of_a_directory_follow_each_other() {
    let folder = folder();
    for (name, rows) in [("a", 10), ("b", 20)] {
        let path = write_rows(folder.path(), rows);
        fs::rename(path, folder.path().join(format!("{name}.parquet"))).unwrap();
    }
    fs::write(folder.path().join("c.parquet"), "no file").unwrap();
    let size = (80, 8);
    let files = [folder.path().to_owned()];
    let inputs = input::each_table(&files, &input::Opening::default(), &context()).unwrap();
    let (reads, facts) = Reads::open(inputs).unwrap();
    let model = Model::new(facts, size);
    let mut viewer = Viewer { model, reads };
    viewer.settle();
    assert!(viewer.screen(size)[0].contains("file 1 of 3, 10 rows"));
    viewer.type_("G>");
    let screen = viewer.screen(size);
    assert!(screen[0].contains("file 2 of 3, 20 rows"), "{}", screen[0]);
    assert!(screen[2].starts_with("  0   0  Rome"), "{}", screen[2]);
    // If a file cannot be opened, the one on the screen stays.
    viewer.type_(">");
    let screen = viewer.screen(size);
    assert!(screen[0].contains("file 2 of 3"), "{}", screen[0]);
    assert!(screen.join(" ").contains("expected Parquet"), "{screen:?}");
    viewer.type_("<<");
    let screen = viewer.screen(size);
    assert!(screen[0].contains("file 1 of 3"), "{}", screen[0]);
    assert!(
        screen[7].starts_with("there is no other file"),
        "{}",
        screen[7]
    );
}
