use super::*;

fn text(push: impl FnOnce(&mut String)) -> String {
    let mut out = String::new();
    push(&mut out);
    out
}

/// Dates that Python's `datetime.date.toordinal` computed, or numpy if they are after the year 9999.
const DATES: [(i64, &str); 11] = [
    (0, "1970-01-01"),
    (-1, "1969-12-31"),
    (20_194, "2025-04-16"),
    (19_782, "2024-02-29"),
    (11_016, "2000-02-29"),
    (-719_162, "0001-01-01"),
    (-719_528, "0000-01-01"),
    (-719_529, "-0001-12-31"),
    (2_932_897, "+10000-01-01"),
    (i32::MAX as i64, "+5881580-07-11"),
    (i32::MIN as i64, "-5877641-06-23"),
];

#[test]
fn dates() {
    for (days, expected) in DATES {
        assert_eq!(text(|out| push_date(out, days)), expected);
        assert_eq!(parse_date(expected), Some(days));
    }
    for wrong in [
        "",
        "2024",
        "2024-01",
        "2024-13-01",
        "2024-00-10",
        "2023-02-29",
        "1900-02-29",
        "2024-04-31",
        "2024-1-01",
        "24-01-01",
        "2024-01-01x",
        "2024-01-01 ",
        "2024-01-01-01",
        "+2024-01-01",
        "10000-01-01",
        "-00001-01-01",
        "99999999999999999999-01-01",
        "+99999999999999999-01-01",
        "2024-0é-01",
    ] {
        assert_eq!(parse_date(wrong), None, "{wrong}");
    }
}

#[test]
fn every_day_of_eight_hundred_years_reads_back() {
    for days in -292_194..292_194 {
        assert_eq!(parse_date(&text(|out| push_date(out, days))), Some(days));
    }
}

#[test]
fn times() {
    for (value, digits, expected) in [
        (45_296, 0, "12:34:56"),
        (45_296_789, 3, "12:34:56.789"),
        (0, 6, "00:00:00.000000"),
        (86_399_999_999, 6, "23:59:59.999999"),
        (1, 9, "00:00:00.000000001"),
    ] {
        assert_eq!(text(|out| push_time(out, value, digits)), expected);
        let time = parse_time(expected).unwrap();
        assert_eq!(time.ticks(10_u32.pow(digits as u32)), Ok(value));
        assert_eq!(time.digits, digits);
    }
    // Times outside of a day are formatted too.
    assert_eq!(text(|out| push_time(out, -1, 6)), "-00:00:00.000001");
    assert_eq!(text(|out| push_time(out, 360_000, 0)), "100:00:00");
    assert_eq!(
        text(|out| push_time(out, i64::MIN, 9)),
        "-2562047:47:16.854775808"
    );

    assert_eq!(parse_time("12:34").unwrap().ticks(1), Ok(45_240));
    let half = parse_time("00:00:01.5000000000").unwrap();
    assert_eq!(half.ticks(1_000), Ok(1_500));
    assert_eq!(half.ticks(1), Err(NotCounted::MoreDigits));
    for wrong in [
        "24:00:00",
        "23:59:60",
        "1:00:00",
        "12:60",
        "12",
        "12:00:00.",
        "12:00:00.0000000001",
        // Only seconds may have a fraction, not minutes.
        "12:00.5",
        "00:00:00+01:00",
        "00:00:00 ",
    ] {
        assert_eq!(parse_time(wrong), None, "{wrong}");
    }
}

#[test]
fn timestamps_are_written() {
    for (value, digits, offset, expected) in [
        (
            1_704_164_645_123_456,
            6,
            Some(0),
            "2024-01-02T03:04:05.123456Z",
        ),
        (1_704_164_645_123_456, 6, None, "2024-01-02T03:04:05.123456"),
        (-1, 3, Some(0), "1969-12-31T23:59:59.999Z"),
        (0, 0, None, "1970-01-01T00:00:00"),
        (0, 0, Some(7200), "1970-01-01T02:00:00+02:00"),
        (0, 0, Some(-19_800), "1969-12-31T18:30:00-05:30"),
        // The end values match numpy's output.
        (i64::MAX, 9, Some(0), "2262-04-11T23:47:16.854775807Z"),
        (i64::MIN, 9, Some(0), "1677-09-21T00:12:43.145224192Z"),
        (i64::MIN, 6, None, "-290308-12-21T19:59:05.224192"),
        (i64::MAX, 0, None, "+292277026596-12-04T15:30:07"),
        (i64::MIN, 0, None, "-292277022657-01-27T08:29:52"),
    ] {
        let written = text(|out| push_timestamp(out, value, digits, offset));
        assert_eq!(written, expected);
        let read = parse_timestamp(&written).unwrap();
        assert_eq!(
            read.ticks(10_u32.pow(digits as u32)),
            Ok(value),
            "{written}"
        );
        assert_eq!((read.digits, read.offset), (digits, offset));
    }
    // With this offset, the clock exceeds 64 bits of seconds.
    assert_eq!(
        text(|out| push_timestamp(out, i64::MAX, 0, Some(3600))),
        "+292277026596-12-04T16:30:07+01:00"
    );
}

#[test]
fn timestamps_are_read() {
    let ticks = |text: &str, per_second| parse_timestamp(text).map(|it| it.ticks(per_second));
    for (text, per_second, expected) in [
        ("1970-01-01 00:00:01.5", 1_000, Some(Ok(1_500))),
        (
            "1970-01-01T00:00:01.999",
            1,
            Some(Err(NotCounted::MoreDigits)),
        ),
        ("1970-01-01T05:00:00+05:00", 1, Some(Ok(0))),
        ("1970-01-01T00:00-0130", 1, Some(Ok(5_400))),
        ("1970-01-01t00:00:00+01", 1, Some(Ok(-3_600))),
        ("1969-12-31 23:59:59.25-00:30", 1_000, Some(Ok(1_799_250))),
        ("1970-01-01T00:00:00z", 1, Some(Ok(0))),
        (
            "2263-01-01T00:00:00Z",
            1_000_000_000,
            Some(Err(NotCounted::OutOfRange)),
        ),
        ("1970-01-01T24:00:00", 1, None),
        ("1970-01-01T00:00:00.", 1, None),
        ("1970-01-01T00:00.5", 1, None),
        ("1970-01-01T00:00:00+24:00", 1, None),
        ("1970-01-01T00:00:00+1:00", 1, None),
        ("1970-01-01T00:00:00+01:", 1, None),
        ("1970-01-01T00:00:00 UTC", 1, None),
        ("1970-01-01T", 1, None),
        ("1970-01-01", 1, None),
        ("1970-01-01x00:00:00", 1, None),
    ] {
        assert_eq!(ticks(text, per_second), expected, "{text}");
    }
    let moment = parse_timestamp("1969-12-31T23:59:59.25Z").unwrap();
    assert_eq!(moment.utc_nanos(), -750_000_000);
}

#[test]
fn offsets() {
    for (text, seconds) in [
        ("+00:00", Some(0)),
        ("+02:00", Some(7_200)),
        ("-0530", Some(-19_800)),
        ("+14", Some(50_400)),
        ("+23:59", Some(86_340)),
        ("+24:00", None),
        ("+05:3", None),
        ("05:30", None),
        ("UTC", None),
        ("", None),
    ] {
        assert_eq!(parse_offset(text), seconds, "{text}");
    }
}
