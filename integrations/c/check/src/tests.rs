//! Structs with one lie each, next to structs of Arrow's own crate, which are accepted.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "pointers of these tests point to leaked values, and callbacks get the structs that have them"
)]
#![allow(
    clippy::mem_forget,
    reason = "to drop 20,000 levels takes more stack than a test has"
)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringDictionaryBuilder, StringViewBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, Int32Array, NullArray, RecordBatch,
    RecordBatchIterator, RunArray, StringArray, StructArray, UInt8Array, ffi,
};

use super::*;

unsafe extern "C" fn released_schema(schema: *mut ArrowSchema) {
    unsafe { (*schema).release = None };
}

unsafe extern "C" fn released_array(array: *mut ArrowArray) {
    unsafe { (*array).release = None };
}

/// A schema whose parts live as long as the test.
fn schema(format: &CStr, children: Vec<ArrowSchema>) -> ArrowSchema {
    let n_children = i64::try_from(children.len()).unwrap();
    let children: Vec<_> = children
        .into_iter()
        .map(|it| Box::into_raw(Box::new(it)))
        .collect();
    ArrowSchema {
        format: CString::from(format).into_raw().cast_const(),
        name: c"x".as_ptr(),
        metadata: null(),
        flags: 2,
        n_children,
        children: children.leak().as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(released_schema),
        private_data: null_mut(),
    }
}

/// An array of `length` slots whose parts live as long as the test.
fn array(length: i64, buffers: Vec<*const c_void>, children: Vec<ArrowArray>) -> ArrowArray {
    let n_children = i64::try_from(children.len()).unwrap();
    let children: Vec<_> = children
        .into_iter()
        .map(|it| Box::into_raw(Box::new(it)))
        .collect();
    ArrowArray {
        length,
        null_count: 0,
        offset: 0,
        n_buffers: i64::try_from(buffers.len()).unwrap(),
        n_children,
        buffers: buffers.leak().as_mut_ptr(),
        children: children.leak().as_mut_ptr(),
        dictionary: null_mut(),
        release: Some(released_array),
        private_data: null_mut(),
    }
}

fn numbers<T>(numbers: Vec<T>) -> *const c_void {
    numbers.leak().as_ptr().cast()
}

fn type_of(schema: &ArrowSchema) -> Result<Type> {
    unsafe { Type::of_schema(schema) }
}

/// Returns the error for an array, or an empty text.
fn problem(array: &ArrowArray, schema: &ArrowSchema) -> String {
    let of = type_of(schema).unwrap();
    unsafe { check_array(array, &of) }
        .map_or_else(|refused| refused.to_string(), |()| String::new())
}

fn integers(length: i64) -> ArrowArray {
    array(length, vec![null(), numbers(vec![1_i32, 2, 3])], vec![])
}

fn strings(offsets: Vec<i32>) -> ArrowArray {
    let length = i64::try_from(offsets.len()).unwrap() - 1;
    array(
        length,
        vec![null(), numbers(offsets), c"abcdef".as_ptr().cast()],
        vec![],
    )
}

