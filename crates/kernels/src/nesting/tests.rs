//! Compares levels with the nested values from which they were shredded.

use super::*;

/// A list in a row of `optional group a (LIST) { repeated group list { optional group element (LIST) { repeated group
/// list { optional int32 element }}}}`, with definition levels 0 to 5.
type Inner = Option<Vec<Option<i32>>>;
type Outer = Option<Vec<Inner>>;

const OUTER: ListPlan = ListPlan {
    rep_level: 1,
    list_def: 1,
    element_def: 2,
    parent_element_def: 0,
    nullable: true,
};
const INNER: ListPlan = ListPlan {
    rep_level: 2,
    list_def: 3,
    element_def: 4,
    parent_element_def: 2,
    nullable: true,
};

/// Returns the levels of `rows`, which are shredded as in the Dremel paper.
fn shred(rows: &[Outer]) -> (Vec<u8>, Vec<u8>) {
    let (mut rep, mut def) = (Vec::new(), Vec::new());
    let mut put = |r: u8, d: u8| {
        rep.push(r);
        def.push(d);
    };
    for row in rows {
        match row {
            None => put(0, 0),
            Some(lists) if lists.is_empty() => put(0, 1),
            Some(lists) => {
                for (i, list) in lists.iter().enumerate() {
                    let start = u8::from(i > 0);
                    match list {
                        None => put(start, 2),
                        Some(values) if values.is_empty() => put(start, 3),
                        Some(values) => {
                            for (j, value) in values.iter().enumerate() {
                                put(if j > 0 { 2 } else { start }, 4 + u8::from(value.is_some()));
                            }
                        }
                    }
                }
            }
        }
    }
    (rep, def)
}

fn random(state: &mut u64, range: u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % range
}

/// Returns rows with lists of up to `longest` entries.
fn rows(seed: u64, longest: u64) -> Vec<Outer> {
    let state = &mut (seed + 1);
    let number = if cfg!(miri) { 12 } else { 300 };
    let list = |state: &mut u64| -> Inner {
        (random(state, 5) > 0).then(|| {
            let len = random(state, longest + 1);
            (0..len)
                .map(|i| (random(state, 4) > 0).then_some(i as i32))
                .collect()
        })
    };
    (0..number)
        .map(|_| {
            (random(state, 5) > 0).then(|| {
                let len = random(state, longest + 1);
                (0..len).map(|_| list(state)).collect()
            })
        })
        .collect()
}

fn offsets_of<T>(lists: &[Option<Vec<T>>]) -> Vec<usize> {
    let mut end = 0;
    let ends = lists.iter().map(|list| {
        end += list.as_ref().map_or(0, Vec::len);
        end
    });
    std::iter::once(0).chain(ends).collect()
}

/// Returns, for each level of the lists, whether it continues a list and whether it has an element.
fn levels_of<T>(lists: &[Option<Vec<T>>]) -> Vec<(bool, bool)> {
    let list_slots = |list: &Option<Vec<T>>| match list.as_ref().map_or(0, Vec::len) {
        0 => vec![(false, false)],
        n => (0..n).map(|i| (i > 0, true)).collect(),
    };
    lists.iter().flat_map(list_slots).collect()
}

fn pairs(mut levels: ListLevels) -> Vec<(bool, bool)> {
    let len = levels.len();
    let (goes_on, has_element) = levels.finish();
    assert_eq!((goes_on.len(), levels.len()), (len, 0));
    goes_on.iter().zip(has_element.iter()).collect()
}

fn bits(mut bitmap: Bitmap) -> Vec<bool> {
    bitmap.finish_boolean().iter().collect()
}