#[test]
fn numbers_of_an_array_are_checked() {
    let kind = schema(c"i", vec![]);
    assert_eq!(problem(&integers(3), &kind), "");
    type Lie = (fn(&mut ArrowArray), &'static str);
    let lies: [Lie; 11] = [
        (|it| it.length = -3, "-3 slots from slot 0"),
        (|it| it.offset = -1, "3 slots from slot -1"),
        (|it| it.offset = i64::MAX, "at most 2^62"),
        (|it| it.null_count = 99, "99 nulls in 3 slots"),
        (|it| it.null_count = -2, "-2 nulls"),
        (|it| it.null_count = 2, "2 nulls, but no bitmap"),
        (|it| it.n_buffers = 1, "1 buffers, but its type has 2"),
        (|it| it.buffers = null_mut(), "array of buffers is missing"),
        (|it| it.n_children = 1, "1 children, but its type has 0"),
        (|it| it.release = None, "released"),
        (
            |it| it.dictionary = Box::into_raw(Box::new(integers(3))),
            "has a dictionary",
        ),
    ];
    for (lie, expected) in lies {
        let mut array = integers(3);
        lie(&mut array);
        let found = problem(&array, &kind);
        assert!(found.contains(expected), "{expected}: {found}");
        assert!(
            found.starts_with("invalid Arrow data from C: column `x`"),
            "{found}"
        );
    }
    let mut uncounted = integers(3);
    uncounted.null_count = -1;
    assert_eq!(problem(&uncounted, &kind), "");
    let missing = array(3, vec![null(), null()], vec![]);
    assert!(problem(&missing, &kind).contains("buffer 1 is missing, which has 12 bytes"));
    assert_eq!(problem(&array(0, vec![null(), null()], vec![]), &kind), "");
}

#[test]
fn offsets_are_checked() {
    let kind = schema(c"u", vec![]);
    assert_eq!(problem(&strings(vec![0, 2, 2, 6]), &kind), "");
    for (offsets, expected) in [
        (vec![0, 2, -6], "the offset -6 follows 2"),
        (vec![0, 5, 2, 6], "the offset 2 follows 5"),
        (vec![-1, 2], "the offset -1 follows 0"),
    ] {
        let found = problem(&strings(offsets), &kind);
        assert!(found.contains(expected), "{expected}: {found}");
    }
    let mut no_bytes = strings(vec![0, 2]);
    no_bytes.buffers = vec![null(), numbers(vec![0, 2_i32]), null()]
        .leak()
        .as_mut_ptr();
    assert!(problem(&no_bytes, &kind).contains("buffer 2 is missing, which has 2 bytes"));
    let list = schema(c"+l", vec![schema(c"i", vec![])]);
    let long = array(1, vec![null(), numbers(vec![0_i32, 4])], vec![integers(3)]);
    assert!(problem(&long, &list).contains("3 slots, but the array above needs 4"));
    // The offsets before the first slot are anything.
    let mut later = strings(vec![9, 5, 6, 6]);
    (later.offset, later.length) = (1, 2);
    assert_eq!(problem(&later, &kind), "");
}

#[test]
fn views_are_checked() {
    let kind = schema(c"vu", vec![]);
    let views = |view: [i32; 4], validity: *const c_void, null_count: i64| {
        let (data, sizes) = (numbers(vec![b'x'; 20]), numbers(vec![20_i64]));
        let mut array = array(
            1,
            vec![validity, numbers(view.to_vec()), data, sizes],
            vec![],
        );
        array.null_count = null_count;
        problem(&array, &kind)
    };
    assert_eq!(views([13, 0, 0, 7], null(), 0), "");
    assert_eq!(views([12, 0, 9, 9], null(), 0), "");
    for view in [
        [13, 0, 7, 0],
        [-5, 0, 0, 0],
        [13, 0, 0, 8],
        [13, 0, 0, -1],
        [13, 0, -1, 0],
    ] {
        assert!(
            views(view, null(), 0).contains("slot 0 is a view of"),
            "{view:?}"
        );
    }
    assert_eq!(views([13, 0, 7, 0], numbers(vec![0_u8]), 1), "");
}

#[test]
fn parents_need_their_children() {
    let kind = schema(c"+s", vec![schema(c"i", vec![])]);
    assert_eq!(
        problem(&array(3, vec![null()], vec![integers(3)]), &kind),
        ""
    );
    let found = problem(&array(4, vec![null()], vec![integers(3)]), &kind);
    assert!(
        found.contains("column `x.x`: it has 3 slots, but the array above needs 4"),
        "{found}"
    );
    let mut missing = array(3, vec![null()], vec![integers(3)]);
    missing.children = vec![null_mut()].leak().as_mut_ptr();
    assert!(problem(&missing, &kind).contains("child 0 is missing"));
    let fixed = schema(c"+w:2", vec![schema(c"i", vec![])]);
    assert_eq!(
        problem(&array(1, vec![null()], vec![integers(3)]), &fixed),
        ""
    );
    assert!(problem(&array(2, vec![null()], vec![integers(3)]), &fixed).contains("needs 4"));
    let views = schema(c"+vl", vec![schema(c"i", vec![])]);
    for (start, length, is_valid) in [(1, 2, true), (2, 2, false), (-1, 1, false), (0, -1, false)] {
        let buffers = vec![null(), numbers(vec![start]), numbers(vec![length])];
        assert_eq!(
            problem(&array(1, buffers, vec![integers(3)]), &views).is_empty(),
            is_valid
        );
    }
}

#[test]
fn keys_run_ends_and_type_ids_are_checked() {
    let mut keyed = schema(c"C", vec![]);
    keyed.dictionary = Box::into_raw(Box::new(schema(c"i", vec![])));
    for (key, is_valid) in [(2, true), (3, false), (255, false)] {
        let mut keys = array(1, vec![null(), numbers(vec![key])], vec![]);
        keys.dictionary = Box::into_raw(Box::new(integers(3)));
        assert_eq!(problem(&keys, &keyed).is_empty(), is_valid, "{key}");
    }
    assert!(problem(&integers(3), &keyed).contains("has a dictionary"));
    let runs = schema(c"+r", vec![schema(c"i", vec![]), schema(c"i", vec![])]);
    for (ends, is_valid) in [
        (vec![1, 2, 5], true),
        (vec![1, 2, 4], false),
        (vec![2, 2, 5], false),
        (vec![0, 2, 5], false),
    ] {
        let ends = array(3, vec![null(), numbers(ends)], vec![]);
        assert_eq!(
            problem(&array(5, vec![], vec![ends, integers(3)]), &runs).is_empty(),
            is_valid
        );
    }
    let few = array(3, vec![null(), numbers(vec![1, 2, 5])], vec![]);
    assert!(problem(&array(5, vec![], vec![few, integers(2)]), &runs).contains("needs 3"));
    let union = schema(c"+ud:5,7", vec![schema(c"i", vec![]), schema(c"i", vec![])]);
    for (id, offset, is_valid) in [(7, 2, true), (6, 2, false), (5, 3, false), (5, -1, false)] {
        let buffers = vec![numbers(vec![id]), numbers(vec![offset])];
        let array = array(1, buffers, vec![integers(3), integers(3)]);
        assert_eq!(
            problem(&array, &union).is_empty(),
            is_valid,
            "{id} {offset}"
        );
    }
}

#[test]
fn schemas_are_checked() {
    let mut deep = schema(c"i", vec![]);
    for _ in 0..20_000 {
        deep = schema(c"+s", vec![deep]);
    }
    assert!(
        type_of(&deep)
            .unwrap_err()
            .to_string()
            .contains("100 levels")
    );
    std::mem::forget(deep);
    type Lie = (fn(&mut ArrowSchema), &'static str);
    let lies: [Lie; 10] = [
        (|it| it.format = null(), "no format"),
        (|it| it.format = c"w:-5".as_ptr(), "the size -5"),
        (|it| it.format = c"?".as_ptr(), "`?` is unknown"),
        (|it| it.format = c"d:99,2".as_ptr(), "unknown"),
        (|it| it.format = c"\xff".as_ptr(), "the format is not UTF-8"),
        (|it| it.name = c"\xff".as_ptr(), "the name is not UTF-8"),
        (|it| it.n_children = -1, "-1 children"),
        (|it| it.n_children = 1, "1 children, but its type has 0"),
        (|it| it.release = None, "released"),
        (
            |it| it.metadata = numbers(vec![i32::MAX]).cast::<c_char>(),
            "2147483647 pairs",
        ),
    ];
    for (lie, expected) in lies {
        let mut schema = schema(c"i", vec![]);
        lie(&mut schema);
        let found = type_of(&schema).unwrap_err().to_string();
        assert!(found.contains(expected), "{expected}: {found}");
    }
    let mut wide = schema(c"+s", vec![]);
    wide.n_children = 1 << 40;
    assert!(type_of(&wide).unwrap_err().to_string().contains("262144"));
    wide.n_children = 1;
    wide.children = null_mut();
    assert!(
        type_of(&wide)
            .unwrap_err()
            .to_string()
            .contains("child 0 is missing")
    );
    let map = schema(c"+m", vec![schema(c"i", vec![])]);
    assert!(
        type_of(&map)
            .unwrap_err()
            .to_string()
            .contains("entries of a map")
    );
    for format in [c"+us:1,1", c"+us:128", c"+w:x"] {
        assert!(type_of(&schema(format, vec![])).is_err());
    }
    let mut long = schema(c"i", vec![]);
    long.metadata = numbers(vec![1, -1]).cast();
    assert!(type_of(&long).unwrap_err().to_string().contains("-1 bytes"));
}

/// A batch of most layouts.
fn batch() -> RecordBatch {
    let mut keys = StringDictionaryBuilder::<Int8Type>::new();
    keys.extend([Some("a"), None, Some("b"), Some("a")]);
    let mut views = StringViewBuilder::new();
    for text in [
        Some("short"),
        None,
        Some("longer than twelve bytes"),
        Some(""),
    ] {
        views.append_option(text);
    }
    let mut lists = ListBuilder::new(arrow_array::builder::Int32Builder::new());
    for list in [
        Some(vec![Some(1), None]),
        None,
        Some(vec![]),
        Some(vec![Some(2)]),
    ] {
        lists.append_option(list);
    }
    let runs: RunArray<Int32Type> = ["a", "a", "b", "b"].into_iter().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "integers",
            Arc::new(Int32Array::from(vec![Some(1), None, Some(3), None])),
        ),
        (
            "bits",
            Arc::new(BooleanArray::from(vec![true, false, true, true])),
        ),
        (
            "text",
            Arc::new(StringArray::from(vec![
                Some("x"),
                None,
                Some(""),
                Some("yz"),
            ])),
        ),
        ("views", Arc::new(views.finish())),
        ("keys", Arc::new(keys.finish())),
        ("lists", Arc::new(lists.finish())),
        ("runs", Arc::new(runs)),
        ("nulls", Arc::new(NullArray::new(4))),
        ("bytes", Arc::new(UInt8Array::from(vec![1, 2, 3, 4]))),
        (
            "fixed",
            Arc::new(
                FixedSizeBinaryArray::try_from_iter([b"ab", b"cd", b"ef", b"gh"].iter()).unwrap(),
            ),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, it)| (name, it, true)))
        .unwrap()
}