/// Decodes both depths and the leaf in blocks of `block` levels.
fn check_blocks<O: OffsetSizeTrait>(rows: &[Outer], block: usize) {
    let (rep, def) = shred(rows);
    let inner: Vec<Inner> = rows.iter().flatten().flatten().cloned().collect();
    let leaves: Vec<Option<i32>> = inner.iter().flatten().flatten().copied().collect();
    let mut offsets = [vec![O::default()], vec![O::default()]];
    let mut counts = [0, 0];
    let mut validity = [Bitmap::new(), Bitmap::new(), Bitmap::new()];
    let mut levels = [ListLevels::default(), ListLevels::default()];
    let mut slots = 0;
    for (rep, def) in rep.chunks(block).zip(def.chunks(block)) {
        for (depth, plan) in [OUTER, INNER].iter().enumerate() {
            let (offsets, validity) = (&mut offsets[depth], &mut validity[depth]);
            assert_eq!(
                list_offsets(plan, rep, def, offsets, &mut counts[depth], validity),
                Ok(())
            );
            list_levels(
                rep,
                def,
                plan.rep_level,
                plan.element_def,
                &mut levels[depth],
            );
        }
        slots += slot_validity(rep, def, 2, 4, 5, &mut validity[2]);
    }
    let as_usize = |offsets: &Vec<O>| offsets.iter().map(|o| o.as_usize()).collect::<Vec<_>>();
    assert_eq!(as_usize(&offsets[0]), offsets_of(rows));
    assert_eq!(as_usize(&offsets[1]), offsets_of(&inner));
    assert_eq!(counts, [inner.len(), leaves.len()]);
    assert_eq!(slots, leaves.len());
    let [outer, deeper] = levels;
    assert_eq!(pairs(outer), levels_of(rows));
    // Rows that have no inner lists also have one level.
    let missing = |row: &Outer| match row {
        Some(lists) if !lists.is_empty() => lists.clone(),
        _ => vec![None],
    };
    let lists: Vec<Inner> = rows.iter().flat_map(missing).collect();
    assert_eq!(pairs(deeper), levels_of(&lists));
    let [first, second, third] = validity;
    assert_eq!(
        bits(first),
        rows.iter().map(Option::is_some).collect::<Vec<_>>()
    );
    assert_eq!(
        bits(second),
        inner.iter().map(Option::is_some).collect::<Vec<_>>()
    );
    assert_eq!(
        bits(third),
        leaves.iter().map(Option::is_some).collect::<Vec<_>>()
    );
}

#[test]
fn scalar_lists_of_lists_in_blocks() {
    for seed in 0..if cfg!(miri) { 1 } else { 6 } {
        for longest in [1, 3, 40] {
            let rows = rows(seed, if cfg!(miri) { 3 } else { longest });
            for block in [1, 7, 63, 64, 65, 128, 1000, usize::MAX] {
                check_blocks::<i32>(&rows, block);
                check_blocks::<i64>(&rows, block);
            }
        }
    }
}

#[test]
fn scalar_row_starts_at_every_stop() {
    let (rep, _) = shred(&rows(3, 5));
    let starts: Vec<usize> = rep
        .iter()
        .enumerate()
        .filter(|(_, rep)| **rep == 0)
        .map(|(at, _)| at)
        .collect();
    for from in [0, 1, 2, 5, 63, 64, 70] {
        let from = from.min(rep.len());
        let later: Vec<usize> = starts
            .iter()
            .filter(|at| **at >= from)
            .map(|at| at - from)
            .collect();
        for max_rows in (0..later.len() + 2).chain([usize::MAX]) {
            let levels = later.get(max_rows).copied().unwrap_or(rep.len() - from);
            assert_eq!(
                row_starts(&rep[from..], max_rows),
                (later.len().min(max_rows), levels)
            );
        }
    }
    assert_eq!(row_starts(&[], 5), (0, 0));
}

#[test]
fn scalar_slots_without_repetition() {
    let def: Vec<u8> = (0..300).map(|i| (i * 7 % 11 % 4) as u8).collect();
    for from in [0, 1, 63, 64, 200] {
        let def = &def[from..];
        for (slot_def, valid_def) in [(0, 1), (0, 3), (1, 2), (2, 3), (0, 0)] {
            let mut validity = Bitmap::new();
            let slots = slot_validity(&[], def, 0, slot_def, valid_def, &mut validity);
            let expected: Vec<bool> = def
                .iter()
                .filter(|def| **def >= slot_def)
                .map(|def| *def >= valid_def)
                .collect();
            assert_eq!(slots, expected.len());
            assert_eq!(bits(validity), expected);
            assert_eq!(
                count_ge(def, valid_def),
                def.iter().filter(|d| **d >= valid_def).count()
            );
            assert_eq!(all_ge(def, valid_def), def.iter().all(|d| *d >= valid_def));
        }
    }
    assert!(all_ge(&[], 3));
    assert!(all_ge(&[255; 100], 255));
}