#[test]
fn arrays_of_arrow_are_accepted() {
    let batch = batch();
    for batch in [
        batch.clone(),
        batch.slice(1, 3),
        batch.slice(2, 0),
        batch.slice(0, 0),
    ] {
        let array = StructArray::from(batch);
        let (array, schema) = ffi::to_ffi(&array.to_data()).unwrap();
        let schema = unsafe { &*(&raw const schema).cast::<ArrowSchema>() };
        let of = unsafe { Type::of_schema(schema) }.unwrap();
        unsafe { check_array(&*(&raw const array).cast::<ArrowArray>(), &of) }.unwrap();
    }
}

#[test]
fn guarded_streams_have_the_same_batches() {
    let batch = batch();
    let batches = [batch.slice(0, 2), batch.slice(2, 2)];
    let reader = RecordBatchIterator::new(batches.clone().map(Ok), batch.schema());
    let mut stream = FFI_ArrowArrayStream::new(Box::new(reader));
    unsafe { guard_stream(&mut *(&raw mut stream).cast(), Rows::Batches) }.unwrap();
    let reader = arrow_array::ffi_stream::RecordBatchStreamReader::try_new(stream).unwrap();
    let read: Vec<_> = reader.map(std::result::Result::unwrap).collect();
    assert_eq!(read, batches);
}