#[test]
fn scalar_hostile_levels_are_errors() {
    let call = |rep: &[u8], def: &[u8], mut offsets: Vec<i32>, mut count: usize| {
        list_offsets(
            &OUTER,
            rep,
            def,
            &mut offsets,
            &mut count,
            &mut Bitmap::new(),
        )
    };
    assert_eq!(call(&[0, 1], &[2, 2], vec![0], 0), Ok(()));
    // The first level continues a list before the first list begins. The second case continues a list without an
    // element.
    assert_eq!(call(&[1], &[2], vec![0], 0), Err(scalar::STRAY));
    assert_eq!(call(&[0, 1], &[2, 1], vec![0], 0), Err(scalar::STRAY));
    assert_eq!(call(&[1], &[2], vec![0, 7], 7), Ok(()));
    assert!(call(&[0, 1], &[2], vec![0], 0).is_err());
    assert!(call(&[0], &[2], vec![], 0).is_err());
    assert!(call(&[0], &[2], vec![0], 1).is_err());
    let most = i32::MAX as usize;
    assert_eq!(call(&[0], &[2], vec![0, i32::MAX - 1], most - 1), Ok(()));
    assert!(call(&[0], &[2], vec![0, i32::MAX], most).is_err());
}

/// Returns every result that `cpu` computes for some levels, which may be inconsistent.
fn results(cpu: impl Loops, plan: &ListPlan, rep: &[u8], def: &[u8]) -> impl std::fmt::Debug {
    let (mut offsets, mut count) = (vec![0_i32], 0);
    let (mut lists, mut slots, mut flat) = (Bitmap::new(), Bitmap::new(), Bitmap::new());
    let outcome = cpu.list_offsets(plan, (rep, def), &mut offsets, &mut count, &mut lists);
    // The values that were appended before an error are unspecified.
    let listed = outcome.map(|()| (offsets, count, bits(lists)));
    let slot = SlotPlan {
        max_rep: plan.rep_level,
        slot_def: plan.element_def,
        valid_def: plan.element_def + 1,
    };
    cpu.slot_validity(slot, rep, def, &mut slots);
    cpu.slot_validity(slot, &[], def, &mut flat);
    let mut levels = ListLevels::default();
    for block in [13, 100] {
        for (rep, def) in rep.chunks(block).zip(def.chunks(block)) {
            cpu.list_levels((plan.rep_level, plan.element_def), rep, def, &mut levels);
        }
    }
    let rows = [0, 1, 3, 64, 1000].map(|rows| cpu.row_starts(rep, rows));
    let counts = [0, 1, 2, 5, 255].map(|level| cpu.count_ge(def, level));
    (listed, bits(slots), bits(flat), pairs(levels), rows, counts)
}

fn check_against_scalar(cpu: impl Loops) {
    let state = &mut 7;
    for round in 0..if cfg!(miri) { 12 } else { 2000 } {
        let len = random(state, if round % 2 == 0 { 70 } else { 400 }) as usize;
        let deepest = 1 + random(state, 4);
        // Most levels do not start a row, which makes some lists long.
        let mut rep: Vec<u8> = (0..len)
            .map(|_| {
                (1 + random(state, 6))
                    .min(deepest)
                    .saturating_sub(random(state, 3)) as u8
            })
            .collect();
        if let Some(first) = rep.first_mut().filter(|_| round % 4 > 0) {
            *first = 0;
        }
        let levels = if round % 3 == 0 { 6 } else { 3 };
        let def: Vec<u8> = (0..len)
            .map(|_| (6 - random(state, levels)) as u8)
            .collect();
        for plan in [
            OUTER,
            INNER,
            ListPlan {
                rep_level: 255,
                element_def: 200,
                ..OUTER
            },
        ] {
            assert_eq!(
                format!("{:?}", results(cpu, &plan, &rep, &def)),
                format!("{:?}", results(Scalar, &plan, &rep, &def)),
                "{plan:?} {rep:?} {def:?}"
            );
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_gives_what_portable_code_gives() {
    Avx2::detect().into_iter().for_each(check_against_scalar);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx512_gives_what_portable_code_gives() {
    Avx512::detect().into_iter().for_each(check_against_scalar);
}

#[cfg(target_arch = "aarch64")]
#[test]
fn neon_gives_what_portable_code_gives() {
    Neon::detect().into_iter().for_each(check_against_scalar);
}

#[test]
fn scalar_extract_is_the_instruction() {
    let state = &mut 5;
    for _ in 0..if cfg!(miri) { 20 } else { 2000 } {
        let mut word =
            || random(state, 1 << 31) << 33 ^ random(state, 1 << 31) << 11 ^ random(state, 1 << 31);
        let (bits, sparse) = (word(), word());
        for mask in [
            sparse,
            sparse & word() & word(),
            sparse | word() | word(),
            0,
            u64::MAX,
        ] {
            let (mut expected, mut at) = (0, 0);
            for bit in (0..64).filter(|bit| mask >> bit & 1 == 1) {
                expected |= (bits >> bit & 1) << at;
                at += 1;
            }
            assert_eq!(masks::extract(bits, mask), expected);
        }
    }
}