unsafe extern "C" fn lying_schema(_: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    unsafe { out.write(schema(c"+s", vec![schema(c"i", vec![])])) };
    0
}

unsafe extern "C" fn integer_schema(_: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    unsafe { out.write(schema(c"i", vec![])) };
    0
}

unsafe extern "C" fn lying_next(_: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    unsafe { out.write(array(3, vec![null()], vec![integers(-3)])) };
    0
}

unsafe extern "C" fn null_rows(_: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    let mut array = array(3, vec![numbers(vec![5_u8])], vec![integers(3)]);
    array.null_count = 1;
    unsafe { out.write(array) };
    0
}

unsafe extern "C" fn failing_next(_: *mut ArrowArrayStream, _: *mut ArrowArray) -> c_int {
    5
}

unsafe extern "C" fn own_error(_: *mut ArrowArrayStream) -> *const c_char {
    c"of the producer".as_ptr()
}

unsafe extern "C" fn released_stream(stream: *mut ArrowArrayStream) {
    unsafe { (*stream).release = None };
}

#[test]
fn guarded_streams_have_the_text_of_errors() {
    type Next = unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int;
    let cases: [(Next, c_int, &str); 3] = [
        (lying_next, 22, "-3 slots"),
        (null_rows, 22, "rows are null"),
        (failing_next, 5, "of the producer"),
    ];
    for (get_next, code, text) in cases {
        let mut stream = ArrowArrayStream {
            get_schema: Some(lying_schema),
            get_next: Some(get_next),
            get_last_error: Some(own_error),
            release: Some(released_stream),
            private_data: null_mut(),
        };
        unsafe { guard_stream(&mut stream, Rows::Batches) }.unwrap();
        let mut out = integers(0);
        let out = &raw mut out;
        let found = unsafe { stream.get_next.unwrap()(&raw mut stream, out) };
        assert_eq!(found, code);
        let error = unsafe { CStr::from_ptr(stream.get_last_error.unwrap()(&raw mut stream)) };
        assert!(error.to_str().unwrap().contains(text), "{error:?}");
    }
    let mut silent = ArrowArrayStream::released();
    silent.get_schema = Some(lying_schema);
    silent.get_next = Some(failing_next);
    silent.release = Some(released_stream);
    unsafe { guard_stream(&mut silent, Rows::Batches) }.unwrap();
    let mut out = integers(0);
    let found = unsafe { silent.get_next.unwrap()(&raw mut silent, &raw mut out) };
    assert_eq!(found, 5);
    let error = unsafe { CStr::from_ptr(silent.get_last_error.unwrap()(&raw mut silent)) };
    assert_eq!(error, c"the producer of the stream gave no reason");
    // A schema is checked at once.
    let mut invalid = ArrowArrayStream::released();
    invalid.get_schema = Some(integer_schema);
    invalid.release = Some(released_stream);
    let refused = unsafe { guard_stream(&mut invalid, Rows::Batches) }.unwrap_err();
    assert!(
        refused.to_string().contains("rows are structs"),
        "{refused}"
    );
    assert!(invalid.release.is_none());
    let mut released = ArrowArrayStream::released();
    assert!(unsafe { guard_stream(&mut released, Rows::Batches) }.is_err());
}
